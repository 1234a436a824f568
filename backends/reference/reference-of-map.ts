/**
 * What an access map says, over whole tensors: out[d…] = data[results], each site resolved by its policy, inner ones first. The
 * definition of a tile program that was written by hand.
 */
import type { AccessMap } from "../../ir/access.js";
import type { Operand } from "../../ir/func.js";
import { evaluate, type Env } from "../../ir/linear.js";
import { indexRule, resolveIndex } from "../../ir/policy.js";
import { at, strides } from "../../ir/types.js";
import { drained } from "../long-run.js";
import { indexReader, tensorOf, type HostInputs } from "../memory.js";
import { elementByElement } from "./element-by-element.js";

/**
 * The output's bytes. `operands`: the inputs by their number in the map, then the output. Throws a RunError (TC601) for the
 * first output element whose index is out of range under `error` and `unchecked`.
 */
export const referenceOfMap = (
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Uint8Array => drained(referenceOfMapSteps(map, operands, inputs));

const noLoops: Env = new Map();

/** `referenceOfMap`, in steps that yield the elements done. */
export function referenceOfMapSteps(
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Generator<number, Uint8Array> {
  const looked = map.sites.map((site) => {
    const operand = at(operands, site.value.table);
    const { dtype, shape } = operand.type;
    const read = indexReader(tensorOf(inputs, operand).bytes, dtype);
    return { coords: site.value.at, by: strides(shape), read, rule: indexRule(site, dtype) };
  });
  return elementByElement({ map, operands, inputs }, (dims) => {
    const sites: number[] = [];
    for (const { coords, by, read, rule } of looked) {
      const position = coords.reduce(
        (sum, coord, k) => sum + evaluate(coord, noLoops, { dims, sites }) * at(by, k),
        0,
      );
      const element = resolveIndex(rule, read(position), () => read.exact(position));
      // The first site without an element ends the element.
      if (element < 0) return [element];
      sites.push(element);
    }
    return map.results.map((result) => evaluate(result, noLoops, { dims, sites }));
  });
}
