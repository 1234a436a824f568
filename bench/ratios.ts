/** How two builds compare: the ratio of their times, how sure it is, and what follows. */
import { median } from "../src/tune/median.js";

/** Of this build, and of the other one. */
export type Pair<T> = readonly [own: T, other: T];

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The median of independent ratios, and the interval between two of them that holds the median of all such ratios with a
 * probability of 95 % or more, whatever their distribution (the sign test's confidence interval, from order statistics).
 * Fewer than six ratios have no such interval: theirs reaches from the least to the greatest. Throws where there is none.
 */
export function spreadOf(ratios: readonly number[]): Spread {
  const sorted = [...ratios].sort((a, b) => a - b);
  const n = sorted.length;
  // Ratios left out at each end. A ratio is below the median with probability one half: P(at most `cut` are) = tail.
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

/** A build is slower when it takes more than so many times as long. */
export const slowerAbove = 1.05;

/** `undecided`: the spread lies on both sides of the limit. */
export type Verdict = "slower" | "undecided" | "not slower";

export const verdictOf = ({ low, high }: Spread): Verdict =>
  low > slowerAbove ? "slower" : high > slowerAbove ? "undecided" : "not slower";

export interface Comparison {
  readonly name: string;
  /** Medians over the runs. */
  readonly ms: Pair<number>;
  /** This build's time divided by the other's. */
  readonly ratio: Spread;
  /** Those that gave a ratio. */
  readonly runs: number;
  readonly verdict: Verdict;
  /** Whether every output was the one expected, so that both builds gave equal bits. Absent where nothing runs. */
  readonly verified?: boolean;
}
