/**
 * Numbers as JSON holds them: it has none for a NaN and the infinities, which are words, as in case files.
 */

/** Numbers that JSON cannot represent, by the words that replace them. */
export const nonFiniteNumbers = { NaN: NaN, Infinity: Infinity, "-Infinity": -Infinity } as const;
/** Word for a number that JSON cannot represent. */
export type NonFiniteWord = keyof typeof nonFiniteNumbers;
/** Number, or the word for a number that JSON cannot represent. */
export type JsonNumber = number | NonFiniteWord;

/** Returns a number in the form that JSON can hold: NaN and the infinities become words. */
export function jsonNumber(value: number): JsonNumber {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}
