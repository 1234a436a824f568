/** The index values of MGATHER brought inside their extent, as vector instructions on `int32_t`: the printed form of `ir/policy.ts`. */
import { assertNever } from "../../ir/types.js";
import type { IndexRule } from "../../ir/policy.js";

const scalar = (name: string, to: string, from: string, value: string): string =>
  `${name}(${to}, ${from}, (int32_t)${/^-?\d+$|^\(.*\)$/.test(value) ? value : `(${value})`})`;

/** `to = from`, plus n where it is negative; by way of a tile of its own. */
export const wrappedNegative = (n: number, to: string, by: string, from: string): string[] => [
  scalar("TMINS", by, from, "0"),
  scalar("TMAXS", by, by, "-1"),
  scalar("TMULS", by, by, String(-n)),
  `TADD(${to}, ${by === to ? by : from}, ${by === to ? from : by})`,
];

export const clamped = ({ extent }: IndexRule, to: string, from: string): string[] => [
  scalar("TMAXS", to, from, "0"),
  scalar("TMINS", to, to, String(extent - 1)),
];

/** Whether an index may lie outside for this rule, and what is kept of that. */
export function marksOf({ outside }: IndexRule): "none" | "clamped" | "marked" {
  switch (outside) {
    case "promised":
    case "remainder":
      return "none";
    case "nearest":
      return "clamped";
    case "none":
    case "report":
      return "marked";
    default:
      return assertNever(outside);
  }
}
