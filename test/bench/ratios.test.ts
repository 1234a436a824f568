/** The ratio of two builds' times, its spread and its verdict. */
import { describe, expect, it } from "vitest";
import { spreadOf, verdictOf, type Comparison } from "../../bench/ratios.js";
import { summaryOf } from "../../bench/print-comparison.js";

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, k) => k + 1);

describe("the spread", () => {
  // Ranks of the two-sided sign test at 5 %, from a table of it (Conover, Practical Nonparametric Statistics).
  it.each([
    [6, 1, 6],
    [8, 1, 8],
    [9, 2, 8],
    [10, 2, 9],
    [12, 3, 10],
    [15, 4, 12],
    [20, 6, 15],
    [25, 8, 18],
  ])("of %i ratios reaches from the %i. to the %i.", (n, low, high) => {
    expect(spreadOf(upTo(n))).toEqual({ median: (n + 1) / 2, low, high });
  });

  it.each([1, 2, 5])("of %i ratios, too few for the test, is all of them", (n) => {
    expect(spreadOf(upTo(n))).toMatchObject({ low: 1, high: n });
  });

  it("does not depend on the order of the runs", () => {
    expect(spreadOf([0.9, 7, 1.1, 1, 0.1, 1.2, 0.8, 1.05, 0.95])).toEqual({ median: 1, low: 0.8, high: 1.2 });
  });

  it("of no ratio is refused", () => {
    expect(() => spreadOf([])).toThrow("there are no ratios");
  });
});

describe("the verdict", () => {
  it.each([
    ["slower", 1.06, 1.2],
    ["undecided", 1.05, 1.2],
    ["undecided", 0.9, 1.06],
    ["not slower", 0.9, 1.05],
    ["not slower", 0.5, 0.6],
  ])("is %s from %d to %d: only a whole spread above 1.05 is slower", (verdict, low, high) => {
    expect(verdictOf({ median: 1, low, high })).toBe(verdict);
  });
});

describe("the summary", () => {
  const row = (name: string, ratio: number, verified = true): Comparison => {
    const spread = { median: ratio, low: ratio - 0.02, high: ratio + 0.02 };
    return { name, ms: [ratio, 1], ratio: spread, runs: 9, verdict: verdictOf(spread), verified };
  };

  it("names the rows that are slower, undecided or wrong", () => {
    expect(summaryOf([row("a", 2), row("b", 1.04), row("c", 0.5, false)])).toBe(
      "of 3 rows slower by more than 5 %: 1 (a); undecided: 1 (b); geometric mean of the ratios: 1.013; WRONG output: 1 (c)",
    );
  });

  it("says that none is", () => {
    expect(summaryOf([row("a", 1)])).toBe(
      "of 1 rows slower by more than 5 %: none; undecided: none; geometric mean of the ratios: 1.000",
    );
  });
});
