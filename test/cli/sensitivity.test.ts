/** What a schedule's time rests on: against the clock of edited targets, and against what must hold of any clock. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { figuresIn } from "../../ir/figure-units.js";
import {
  cyclesOf,
  targets,
  type Schedule,
  type SourceFunc,
  type Target,
  type TargetFigures,
  type TileFunc,
} from "../../ir/index.js";
import { compile, onnx, tryCompile } from "../../src/index.js";
import { choicesAtEnds } from "../../src/explain/choice-at-ends.js";
import { targetFile } from "../../src/formats/target-file.js";
import { cyclesRange } from "../../src/api/cycles-range.js";
import { sensitivityOf } from "../../src/explain/sensitivity.js";
import { scheduledGather } from "../support/arbitrary.js";
import { runHere } from "../support/run-here.js";
import { runs } from "../support/runs.js";

const all = Object.values(targets);
const [rateFigures, costFigures] = [figuresIn("per cycle"), figuresIn("cycles")];
const factorFigures = figuresIn("factor");
const gradualFigures: readonly (keyof TargetFigures)[] = [...rateFigures, ...costFigures, ...factorFigures];
const isRate = (figure: keyof TargetFigures): boolean => rateFigures.some((rate) => rate === figure);
const isFactor = (figure: keyof TargetFigures): boolean => factorFigures.some((factor) => factor === figure);

/** Whether a step of some figure up and one down change the cycles by other amounts: two terms are as long, and another one decides. */
function turns(tile: TileFunc, target: Target): boolean {
  // Of so many ticks a cycle that rounding is nothing.
  const scaled = (factor: (figure: string) => number): number => {
    const figures = [
      ...rateFigures.map((figure) => [figure, (target[figure] * factor(figure)) / 2 ** 20] as const),
      ...costFigures.map((figure) => [figure, target[figure] * factor(figure) * 2 ** 20] as const),
      ...factorFigures.map((figure) => [figure, target[figure] * factor(figure)] as const),
    ];
    return cyclesOf(tile, { ...target, ...Object.fromEntries(figures) }).cycles;
  };
  const plain = scaled(() => 1);
  return gradualFigures.some((figure) => {
    const [less, more] = [0.99, 1.01].map((by) => scaled((own) => (own === figure ? by : 1)));
    // A hyperbola bends by a hundredth of its change; what decides turns it by more.
    return Math.abs((more ?? 0) + (less ?? 0) - 2 * plain) > 0.0003 * plain;
  });
}

it("adds up: cycles twice as dear and bytes half as fast take twice as long", () => {
  let judged = 0;
  fc.assert(
    fc.property(scheduledGather, fc.constantFrom(...all), ({ random: { func }, schedule }, target) => {
      const result = tryCompile(func, { ...schedule, target });
      if (!result.ok || cyclesOf(result.kernel.tile, target).cycles === 0) return;
      const list = sensitivityOf(result.kernel.tile, target);
      const sum = list
        .filter(({ figure }) => !isFactor(figure))
        .reduce((all, { figure, percent }) => all + (isRate(figure) ? -percent : percent), 0);
      // Where figures decide together, as a shared rate and a core's own, a step of one of them may turn the decision.
      if (turns(result.kernel.tile, target)) return;
      expect(Math.abs(sum - 1)).toBeLessThan(0.05);
      judged++;
    }),
    { numRuns: runs(300) },
  );
  expect(judged).toBeGreaterThan(runs(100));
});

it("is what the clock of an edited target says, where cycles are so many that rounding is nothing", () => {
  const programs: readonly (readonly [SourceFunc, Schedule, readonly Target[]])[] = [
    [
      onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 }),
      { residency: "auto" },
      [targets.ascendA2, targets.cpu],
    ],
    [
      onnx.gatherElements({ data: ["f32", [4096, 1024]], indices: ["i32", [4096, 1024]], axis: 1 }),
      { residency: "auto" },
      [targets.ascendA2, targets.cpu],
    ],
    // Cores load one table, which lies in L2 after the first.
    [
      onnx.gather({ data: ["f32", [30000]], indices: ["i32", [48000]], axis: 0 }),
      { residency: "ub", tile: [1000], view: [1000] },
      [targets.ascendA2],
    ],
  ];
  const felt = new Set<string>();
  for (const [func, schedule, on] of programs)
    for (const target of on) {
      const { tile } = compile(func, { ...schedule, target });
      const { cycles } = cyclesOf(tile, target);
      const list = sensitivityOf(tile, target);
      expect(list.map(({ figure }) => figure).sort()).toEqual([...gradualFigures].sort());
      for (const { figure, percent, kind, source } of list) {
        const edited = (factor: number): Target => ({ ...target, [figure]: target[figure] * factor });
        const change = cyclesOf(tile, edited(1.01)).cycles - cyclesOf(tile, edited(0.99)).cycles;
        expect(percent, `${figure} on ${target.name}`).toBeCloseTo(change / 0.02 / cycles, 1);
        expect(target.sources[figure]).toMatchObject({ kind, source });
        if (Math.abs(percent) > 0.05) felt.add(figure);
      }
      const sizes = list.map(({ percent }) => Math.abs(percent));
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    }
  expect(felt).toContain("l2LoadBytesPerCycle");
});

it("is the share of a cost that is paid one after the other: rows one by one on one core", () => {
  const func = onnx.gather({ data: ["f32", [100, 8]], indices: ["i32", [1]], axis: 0 });
  const schedule = { residency: "gm", tile: [1, 8], cores: 1, target: targets.ascendA2 } as const;
  const { tile } = compile(func, schedule);
  const { cycles } = cyclesOf(tile, targets.ascendA2);
  const of = (wanted: string) =>
    sensitivityOf(tile, targets.ascendA2).find(({ figure }) => figure === wanted)!;
  // Two loads, of the index and of its row, and one store.
  const { loadIssueCycles, loadLatencyCycles, storeIssueCycles } = targets.ascendA2;
  expect(of("loadIssueCycles").percent).toBeCloseTo((2 * loadIssueCycles) / cycles, 2);
  expect(of("storeIssueCycles").percent).toBeCloseTo(storeIssueCycles / cycles, 2);
  // Of the index, which the scalar unit waits for, and of the row.
  expect(of("loadLatencyCycles").percent).toBeCloseTo((2 * loadLatencyCycles) / cycles, 2);
  expect(of("gmReadBytesPerCycle").percent).toBeCloseTo(0, 6);
});

describe("cycles that are known so far", () => {
  const rows = [
    "--op",
    "gather",
    "--data",
    "f32[1000000,64]",
    "--indices",
    "i32[65536]",
    "--residency",
    "gm",
  ];

  it("are a range where the ends of a figure's range change them by more than a tenth", () => {
    const table = onnx.gather({ data: ["f32", [1_000_000, 64]], indices: ["i32", [65536]], axis: 0 });
    const { tile } = compile(table, { residency: "gm", target: targets.ascendA2 });
    const target = targets.ascendA2;
    const at = (rowIndexCycles: number): number => cyclesOf(tile, { ...target, rowIndexCycles }).cycles;
    const [low, high] = target.sources.rowIndexCycles.range!;
    const range = cyclesRange(tile, target)!;
    expect(range.figures[0]).toEqual({
      figure: "rowIndexCycles",
      kind: "assumption",
      range: [low, high],
      cycles: [at(low), at(high)],
    });
    expect([range.low, range.high]).toEqual([at(low), at(high)]);
    expect(at(low)).toBeLessThan(0.9 * cyclesOf(tile, target).cycles);
    // Known within a tenth.
    expect(
      cyclesRange(tile, {
        ...target,
        rowIndexCycles: 0.5,
        sources: {
          ...target.sources,
          rowIndexCycles: { ...target.sources.rowIndexCycles, range: [0.4, 0.6] },
        },
      }),
    ).toBeUndefined();
  });

  it("are printed as times, with the figures", async () => {
    const { stdout } = await runHere(["explain", ...rows]);
    const found = JSON.parse((await runHere(["explain", ...rows, "--json"])).stdout) as {
      cycles: number;
      microseconds: number;
      cyclesRange: { low: number; high: number };
    };
    const { low, high } = found.cyclesRange;
    const [point, least, most] = [found.cycles, low, high].map((cycles) => {
      const us = cycles / 1850;
      return us >= 100 ? Math.round(us).toLocaleString("en") : String(Number(us.toPrecision(3)));
    });
    // The point stands beside its range.
    expect(stdout).toContain(`; ${point} us (${least} to ${most}) at 1,850 MHz\n`);
    expect(stdout).toContain(
      `\nrange        ${low.toLocaleString("en")} to ${high.toLocaleString("en")} cycles, by rowIndexCycles 0 to 11.8 (assumption)\n`,
    );
    const tuned = await runHere(["tune", ...rows, "--budget", "2"]);
    expect(tuned.stdout).toMatch(
      / us \(\S+ to \S+\) at 1,850 MHz.*\n +range [\d,]+ to [\d,]+ cycles, by rowIndexCycles/,
    );
    const json = JSON.parse((await runHere(["explain", ...rows, "--json"])).stdout) as Record<
      string,
      unknown
    >;
    expect(json).toMatchObject({ cyclesRange: { figures: [{ figure: "rowIndexCycles" }] } });
  });
});

describe("the choice of a schedule", () => {
  const table = onnx.gather({ data: ["f32", [1024, 4096]], indices: ["i32", [16384]], axis: 0 });
  const target = targets.ascendA2;
  const shape = [
    "--op",
    "gather",
    "--data",
    "f32[1024,4096]",
    "--indices",
    "i32[16384]",
    "--residency",
    "ub",
  ];

  it("rests on a figure where another schedule takes fewer cycles at an end of its range", async () => {
    const kernel = compile(table, { target, residency: "ub" });
    const choices = choicesAtEnds(table, kernel, { residency: "ub" });
    expect(choices.length).toBeGreaterThan(0);
    for (const { figure, at, range, schedule, cycles, own } of choices) {
      const there = { ...target, [figure]: at };
      expect(range).toContain(at);
      expect(target.sources[figure].range).toEqual(range);
      expect(cyclesOf(kernel.tile, there).cycles).toBe(own);
      expect(cyclesOf(compile(table, { ...schedule, target: there }).tile, there).cycles).toBe(cycles);
      expect(cycles).toBeLessThan(0.99 * own);
    }
    const { stdout } = await runHere(["explain", ...shape, "--sensitivity"]);
    expect(stdout).toMatch(/\nwhere burstCycles is 8\.3, of 0 to 8\.3:\n.* by another schedule\n/);
    expect(stdout).toMatch(/\nthe choice rests on\n(.*\n)*  burstCycles \(assumption\)\n/);
  });

  it("is printed as the flags that give its cycles under the altered target", async () => {
    const { stdout } = await runHere(["explain", ...shape, "--sensitivity"]);
    const printed = [
      ...stdout.matchAll(/where (\w+) is (\S+), of .*\n {2}([\d,]+) cycles .*\n {2}(--.*)\n/g),
    ].map(([, figure, value, cycles, flags]) => ({ figure: figure!, value: Number(value), cycles, flags }));
    expect(printed.length).toBe(stdout.match(/by another schedule/g)?.length);
    expect(printed.some(({ flags }) => flags!.includes("--view"))).toBe(true);
    const folder = mkdtempSync(join(tmpdir(), "tilec-sensitivity-"));
    try {
      for (const { figure, value, cycles, flags } of printed) {
        const file = join(folder, "own.json");
        writeFileSync(file, JSON.stringify(targetFile({ ...target, name: "own", [figure]: value })));
        const again = await runHere(["explain", ...shape, "--target", file, ...flags!.split(" "), "--json"]);
        expect(again.stderr).toBe("");
        const { cycles: found } = JSON.parse(again.stdout) as { cycles: number };
        expect(found.toLocaleString("en"), flags).toBe(cycles);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("that is stated in full rests on none", async () => {
    const { tile } = compile(table, { target });
    const stated = { ...table, schedule: tile.schedule };
    expect(choicesAtEnds(stated, compile(stated, { target }), {})).toEqual([]);
    const shape = ["--op", "gather", "--data", "f32[16,64]", "--indices", "i32[8]", "--residency", "ub"];
    const entries = ["--tile", "1,64", "--view", "8,64", "--order", "0,1", "--buffers", "1", "--sensitivity"];
    expect((await runHere(["explain", ...shape, ...entries])).stdout).toContain(
      "no end of a figure's range makes another schedule 1 % better",
    );
  });
});
