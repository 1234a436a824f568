/** What a schedule moves for indices of a kind, as a table. */
import { counted } from "../../ir/index.js";
import type { Moved } from "../explain/moved-by.js";
import { table } from "./table.js";

const number = (value: number): string => value.toLocaleString("en");

/** `like`: the kind of indices, in the user's words. */
export function renderMoved(name: string, like: string, moved: Moved): string {
  const { picks, distinct, none, bytes, bursts, operands } = moved;
  const lost = none === 0 ? "" : `; ${number(none)} of them are out of range, or name none`;
  return [
    `@${name} with indices like ${like}`,
    `  ${number(picks)} picks of ${counted(distinct, "distinct row")}${lost}`,
    table(
      ["  operand", "bytes", "bursts", "shortest", "longest"],
      Object.entries(operands).map(([key, own]) => [
        `  ${key}`,
        own.bytes,
        own.bursts,
        own.shortestBurst,
        own.longestBurst,
      ]),
    ),
    `  total ${number(bytes)} B in ${number(bursts)} bursts`,
  ].join("\n");
}
