/**
 * Reference semantics of an access map over whole tensors: out[d…] = value of the elements that are read.
 * Each index operand is resolved by its policy, inner operands first. A scatter is evaluated point by point.
 * This defines the meaning of a tile program that was written by hand.
 */
import { isScatter, type AccessMap } from "../../ir/access.js";
import type { Operand } from "../../ir/func.js";
import { fillValue, noElement, outOfRange } from "../../ir/policy.js";
import { pointsOf } from "../region-points.js";
import { drained } from "../long-run.js";
import { mapAddresses } from "../map-addresses.js";
import type { HostInputs } from "../memory.js";
import { elementByElement } from "./element-by-element.js";
import { pointByPoint } from "../point-by-point.js";

/**
 * Returns the output's bytes, computed from an access map over whole tensors. `operands`: the inputs in map
 * order, then the output. Throws a RunError (TC601) for the first rejected index.
 */
export const referenceOfMap = (
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Uint8Array => drained(referenceOfMapSteps(map, operands, inputs));

/**
 * Returns a generator that computes the output of an access map over whole tensors, and returns its bytes.
 * Yields the number of finished output elements; for a scatter, the finished fraction times the number of
 * output elements.
 */
export function referenceOfMapSteps(
  map: AccessMap,
  operands: readonly Operand[],
  inputs: HostInputs,
): Generator<number, Uint8Array> {
  const mapped = { map, operands, inputs };
  return (isScatter(map) ? pointByPoint : elementByElement)(mapped, mapAddresses(mapped));
}

/**
 * Returns the number of output elements (for a scatter, points) that get the fill value because an index
 * selects no element. Counting ends at the first index that the policy rejects.
 */
export function fillsOfMap(map: AccessMap, operands: readonly Operand[], inputs: HostInputs): number {
  const addresses = mapAddresses({ map, operands, inputs });
  let fills = 0;
  const isFill = isScatter(map) ? fillValue : noElement;
  for (const point of pointsOf(map.domain)) {
    const ended = addresses.to(point);
    if (ended === outOfRange) break;
    if (ended === isFill) fills++;
  }
  return fills;
}
