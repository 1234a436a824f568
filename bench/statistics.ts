/** Statistics that the benchmarks and the cost model's tests compute from their figures. */

/** Returns the geometric mean of positive values, or 1 for an empty list. */
export const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / Math.max(1, values.length));

/**
 * Returns the 99th percentile of the values: the greatest value if there are at most 100 values, and 0 for an
 * empty list.
 */
export const percentile99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(0.99 * values.length)] ?? 0;

/** Returns each value's rank; equal ones share the mean of theirs. */
const ranks = (values: readonly number[]): number[] =>
  values.map((value) => {
    const below = values.filter((other) => other < value).length;
    return below + (values.filter((other) => other === value).length + 1) / 2;
  });

/**
 * Returns Spearman's rank correlation of two lists of equal length. The result is NaN if all values of a list
 * are equal.
 */
export function spearman(x: readonly number[], y: readonly number[]): number {
  const [a, b] = [ranks(x), ranks(y)];
  const mean = (x.length + 1) / 2;
  const covariance = (p: readonly number[], q: readonly number[]): number =>
    p.reduce((sum, value, k) => sum + (value - mean) * ((q[k] ?? 0) - mean), 0);
  return covariance(a, b) / Math.sqrt(covariance(a, a) * covariance(b, b));
}
