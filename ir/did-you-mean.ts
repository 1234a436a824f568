/** The word that was probably meant. */
import { at } from "./types.js";

/**
 * Returns the word of `words` that is most similar to `word`, ignoring case. At most half of the letters may
 * differ, or one letter in a short word. Undefined if no word is so similar.
 */
export function didYouMean(word: string, words: readonly string[]): string | undefined {
  const near = words.flatMap((candidate) => {
    const max = Math.max(1, Math.floor(Math.max(candidate.length, word.length) / 2));
    // A word may be as long as a file.
    if (Math.abs(candidate.length - word.length) > max) return [];
    const off = distance(word.toLowerCase(), candidate.toLowerCase());
    return off <= max ? [{ candidate, off }] : [];
  });
  near.sort((a, b) => a.off - b.off);
  return near[0]?.candidate;
}

/**
 * Returns a hint for a wrong word: `did you mean NEAR?` with the word of `words` that is most similar, or
 * `otherwise` if no word is similar.
 */
export function hintFor(word: string, words: readonly string[], otherwise: string): string {
  const near = didYouMean(word, words);
  return near === undefined ? otherwise : `did you mean ${near}?`;
}

/**
 * Returns the Levenshtein distance of two words: the minimum number of letters to insert, delete or replace.
 */
export function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, k) => k);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let k = 1; k <= b.length; k++) {
      const changed = a[i - 1] === b[k - 1] ? 0 : 1;
      row.push(Math.min(at(above, k) + 1, at(row, k - 1) + 1, at(above, k - 1) + changed));
    }
    above = row;
  }
  return at(above, b.length);
}
