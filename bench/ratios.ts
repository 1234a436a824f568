/** Comparison of two builds: the ratio of their times, its confidence interval, and the verdict. */
import { median } from "../src/tune/median.js";

/**
 * Pair of values from two tilec builds: the current build (`own`) and the build used for comparison
 * (`other`).
 */
export type Pair<T> = readonly [own: T, other: T];

/**
 * Median of several ratios from measurements of two tilec builds: time of the current build divided by time
 * of the second build. `low` and `high` are the ends of the median's confidence interval.
 */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the median of independent ratios with a 95 % confidence interval (sign test). Throws an Error if
 * there are no ratios.
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
 * Limit above which the current build of tilec counts as slower than a second build. It applies to the ratio:
 * time of the current build divided by time of the second build.
 */
export const slowerAbove = 1.05;

/**
 * Result of comparing the current build of tilec with a second build, by the ratio of their times (current
 * divided by second). The confidence interval of the ratio lies above {@link slowerAbove} (`slower`), does
 * not exceed it (`not slower`), or contains it (`undecided`).
 */
export type Verdict = "slower" | "undecided" | "not slower";

/**
 * Returns whether the current build of tilec is slower than the second build. The argument is the confidence
 * interval of the ratio: time of the current build divided by time of the second build.
 */
export const verdictOf = ({ low, high }: Spread): Verdict =>
  low > slowerAbove ? "slower" : high > slowerAbove ? "undecided" : "not slower";

/**
 * Comparison of the times of two tilec builds, for an implementation on one workload or for a compile step.
 */
export interface Comparison {
  readonly name: string;
  /** Median milliseconds of each build over the runs. */
  readonly ms: Pair<number>;
  /** Time of the current build divided by the time of the other build. */
  readonly ratio: Spread;
  /** Number of runs that gave a ratio. */
  readonly runs: number;
  readonly verdict: Verdict;
  /**
   * True if every output was the expected one, so that both builds gave equal bits. Absent if nothing runs.
   */
  readonly verified?: boolean;
}
