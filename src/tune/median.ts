import { at } from "../../ir/index.js";

/**
 * Returns the median of the values; NaN for an empty list. If the number of values is even, the median is the
 * mean of the two middle values.
 */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? at(sorted, middle)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}
