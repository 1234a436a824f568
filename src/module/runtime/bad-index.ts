/** Index values of output elements, looked up to say which of them is out of range. */
import { coordinates } from "../../../backends/memory.js";
import { describeBadIndex, findBadIndex, resolvingIndices, valueIn } from "../../../backends/bad-index.js";
import { GatherError } from "./gather-error.js";
import type { Sized, SizedOperand } from "./host.js";
import type { ModulePlan } from "./plan.js";

/**
 * Function that returns the integer at a position of an index input. `table` is the index of the input among
 * the operands, and `position` the row-major index of the element.
 */
export type ReadIndex = (operand: SizedOperand, table: number, position: number) => Promise<bigint> | bigint;

/**
 * Checks the index values that the points in `range` read. Resolves to an error (TC601) for the first index
 * value that the out-of-range policy rejects; undefined if there is none. `points`: extents of the domain, by
 * default the output shape. `range`: row-major numbers of the first point and of the end (excluded).
 */
export async function badIndexIn(
  { sites, reduced }: ModulePlan,
  { numbers, operands, output }: Sized,
  range: readonly [number, number],
  read: ReadIndex,
  points: readonly number[] = output.type.shape,
): Promise<GatherError | undefined> {
  const functions = { operands, steps: sites, reduced, numbers };
  const bad = await findBadIndex(
    (point) => resolvingIndices(functions, point),
    points,
    range,
    (table, position) => read(operands[table] as SizedOperand, table, position),
  );
  if (!bad) return undefined;
  const { message, data } = describeBadIndex(bad);
  return new GatherError("TC601", message, data);
}

/**
 * Returns an error (TC601) for an output element with an index out of range; the error does not state the
 * index value. `element` is the row-major index of the output element.
 */
export const badElement = ({ output }: Sized, element: number): GatherError => {
  const point = coordinates(element, output.type.shape);
  return new GatherError("TC601", `an index for output element [${point.join(", ")}] is out of range`, {
    point,
  });
};

/**
 * Returns a function that reads index values from the bytes of the inputs on the host. `bytes` has one array
 * for each input.
 */
export const readingBytes =
  (bytes: readonly Uint8Array[]): ReadIndex =>
  (operand, table, position) =>
    valueIn(operand, bytes[table] ?? new Uint8Array(), (position * operand.bits) / 8);
