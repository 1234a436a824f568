/** Numbers as JSON holds them: it has none for a NaN and the infinities, which are words, as in case files. */

/** The numbers that JSON lacks, by their words. */
export const nonFiniteNumbers = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity } as const;
/** Word of a number that JSON lacks. */
export type NonFiniteWord = keyof typeof nonFiniteNumbers;
/** A number, or the word of one that JSON lacks. */
export type JsonNumber = number | NonFiniteWord;

/** Returns a number as JSON holds it. */
export function jsonNumber(value: number): JsonNumber {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}
