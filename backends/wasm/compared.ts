/** Index values that vectors compare with their limits, those of a turn together: none is resolved by itself where all are in range as they stand. */
import type { StridedSite } from "../plan/strided-sites.js";
import { range } from "../plan/runs.js";
import { at } from "../../ir/types.js";
import type { Lookup, PointerWalk } from "./memory-places.js";

/** 16 bytes of a turn's index values. */
export interface ComparedVector {
  /** Number of the walk over their table. */
  readonly walk: number;
  /** Bytes from its pointer. */
  readonly offset: number;
  /** What each word is compared with: the limit of a site, or `high`, the word above a value of 64 bits, which is 0 in range. */
  readonly words: readonly (number | "high")[];
}

export const wordBytes = 4;
export const vectorBytes = 16;

/**
 * The values of `turn` neighbours along a dim. Undefined where they do not lie together, words of other values lie between them, or
 * they are shorter than a word.
 */
export function comparedTogether(
  resolved: readonly StridedSite[],
  lookups: readonly (Lookup | undefined)[],
  walks: readonly PointerWalk[],
  dim: number,
  turn: number,
): readonly ComparedVector[] | undefined {
  if (resolved.some(({ rule }) => rule.bytes < wordBytes || rule.below === 0)) return undefined;
  const numbers = [...new Set(resolved.map(({ site }) => lookups[site]?.walk ?? -1))];
  const vectors: ComparedVector[] = [];
  for (const walk of numbers) {
    const { by } = at(walks, walk);
    const own = resolved.filter(({ site }) => lookups[site]?.walk === walk);
    const step = own.reduce((sum, { rule }) => sum + rule.bytes, 0);
    // Where each word of one neighbour belongs.
    const words = new Map<number, number | "high">();
    for (const { rule, site } of own) {
      const first = (lookups[site]?.shift ?? 0) / wordBytes;
      words.set(first, site);
      if (rule.bytes > wordBytes) words.set(first + 1, "high");
    }
    const whole = range(0, step / wordBytes).map((word) => words.get(word));
    if (by[dim] !== step || !whole.every((word) => word !== undefined) || by.some((steps) => steps < 0))
      return undefined;
    for (let offset = 0; offset < turn * step; offset += vectorBytes) {
      const first = offset / wordBytes;
      vectors.push({
        walk,
        offset,
        words: range(first, first + vectorBytes / wordBytes).map((word) => at(whole, word % whole.length)),
      });
    }
  }
  return vectors;
}
