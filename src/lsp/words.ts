/** Meaning of the words of a statement, for an editor. */
import type { Combine, Duplicates, OutOfBounds } from "../../ir/access.js";
import { entryOf } from "../../ir/entry-of.js";

/** Policies in a text, where `fill` is another word for `zero`. */
type Policy = OutOfBounds | "fill";

const filled = "where the index is out of range, the value is the fill bits";

const policies: Readonly<Record<Policy, string>> = {
  error: "an index out of range rejects the run, with the first such point (TC601); nothing is written",
  unchecked: "the caller promises that no index is out of range; the checked executor traps one (TC603)",
  fill: filled,
  zero: filled,
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

const baseOfBits = "the bits of elements that no point writes, in place of a base among the operands";

/**
 * Patterns of the places where a word of the language stands, and no name of the user's. A pattern is of a
 * line with `~` in the place of the word, and without what is in brackets before it.
 */
const positions = {
  operator: /=\s*~/,
  statement: /^\s*~\s+%/,
  entry: /(^|[{,])\s*~\s*=/,
  type: /:\s*~\s+\w+</,
  /** In the range of a reduction: `r in A to B most 16`. */
  range: /;[^()]*~\s*(<|in\b)/,
  afterRange: /\br\s+~/,
  afterFirst: /\br\s+in\s+\w+\s+~/,
  afterLast: /\br\s+in\s+\w+\s+to\s+\w+\s+~/,
  /** Any place: the words are reserved. */
  reserved: /~/,
} satisfies Readonly<Record<string, RegExp>>;

/** Meanings of words, by the kind of their places. */
const words: Readonly<Record<keyof typeof positions, Readonly<Record<string, string>>>> = {
  operator: {
    "access.gather": "each output element is computed from the elements at its coordinates",
    "access.scatter":
      "each point of the stated domain, in row-major order, writes one element; the others are the base's",
  },
  statement: {
    gather: "gathers a tile of the output",
    scatter: "writes the points of a tile, in row-major order",
    fill: "sets each element of a tile to the stated bits",
  },
  entry: {
    oob: "the policy of index values that state none",
    fill: "the bits of elements whose index is out of range",
    paired: "dims that indices and data share",
    combine: "what a point makes of the element that it writes: set, add, mul, min or max",
    duplicates: "what is left where two points write one element: last, unique or error",
    base: baseOfBits,
  },
  type: { inout: "the operand is written in place: the result is the caller's memory" },
  range: { r: "a reduction element of a point" },
  afterRange: { in: "the first reduction element, and the one after the last" },
  afterFirst: { to: "the one after the last reduction element" },
  afterLast: { most: "reduction elements of a point, at most" },
  reserved: {
    let: "names an index value",
    yield: "the value of a point",
    in: "the extent of an index value: 0 to one less are in range",
    but: "an index value in range that names no element",
  },
};

/** Brackets of reads, and calls without others inside. */
const brackets = [/\[[^\]]*\]/g, /\([^()]*\)/g];

/** End of a text inside of the entries of a schedule, whose keys may be names of operands. */
const inSchedule = /\bschedule\s*\{([^{}]|\{[^{}]*\})*(\{[^{}]*)?$/;

/**
 * Returns the meaning of the word at `column` of a line; undefined for a name, a word without a meaning, or a
 * word in a comment or a string. A word after `combine =`, `duplicates =`, `base =` or `oob =` is described
 * as a value of that entry. `above`: the lines before.
 */
export function describeWord(above: string, line: string, word: string, column: number): string | undefined {
  const [before, after] = [line.slice(0, column), line.slice(column + word.length)];
  if (/\/\/|[@"]$/.test(before) || inSchedule.test(above + before)) return undefined;
  const meaning = meaningAt(before, word, after);
  return meaning === undefined ? undefined : `${word}: ${meaning}`;
}

function meaningAt(before: string, word: string, after: string): string | undefined {
  const key = /(?:^|[{,])\s*(\w+)\s*=\s*$/.exec(before)?.[1];
  if (key === "combine") return entryOf(combinations, word);
  if (key === "duplicates") return entryOf(duplicates, word);
  if (key === "oob" || after.startsWith("(")) return entryOf(policies, word);
  if (key === "base") return baseOfBits;
  const kinds = Object.keys(positions) as readonly (keyof typeof positions)[];
  return kinds.flatMap((kind) =>
    positions[kind].test(`${brackets.reduce((text, some) => text.replaceAll(some, ""), before)}~${after}`)
      ? (entryOf(words[kind], word) ?? [])
      : [],
  )[0];
}
