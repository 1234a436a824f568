/** Table of the data movement of a schedule for a kind of indices. */
import { counted, withCommas } from "../../ir/index.js";
import type { Movement } from "../explain/movement.js";
import { table } from "./table.js";

/**
 * Returns the bytes and bursts (contiguous transfers) that a schedule moves for given index values, as text.
 * `like`: value of `--indices-like`, for the heading.
 */
export function renderMovement(name: string, like: string, movement: Movement): string {
  const { picks, distinct, none, bytes, bursts, operands } = movement;
  const lost = none === 0 ? "" : `; ${withCommas(none)} of them are out of range, or name none`;
  return [
    `@${name} with indices like ${like}`,
    `  ${withCommas(picks)} picks of ${counted(distinct, "distinct row")}${lost}`,
    table(
      ["  operand", "bytes", "bursts", "shortest", "longest"],
      Object.entries(operands).map(([key, operand]) => [
        `  ${key}`,
        operand.bytes,
        operand.bursts,
        operand.shortestBurst,
        operand.longestBurst,
      ]),
    ),
    `  total ${withCommas(bytes)} B in ${withCommas(bursts)} bursts`,
  ].join("\n");
}
