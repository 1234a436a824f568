/**
 * Numbers as JSON holds them: it has none for a NaN and the infinities, which are words, as in case files.
 */

/** Numbers that JSON cannot represent, keyed by the words that replace the numbers in JSON. */
export const nonFiniteNumbers = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity } as const;
/** Word that replaces a number in JSON: NaN or an infinity. */
export type NonFiniteWord = keyof typeof nonFiniteNumbers;
/** Number in JSON: a finite number, or a word for NaN or an infinity. */
export type JsonNumber = number | NonFiniteWord;

/** Returns a number as represented in JSON: a finite number unchanged, or a word for NaN or an infinity. */
export function jsonNumber(value: number): JsonNumber {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}
