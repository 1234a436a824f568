/** What a schedule's time rests on: against the clock of edited targets, and against what must hold of any clock. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { cyclesOf, targets, type Target, type TileFunc } from "../../ir/index.js";
import { compile, onnx, tryCompile } from "../../src/index.js";
import { costFigures, rateFigures, sensitivityOf } from "../../src/explain/sensitivity.js";
import { scheduledGather } from "../support/arbitrary.js";
import { runs } from "../support/runs.js";

const all = Object.values(targets);
const isRate = (figure: string): boolean => (rateFigures as readonly string[]).includes(figure);

/** Whether a step of some figure up and one down change the cycles by other amounts: two terms are as long, and another one decides. */
function turns(tile: TileFunc, target: Target): boolean {
  // Of so many ticks a cycle that rounding is nothing.
  const scaled = (factor: (figure: string) => number): number => {
    const figures = [
      ...rateFigures.map((figure) => [figure, (target[figure] * factor(figure)) / 2 ** 20] as const),
      ...costFigures.map((figure) => [figure, target[figure] * factor(figure) * 2 ** 20] as const),
    ];
    return cyclesOf(tile, { ...target, ...Object.fromEntries(figures) }).cycles;
  };
  const plain = scaled(() => 1);
  return [...rateFigures, ...costFigures].some((figure) => {
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
      const sum = list.reduce((all, { figure, percent }) => all + (isRate(figure) ? -percent : percent), 0);
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
  const programs = [
    onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 }),
    onnx.gatherElements({ data: ["f32", [4096, 1024]], indices: ["i32", [4096, 1024]], axis: 1 }),
  ];
  for (const func of programs)
    for (const target of [targets.ascendA2, targets.cpu]) {
      const { tile } = compile(func, { target, residency: "auto" });
      const { cycles } = cyclesOf(tile, target);
      const list = sensitivityOf(tile, target);
      expect(list.map(({ figure }) => figure).sort()).toEqual([...rateFigures, ...costFigures].sort());
      for (const { figure, percent, kind, source } of list) {
        const edited = (factor: number): Target => ({ ...target, [figure]: target[figure] * factor });
        const change = cyclesOf(tile, edited(1.01)).cycles - cyclesOf(tile, edited(0.99)).cycles;
        expect(percent, `${figure} on ${target.name}`).toBeCloseTo(change / 0.02 / cycles, 1);
        expect(target.sources[figure]).toMatchObject({ kind, source });
      }
      const sizes = list.map(({ percent }) => Math.abs(percent));
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    }
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
