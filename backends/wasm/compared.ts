/**
 * Index values that vectors compare with their limits, those of a turn together: none is resolved by itself
 * where all are in range as they stand.
 */
import type { StridedIndex } from "../plan/strided-indices.js";
import { range } from "../plan/runs.js";
import { at } from "../../ir/types.js";
import type { Lookup, PointerWalk } from "./memory-addresses.js";

/**
 * Sixteen bytes of an index tensor that one vector instruction compares with bounds: the position of the
 * bytes, and the bound of each 32-bit word.
 */
export interface ComparedVector {
  /** Index, from 0, of the pointer into the index tensor. */
  readonly walk: number;
  /** Byte offset of the vector from the pointer. */
  readonly offset: number;
  /**
   * Bound of each word: the number of the index operand whose extent bounds the word, or `high` for the upper
   * word of a 64-bit index value, which must be 0.
   */
  readonly words: readonly (number | "high")[];
}

/**
 * Size of a word in a {@link ComparedVector}, in bytes. Narrower index values are not compared by vectors.
 */
export const wordBytes = 4;
/** Size of a WebAssembly vector, in bytes. */
export const vectorBytes = 16;

/**
 * Returns the vectors that check the index values of `shift` consecutive output elements along dim `dim`
 * against the extents. Undefined if vectors cannot check the values.
 */
export function comparedTogether(
  resolved: readonly StridedIndex[],
  lookups: readonly (Lookup | undefined)[],
  walks: readonly PointerWalk[],
  dim: number,
  shift: number,
): readonly ComparedVector[] | undefined {
  if (resolved.some(({ rule }) => rule.bytes < wordBytes || rule.extent === 0)) return undefined;
  const numbers = [...new Set(resolved.map(({ index }) => lookups[index]?.walk ?? -1))];
  const vectors: ComparedVector[] = [];
  for (const walk of numbers) {
    const { by } = at(walks, walk);
    const together = resolved.filter(({ index }) => lookups[index]?.walk === walk);
    const step = together.reduce((sum, { rule }) => sum + rule.bytes, 0);
    // Where each word of one neighbour belongs.
    const words = new Map<number, number | "high">();
    for (const { rule, index } of together) {
      const first = (lookups[index]?.shift ?? 0) / wordBytes;
      words.set(first, index);
      if (rule.bytes > wordBytes) words.set(first + 1, "high");
    }
    const consecutive = range(0, step / wordBytes).map((word) => words.get(word));
    if (by[dim] !== step || !consecutive.every((word) => word !== undefined) || by.some((steps) => steps < 0))
      return undefined;
    for (let offset = 0; offset < shift * step; offset += vectorBytes) {
      const first = offset / wordBytes;
      vectors.push({
        walk,
        offset,
        words: range(first, first + vectorBytes / wordBytes).map((word) =>
          at(consecutive, word % consecutive.length),
        ),
      });
    }
  }
  return vectors;
}
