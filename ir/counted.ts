/** Returns a count with its noun, which gets an `s` unless the count is 1: `1 core`, `24 cores`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Returns a number as text, rounded to an integer, with commas between thousands: `25,214,976`. */
export const withCommas = (value: number): string => Math.round(value).toLocaleString("en");

/** Returns a share of one as text, in percent, rounded to an integer: `42 %`. */
export const inPercent = (share: number): string => `${Math.round(100 * share)} %`;

/** Returns alternatives as text: `a`, `a or b`, `a, b or c`. */
export const eitherOf = (words: readonly string[]): string =>
  [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((text) => text !== "").join(" or ");
