/** The clock beside what others published: the model lies close to it (test/docs/tables.test.ts holds the page to the rows). */
import { describe, expect, it } from "vitest";
import { targets, type Shape } from "../../ir/index.js";
import { copies, cyclesIn, loads, rowGather, steps, type PublishedRow } from "../../bench/published.js";
import { geometricMean, spearman } from "../../bench/statistics.js";
import { gatherOfRows, loadOf } from "../support/tile-programs.js";

/** The geometric mean of model over published, or of its inverse where that is larger. */
const factor = (rows: readonly PublishedRow[]): number =>
  geometricMean(rows.map(({ published, model }) => Math.max(model / published, published / model)));

describe("published cycles", () => {
  it("of loads are ranked as published, as single durations: each instruction with its latency", () => {
    expect(
      spearman(
        loads.map((row) => row.published),
        loads.map((row) => row.model),
      ),
    ).toBeGreaterThanOrEqual(0.95);
  });

  it.each(copies)("of a copy within UB are the clock's: $cells", ({ model, published }) => {
    expect(model).toBe(published);
  });

  it("of steps are within 1.15 in the geometric mean, and 1.35 each", () => {
    expect(factor(steps)).toBeLessThanOrEqual(1.15);
    for (const row of steps) expect(factor([row])).toBeLessThanOrEqual(1.35);
  });

  it("of a row of a vector gather are those of a 910B3, rounded up", () => {
    expect(rowGather.model).toBe(Math.ceil(rowGather.published));
  });
});

const target = targets.ascendA2;

describe("the model", () => {
  it("never gives more bytes or more rows fewer cycles", () => {
    const sizes = [256, 1024, 1056, 4096, 8192, 65536].map((bytes) =>
      cyclesIn(loadOf("f32", [bytes / 4]), "load"),
    );
    expect([...sizes].sort((a, b) => a - b)).toEqual(sizes);
    const rows = [8, 64, 65, 128, 512].map((columns) => cyclesIn(gatherOfRows(4, columns), "gather"));
    expect([...rows].sort((a, b) => a - b)).toEqual(rows);
  });

  it("starts a DMA instruction for every 4095 rows, and for each row of what is outside of them", () => {
    const issue = 100_000;
    const slow = { ...target, loadIssueCycles: issue, burstCycles: 0 };
    const cycles = (box: Shape): number => cyclesIn(loadOf("f32", box), "load", slow);
    expect(cycles([4095, 8])).toBe(issue);
    expect(cycles([4096, 8])).toBe(2 * issue);
    expect(cycles([3, 5, 8])).toBe(3 * issue);
  });

  it("takes the larger of issue, bursts and bytes for a load", () => {
    const cycles = (box: Shape): number => cyclesIn(loadOf("f32", box), "load");
    expect(cycles([8])).toBe(Math.ceil(target.loadIssueCycles));
    expect(cycles([4095, 8])).toBe(4095 * target.burstCycles);
    expect(cycles([65536])).toBe(Math.ceil((65536 * 4) / target.loadBytesPerCycle));
  });
});
