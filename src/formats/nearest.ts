/** What a mistyped word was probably meant to be. */
import { closest, distance } from "fastest-levenshtein";

/** The known word nearest to `word`, where half its letters are the most that differ, and one always may. */
function nearest(word: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 2));
  const close = known.filter((candidate) => Math.abs(candidate.length - word.length) <= most);
  if (close.length === 0) return undefined;
  const found = closest(word, close);
  return distance(word, found) <= most ? found : undefined;
}

/** For the end of a message: the nearest known word, or all of them. */
export function meant(word: string, known: readonly string[]): string {
  const found = nearest(word, known);
  return found === undefined ? `known: ${known.join(", ")}` : `did you mean ${found}?`;
}
