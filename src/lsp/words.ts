/** Meaning of the words of a statement, for an editor. */
import type { Combine, Duplicates, OutOfBounds } from "../../ir/access.js";
import { entryOf } from "../../ir/entry-of.js";

/** Policies in a text, where `zero` is called `fill`. */
type Policy = Exclude<OutOfBounds, "zero"> | "fill";

const policies: Readonly<Record<Policy, string>> = {
  error: "an index out of range rejects the run, with the first such point (TC601); nothing is written",
  unchecked: "the caller promises that no index is out of range; the checked executor traps one (TC603)",
  fill: "where the index is out of range, the value is the fill bits",
  skip: "a point whose index is out of range writes nothing",
  clamp: "an index out of range counts as the nearest end",
  wrap: "an index counts modulo the extent",
};

const combinations: Readonly<Record<Combine, string>> = {
  set: "the element becomes the value",
  add: "the value is added to the element, points in order, one rounding a step",
  mul: "the element is multiplied by the value, points in order, one rounding a step",
  min: "the element becomes the smaller of itself and the value",
  max: "the element becomes the larger of itself and the value",
};

const duplicates: Readonly<Record<Duplicates, string>> = {
  last: "of points that write one element, the last in row-major order wins",
  unique: "the caller promises that no two points write one element; the checked executor traps two (TC607)",
  error: "two points that write one element reject the run, with both of them (TC607); nothing is written",
};

/** Words that mean the same wherever they stand. */
const words: Readonly<Record<string, string>> = {
  "access.gather": "each output element is computed from the elements at its coordinates",
  "access.scatter":
    "each point of the stated domain, in row-major order, writes one element; the others are the base's",
  gather: "gathers a tile of the output",
  scatter: "writes the points of a tile, in row-major order",
  let: "names an index value",
  yield: "the value of a point",
  in: "the extent of an index value: 0 to one less are in range",
  but: "an index value in range that names no element",
  oob: "the policy of index values that state none",
  fill: "the bits of elements whose index is out of range",
  paired: "dims that indices and data share",
  combine: "what a point makes of the element that it writes: set, add, mul, min or max",
  duplicates: "what is left where two points write one element: last, unique or error",
  base: "the bits of elements that no point writes, in place of a base among the operands",
  inout: "the operand is written in place: the result is the caller's memory",
};

/**
 * Returns the meaning of the word at `column` of a line; undefined for a word without a meaning, or in a
 * comment. A word after `combine =`, `duplicates =`, `base =` or `oob =` is described as a value of that
 * entry.
 */
export function describeWord(line: string, word: string, column: number): string | undefined {
  const before = line.slice(0, column);
  if (before.includes("//") || before.endsWith("@")) return undefined;
  const key = /(\w+)\s*=\s*$/.exec(before)?.[1];
  const isCall = line.startsWith("(", column + word.length);
  const meaning =
    key === "combine"
      ? entryOf(combinations, word)
      : key === "duplicates"
        ? entryOf(duplicates, word)
        : key === "base"
          ? words["base"]
          : key === "oob" || isCall
            ? entryOf(policies, word)
            : entryOf(words, word);
  return meaning === undefined ? undefined : `${word}: ${meaning}`;
}
