/**
 * What an access map says, over whole tensors: out[d…] = value of what is read, each index operand resolved by its policy, inner ones first; of a
 * scatter, point by point. The definition of a tile program that was written by hand.
 */
import { isScatter, type AccessMap } from "../../ir/access.js";
import { outputOf, type Operand } from "../../ir/func.js";
import { noElement, outOfRange } from "../../ir/policy.js";
import { pointsOf } from "../region-points.js";
import { drained } from "../long-run.js";
import { mapAddresses } from "../map-addresses.js";
import type { HostInputs } from "../memory.js";
import { elementByElement } from "./element-by-element.js";
import { pointByPoint } from "./point-by-point.js";

/**
 * The output's bytes. `operands`: the inputs by their number in the map, then the output. Throws a RunError (TC601) for the
 * first output element whose index is out of range under `error` and `unchecked`.
 */
export const referenceOfMap = (
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Uint8Array => drained(referenceOfMapSteps(map, operands, inputs));

/** `referenceOfMap`, in steps that yield the elements or points done. */
export function referenceOfMapSteps(
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Generator<number, Uint8Array> {
  const mapped = { map, operands, inputs };
  return (isScatter(map) ? pointByPoint : elementByElement)(mapped, mapAddresses(mapped));
}

/** The output elements that the map leaves to its fill bits. A run that rejects an index has none behind it. */
export function fillsOfMap(map: AccessMap, operands: readonly Operand[], inputs: HostInputs): number {
  const addresses = mapAddresses({ map, operands, inputs });
  let fills = 0;
  for (const out of pointsOf(outputOf({ operands }).type.shape)) {
    const ended = addresses.to(out);
    if (ended === outOfRange) break;
    if (ended === noElement) fills++;
  }
  return fills;
}
