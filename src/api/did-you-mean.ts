/** The word that was probably meant. */
import { distance } from "fastest-levenshtein";

/** The nearest of `words`, if at least half of its letters stand; two that are swapped count as two. */
export function didYouMean(word: string, words: readonly string[]): string | undefined {
  const near = words
    .map((candidate) => ({ candidate, off: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, off }) => off <= candidate.length / 2);
  near.sort((a, b) => a.off - b.off);
  return near[0]?.candidate;
}
