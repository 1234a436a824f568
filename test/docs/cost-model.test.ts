/** The clock beside what others published: docs/cost-model.md shows each row, and the model lies close to it. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cyclesOfWork } from "../../ir/clock/price.js";
import { noWork, type Work } from "../../ir/clock/work.js";
import { targets, walkOf, type DType, type Shape, type Target, type TileFunc } from "../../ir/index.js";
import { geometricMean, spearman } from "../../bench/statistics.js";
import { gatherOfRows, loadOf } from "../support/tile-programs.js";

const page = readFileSync(new URL("../../docs/cost-model.md", import.meta.url), "utf8").replaceAll(
  / +/g,
  " ",
);
const target = targets.ascendA2;

/** Cycles of the one statement of this kind, on one core. */
const cyclesIn = (func: TileFunc, name: "load" | "gather", on: Target = target): number =>
  walkOf(func, on).events.find((event) => event.name === name)!.cycles;

interface Row {
  readonly published: number;
  readonly model: number;
  readonly cells: readonly (string | number)[];
}

const rowOf = (cells: readonly (string | number)[], published: number, model: number): Row => ({
  published,
  model,
  cells: [...cells, published, model],
});

const shown = ({ cells }: Row): string => `| ${cells.join(" | ")} |`;

/** The geometric mean of model over published, or of its inverse where that is larger. */
const factor = (rows: readonly Row[]): number =>
  geometricMean(rows.map(({ published, model }) => Math.max(model / published, published / model)));

/** testcase/tload/main.cpp: extents as declared, outermost first, columns of `dn` as rows; cycles. */
const loads: readonly (readonly [
  name: string,
  dtype: DType,
  box: Shape,
  instructions: number,
  cycles: number,
])[] = [
  ["f32 128x128", "f32", [1, 1, 1, 128, 128], 1, 776],
  ["f32 256x64", "f32", [2, 2, 2, 32, 64], 8, 2624],
  ["f32 128x127", "f32", [1, 1, 1, 128, 127], 1, 773],
  ["i16 128x127", "i16", [1, 1, 1, 128, 127], 1, 519],
  ["u8 128x127", "u8", [1, 1, 1, 128, 127], 1, 392],
  ["i16 64x128, dynamic", "i16", [1, 1, 32, 2, 128], 32, 8576],
  ["i16 64x128, static", "i16", [1, 1, 32, 2, 128], 32, 8576],
  ["f32 256x60", "f32", [2, 2, 2, 32, 60], 8, 2497],
  ["f32 64x128, by columns", "f32", [1, 1, 32, 4, 64], 32, 8704],
  ["f32 255x64, by columns", "f32", [2, 2, 2, 8, 255], 8, 8352],
];

describe("loads", () => {
  const rows = loads.map(([name, dtype, box, instructions, cycles]) =>
    rowOf(
      [name, box.join("x"), instructions],
      cycles,
      cyclesIn(loadOf(dtype, box), "load") + instructions * target.loadLatencyCycles,
    ),
  );

  it.each(rows)("are shown as computed: $cells", (row) => {
    expect(page).toContain(shown(row));
  });

  it("are ranked as published, as single durations: each instruction with its latency", () => {
    expect(
      spearman(
        rows.map((row) => row.published),
        rows.map((row) => row.model),
      ),
    ).toBeGreaterThanOrEqual(0.95);
  });
});

const vector = (work: Partial<Work>): number => cyclesOfWork({ ...noWork, ...work }, "V", target, 1);

describe("copies within UB", () => {
  /** testcase/tmov/main.cpp: instructions and blocks of each, as TMov.hpp issues them; cycles. */
  const copies: readonly (readonly [name: string, instructions: number, blocks: number, cycles: number])[] = [
    ["f32 64x128", 1, 64 * 16, 1029],
    ["f32 15x23 of 16x24", 15, 3, 120],
    ["f32 63x125 of 64x128", 63, 16, 1323],
  ];

  it.each(copies)("%s", (name, instructions, blocks, cycles) => {
    const model = vector({ copies: instructions, copied: instructions * blocks * 32 });
    expect(model).toBe(cycles);
    expect(page).toContain(shown(rowOf([name, instructions], cycles, model)));
  });
});

/** testcase/*: rows and columns of 4-byte elements; tiles that the instruction reads; cycles. */
const steps: readonly (readonly [
  name: string,
  tile: readonly [number, number],
  read: 1 | 2,
  cycles: number,
])[] = [
  ["adds f32", [32, 64], 1, 57],
  ["adds i32", [31, 128], 1, 70],
  ["adds f32", [7, 448], 1, 77],
  ["adds f32", [256, 16], 1, 266],
  ["muls f32", [32, 64], 1, 58],
  ["muls i32", [31, 128], 1, 70],
  ["muls f32", [7, 448], 1, 77],
  ["muls f32", [256, 16], 1, 266],
  ["mins f32", [64, 64], 1, 87],
  ["mins i32", [64, 64], 1, 68],
  ["add i32", [64, 64], 2, 151],
  ["mul i32", [64, 64], 2, 152],
  ["max i32", [64, 64], 2, 151],
  ["sub i32", [64, 64], 2, 132],
];

describe("steps on index values", () => {
  const rows = steps.map(([name, [height, width], read, cycles]) => {
    const stepRepeats = read * height * Math.ceil((width * 4) / target.vectorBytes);
    return rowOf([name, `${height}x${width}`], cycles, vector({ steps: 1, stepRepeats }));
  });

  it.each(rows)("are shown as computed: $cells", (row) => {
    expect(page).toContain(shown(row));
  });

  it("are within 1.15 in the geometric mean, and 1.35 each", () => {
    expect(factor(rows)).toBeLessThanOrEqual(1.15);
    for (const row of rows) expect(factor([row])).toBeLessThanOrEqual(1.35);
  });
});

describe("vector gathers", () => {
  it("take for a row what a 910B3 does, rounded up", () => {
    // Beside the two steps that bring index values inside their extent.
    const { stepCycles, stepRepeatCycles } = target;
    const model = Math.floor(cyclesIn(gatherOfRows(1, 64), "gather") - 2 * (stepCycles + stepRepeatCycles));
    expect(model).toBe(Math.ceil(46.6));
    expect(page).toContain(`| 64 f32 in UB | 46.6 | 29 | ${model} |`);
  });
});

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
