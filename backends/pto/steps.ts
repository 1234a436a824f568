/** Index values to flat addresses of a data tile, as vector instructions on `int32_t`: the printed form of `ir/policy.ts`. */
import { assertNever } from "../../ir/types.js";
import type { IndexRule } from "../../ir/policy.js";

const scalar = (name: string, to: string, from: string, value: string): string =>
  `${name}(${to}, ${from}, (int32_t)${/^-?\d+$|^\(.*\)$/.test(value) ? value : `(${value})`})`;

/** The index values of `from`, in `to`; those in [-n, -1] count from the end. `to` and `from` differ where that is so. */
export function copied({ fromEnd }: IndexRule, to: string, from: string): string[] {
  if (fromEnd === undefined) return [scalar("TADDS", to, from, "0")];
  return counted(fromEnd, to, to, from);
}

/** `to = from`, plus n where it is negative; by way of a tile of its own. */
export const counted = (n: number, to: string, by: string, from: string): string[] => [
  scalar("TMINS", by, from, "0"),
  scalar("TMAXS", by, by, "-1"),
  scalar("TMULS", by, by, String(-n)),
  `TADD(${to}, ${by === to ? by : from}, ${by === to ? from : by})`,
];

export const clamped = ({ below }: IndexRule, to: string, from: string): string[] => [
  scalar("TMAXS", to, from, "0"),
  scalar("TMINS", to, to, String(below - 1)),
];

/** Where a value of `mark` lies outside, it becomes 1, else 0; `low` becomes the nearest inside. */
export const marked = (rule: IndexRule, low: string, mark: string): string[] => [
  ...clamped(rule, low, mark),
  `TSUB(${mark}, ${mark}, ${low})`,
  scalar("TMINS", mark, mark, "1"),
  scalar("TMAXS", mark, mark, "-1"),
  `TMUL(${mark}, ${mark}, ${mark})`,
];

/** Addresses whose mark is set become `address`. */
export const zeroed = (flat: string, mark: string, by: string, address: string): string[] => [
  scalar("TMULS", by, flat, "-1"),
  scalar("TADDS", by, by, address),
  `TMUL(${by}, ${by}, ${mark})`,
  `TADD(${flat}, ${flat}, ${by})`,
];

export const strided = (flat: string, stride: number): string[] =>
  stride === 1 ? [] : [scalar("TMULS", flat, flat, String(stride))];

export const shifted = (flat: string, by: string): string[] => [scalar("TADDS", flat, flat, by)];

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
