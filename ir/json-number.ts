/**
 * Numbers as JSON holds them: it has none for a NaN and the infinities, which are words, as in case files.
 */

/** Numbers that JSON cannot represent, by the words that replace them in JSON. */
export const nonFiniteNumbers = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity } as const;
/** Word that replaces a number in JSON: NaN or an infinity. */
export type NonFiniteWord = keyof typeof nonFiniteNumbers;
/** Number as JSON holds it: a finite number, or a word for NaN or an infinity. */
export type JsonNumber = number | NonFiniteWord;

/** Returns a number as JSON can hold it: finite numbers unchanged, NaN and infinities as words. */
export function jsonNumber(value: number): JsonNumber {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}
