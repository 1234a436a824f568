/** The word that was probably meant. */
import { distance } from "fastest-levenshtein";

/** The nearest of `words`, where half of the longer one's letters are the most that differ, and one always may. */
export function didYouMean(word: string, words: readonly string[]): string | undefined {
  const near = words.flatMap((candidate) => {
    const most = Math.max(1, Math.floor(Math.max(candidate.length, word.length) / 2));
    // A word may be as long as a file.
    if (Math.abs(candidate.length - word.length) > most) return [];
    const off = distance(word.toLowerCase(), candidate.toLowerCase());
    return off <= most ? [{ candidate, off }] : [];
  });
  near.sort((a, b) => a.off - b.off);
  return near[0]?.candidate;
}
