/** Indices like those of a workload: how they repeat and follow one another, drawn from a seed. */
import type { IndexDraw } from "../testing/random.js";

/**
 * Distribution of randomly generated index values. The values are generated in row-major order of the index
 * tensor.
 */
export type IndexPattern =
  /** Each value of the range is equally likely. */
  | { readonly kind: "uniform" }
  /** Uniformly distributed values, in ascending order. */
  | { readonly kind: "sorted" }
  /** Groups of `length` consecutive values, each with a random start. */
  | { readonly kind: "runs"; readonly length: number }
  /**
   * Zipf's distribution: the r-th value of the range, from 1, has a probability proportional to r **
   * -exponent.
   */
  | { readonly kind: "zipf"; readonly exponent: number }
  /** The first of the range. */
  | { readonly kind: "same" };

type Choose = NonNullable<IndexDraw["choose"]>;

/**
 * Returns the function that generates index values with the distribution `pattern`. `count`: number of
 * elements of the index tensor.
 */
export function chooserOf(pattern: IndexPattern, count: number): Choose {
  switch (pattern.kind) {
    case "uniform":
      return ({ least, max }, _, random) => least + Math.floor(random() * (max - least + 1));
    case "sorted":
      return sorted(count);
    case "runs":
      return runs(pattern.length);
    case "zipf":
      return zipf(pattern.exponent);
    case "same":
      return ({ least }) => least;
  }
}

/**
 * Returns a function that generates `count` uniformly distributed index values in ascending order, one per
 * call.
 */
function sorted(count: number): Choose {
  let before = 0;
  return ({ least, max }, position, random) => {
    before = 1 - (1 - before) * (1 - random()) ** (1 / (count - position));
    return least + Math.min(max - least, Math.floor(before * (max - least + 1)));
  };
}

/**
 * Returns a function that generates index values in groups of `length` consecutive values, with a random
 * start for each group. Values wrap around at the end of the range.
 */
function runs(length: number): Choose {
  let start = 0;
  return ({ least, max }, position, random) => {
    const values = max - least + 1;
    if (position % length === 0) start = Math.floor(random() * Math.max(1, values - length + 1));
    return least + ((start + (position % length)) % values);
  };
}

/**
 * Returns a function that generates index values with Zipf's distribution: the r-th value of the range (r
 * from 1) has a probability proportional to r ** -exponent.
 */
function zipf(exponent: number): Choose {
  const ranks = new Map<number, (random: () => number) => number>();
  return ({ least, max }, _, random) => {
    const count = max - least + 1;
    const rank = ranks.get(count) ?? zipfRank(count, exponent);
    ranks.set(count, rank);
    return least + rank(random) - 1;
  };
}

/**
 * Returns a function that draws random ranks from 1 to `count` with probability proportional to rank **
 * -exponent. The method is rejection-inversion (Hörmann and Derflinger, 1996), which is exact.
 */
function zipfRank(count: number, exponent: number): (random: () => number) => number {
  const density = (x: number): number => Math.exp(-exponent * Math.log(x));
  /** Returns the integral of the density, from 1. */
  const area = (x: number): number => {
    const log = Math.log(x);
    const t = (1 - exponent) * log;
    return (t === 0 ? 1 : Math.expm1(t) / t) * log;
  };
  const inverse = (u: number): number => {
    const t = Math.max(-1, (1 - exponent) * u);
    return Math.exp((t === 0 ? 1 : Math.log1p(t) / t) * u);
  };
  const first = area(1.5) - 1;
  const last = area(count + 0.5);
  const sure = 2 - inverse(area(2.5) - density(2));
  return (random) => {
    for (;;) {
      const u = last + random() * (first - last);
      const x = inverse(u);
      const rank = Math.min(count, Math.max(1, Math.floor(x + 0.5)));
      if (rank - x <= sure || u >= area(rank + 0.5) - density(rank)) return rank;
    }
  };
}
