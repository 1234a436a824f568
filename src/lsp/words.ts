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
  zero: `${filled}, 0 where the statement has no entry fill`,
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

/** Place of a word in a line: patterns of the text before it and after it. */
interface Place {
  readonly before: RegExp;
  readonly after: RegExp;
}

/** Places of the words of the language, in which no name of the user's can stand. */
const positions = {
  operator: { before: /=\s*$/, after: /^/ },
  statement: { before: /^\s*$/, after: /^\s+%/ },
  /** Words that the parser takes for no name. */
  reserved: { before: /$/, after: /^/ },
  entry: { before: /(^|[{,])\s*$/, after: /^\s*=/ },
  type: { before: /:\s*$/, after: /^\s+\w+</ },
} satisfies Readonly<Record<string, Place>>;

/** Word of the language at one kind of place, with its meaning. */
interface Word {
  readonly word: string;
  readonly place: keyof typeof positions;
  readonly meaning: string;
}

const words: readonly Word[] = [
  {
    word: "access.gather",
    place: "operator",
    meaning: "each output element is computed from the elements at its coordinates",
  },
  {
    word: "access.scatter",
    place: "operator",
    meaning:
      "each point of the stated domain, in row-major order, writes one element; the others are the base's",
  },
  { word: "gather", place: "statement", meaning: "gathers a tile of the output" },
  { word: "scatter", place: "statement", meaning: "writes the points of a tile, in row-major order" },
  { word: "fill", place: "statement", meaning: "sets each element of a tile to the stated bits" },
  { word: "let", place: "reserved", meaning: "names an index value" },
  { word: "yield", place: "reserved", meaning: "the value of a point" },
  {
    word: "in",
    place: "reserved",
    meaning: "the extent of an index value: 0 to one less are in range",
  },
  { word: "but", place: "reserved", meaning: "an index value in range that names no element" },
  { word: "oob", place: "entry", meaning: "the policy of index values that state none" },
  { word: "fill", place: "entry", meaning: "the bits of elements whose index is out of range" },
  { word: "paired", place: "entry", meaning: "dims that indices and data share" },
  {
    word: "combine",
    place: "entry",
    meaning: "what a point makes of the element that it writes: set, add, mul, min or max",
  },
  {
    word: "duplicates",
    place: "entry",
    meaning: "what is left where two points write one element: last, unique or error",
  },
  {
    word: "base",
    place: "entry",
    meaning: baseOfBits,
  },
  {
    word: "inout",
    place: "type",
    meaning: "the operand is written in place: the result is the caller's memory",
  },
];

/** Words of the range of a reduction, `r in A to B most 16`, by their number in it. Others are the user's. */
const rangeWords: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  1: { in: "the reduction elements are those from the first bound to one before the second" },
  3: { to: "the bound after the last reduction element" },
  5: { most: "reduction elements of a point, at most" },
};

/**
 * Returns the meaning of a word in the range of a reduction; undefined for any other. `before`, `after`: the
 * line around the word.
 */
function describeInRange(before: string, word: string, after: string): string | undefined {
  const inside = /;([^;]*)$/.exec(before)?.[1];
  if (inside === undefined) return undefined;
  const outer = withoutCalls(inside);
  if (/[()[\]]/.test(outer)) return undefined;
  if (word === "r" && /^\s*(<|in\b)/.test(after) && !/\blet\s+$/.test(outer))
    return "the reduction elements of a point, one after another";
  const range = /\br(\s+in\b.*|\s*)$/.exec(outer)?.[0];
  return range === undefined ? undefined : rangeWords[range.trim().split(/\s+/).length]?.[word];
}

/** Returns a text without what is in brackets. */
function withoutCalls(text: string): string {
  const outer = text.replaceAll(/\([^()]*\)|\[[^[\]]*\]/g, "");
  return outer === text ? text : withoutCalls(outer);
}

/** True if a text ends inside of the entries of a schedule, whose keys may be names of operands. */
function endsInSchedule(text: string): boolean {
  const entries = /[^]*\bschedule\s*\{([^]*)$/.exec(text)?.[1];
  if (entries === undefined) return false;
  let depth = 1;
  for (const [brace] of entries.matchAll(/[{}]/g)) {
    depth += brace === "{" ? 1 : -1;
    if (depth === 0) return false;
  }
  return true;
}

/**
 * Returns the meaning of the word at `column` of a line; undefined for a name, a word without a meaning, or a
 * word in a comment or a string. A word after `combine =`, `duplicates =`, `base =` or `oob =` is described
 * as a value of that entry. `above`: the lines before.
 */
export function describeWord(above: string, line: string, word: string, column: number): string | undefined {
  const [before, after] = [line.slice(0, column), line.slice(column + word.length)];
  if (before.includes("//") || /[@"]$/.test(before) || endsInSchedule(above + before)) return undefined;
  const meaning = meaningAt(before, word, after);
  return meaning === undefined ? undefined : `${word}: ${meaning}`;
}

function meaningAt(before: string, word: string, after: string): string | undefined {
  const key = /(?:^|[{,])\s*(\w+)\s*=\s*$/.exec(before)?.[1];
  if (key === "combine") return entryOf(combinations, word);
  if (key === "duplicates") return entryOf(duplicates, word);
  if (key === "oob" || after.startsWith("(")) return entryOf(policies, word);
  if (key === "base") return baseOfBits;
  return (
    describeInRange(before, word, after) ??
    words.find(
      (one) =>
        one.word === word &&
        positions[one.place].before.test(before) &&
        positions[one.place].after.test(after),
    )?.meaning
  );
}
