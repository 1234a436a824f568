/**
 * The index values of MGATHER brought inside their extent, as vector instructions on `int32_t`: the printed
 * form of `ir/policy.ts`.
 */
import type { IndexRule } from "../../ir/policy.js";

const scalar = (name: string, to: string, from: string, value: string): string =>
  `${name}(${to}, ${from}, (int32_t)${/^-?\d+$|^\(.*\)$/.test(value) ? value : `(${value})`})`;

/**
 * Returns the instructions that copy numbers from tile `from` to tile `to` and add `n` to negative numbers.
 * `by`: tile for intermediate values.
 */
export const wrappedNegative = (n: number, to: string, by: string, from: string): string[] => [
  scalar("TMINS", by, from, "0"),
  scalar("TMAXS", by, by, "-1"),
  scalar("TMULS", by, by, String(-n)),
  `TADD(${to}, ${by === to ? by : from}, ${by === to ? from : by})`,
];

/**
 * Returns the instructions that clamp the index values in tile `from` to the range from 0 to the extent less
 * 1. The results are in tile `to`.
 */
export const clamped = ({ extent }: IndexRule, to: string, from: string): string[] => [
  scalar("TMAXS", to, from, "0"),
  scalar("TMINS", to, to, String(extent - 1)),
];
