/** Comparison of two builds: the ratio of their times, its confidence interval, and the verdict. */
import { median } from "../src/tune/median.js";

/**
 * Pair of values from two tilec builds: `own` from this build, `other` from the build that it is compared
 * with.
 */
export type Pair<T> = readonly [own: T, other: T];

/**
 * Median of several ratios of this build's time to the other build's time. `low` and `high` are the ends of
 * the median's confidence interval.
 */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the median of independent ratios with its confidence interval. The interval contains the true
 * median with a probability of at least 95 %, for any distribution. It is the sign test's interval, from
 * order statistics. For fewer than six ratios, the interval spans all of them, and the probability is lower.
 * Throws an Error if there are no ratios.
 */
export function spreadOf(ratios: readonly number[]): Spread {
  const sorted = [...ratios].sort((a, b) => a - b);
  const n = sorted.length;
  // Ratios left out at each end. A ratio is below the median with probability one half: P(at most `cut` are)
  // = tail.
  let cut = 0;
  let tail = 2 ** -n;
  for (let k = 1, term = tail; k < n / 2; k++) {
    term *= (n - k + 1) / k;
    tail += term;
    if (2 * tail > 0.05) break;
    cut = k;
  }
  const [low, high] = [sorted[cut], sorted[n - 1 - cut]];
  if (low === undefined || high === undefined) throw new Error("there are no ratios");
  return { median: median(sorted), low, high };
}

/**
 * Limit of the ratio of this build's time to the other build's time. This build counts as slower if the ratio
 * is above the limit.
 */
export const slowerAbove = 1.05;

/**
 * Verdict on the ratio of this build's time to the other build's time. `slower`: the confidence interval lies
 * above {@link slowerAbove}. `not slower`: the interval ends at or below this limit. `undecided`: the
 * interval extends to both sides of the limit.
 */
export type Verdict = "slower" | "undecided" | "not slower";

/**
 * Returns the verdict on the confidence interval of a time ratio. The verdict is `slower` if the interval
 * begins above {@link slowerAbove}, and `not slower` if it ends at or below this limit. Otherwise, the
 * verdict is `undecided`.
 */
export const verdictOf = ({ low, high }: Spread): Verdict =>
  low > slowerAbove ? "slower" : high > slowerAbove ? "undecided" : "not slower";

/**
 * Comparison of the times of two tilec builds. It is either for one implementation on one workload, or for
 * the median or the 99th percentile of a compile step.
 */
export interface Comparison {
  readonly name: string;
  /** Medians over the runs. */
  readonly ms: Pair<number>;
  /** This build's time divided by the other's. */
  readonly ratio: Spread;
  /** Those that gave a ratio. */
  readonly runs: number;
  readonly verdict: Verdict;
  /**
   * True if every output was the expected one, so that both builds gave equal bits. Absent if nothing runs.
   */
  readonly verified?: boolean;
}
