/** Gathers that are no common operator, by their maps. */
import { gatherOver, type MapBody } from "../access.js";
import { canonicalMap } from "../canonical-map.js";
import type { Operator } from "../operator.js";
import type { Shape } from "../types.js";

/**
 * Returns the operator of a gather with the map `body`, in its one form: the reference then names the same
 * index as the compiled program. `inputs`: shapes of the inputs, data first.
 */
export const mappedGather = (
  inputs: readonly Shape[],
  output: Shape,
  body: MapBody,
): Extract<Operator, { readonly op: "mapped" }> => ({
  op: "mapped",
  map: canonicalMap(gatherOver(output, inputs.length, body)),
  inputs,
});
