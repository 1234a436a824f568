/** Comparison of two builds: the ratio of their times, its confidence interval, and the verdict. */
import { median } from "../src/tune/median.js";

/** Two values of one kind: the first of this build, the second of the build it is compared with. */
export type Pair<T> = readonly [own: T, other: T];

/** Median of ratios of two builds' times, with its confidence interval from `low` to `high`. */
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
 * Limit of the time ratio of two builds: a build counts as slower if it takes more than 1.05 times the other
 * build's time.
 */
export const slowerAbove = 1.05;

/**
 * Verdict on this build's time against another build's. `undecided` means that the confidence interval of the
 * ratio contains {@link slowerAbove}.
 */
export type Verdict = "slower" | "undecided" | "not slower";

/**
 * Returns the verdict on the confidence interval of a time ratio. The verdict is `slower` if the interval
 * lies above {@link slowerAbove}, `not slower` if no part of it does, otherwise `undecided`.
 */
export const verdictOf = ({ low, high }: Spread): Verdict =>
  low > slowerAbove ? "slower" : high > slowerAbove ? "undecided" : "not slower";

/**
 * Comparison of two builds' times: for one benchmarked implementation, or for the median or 99th percentile
 * of a compile step.
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
