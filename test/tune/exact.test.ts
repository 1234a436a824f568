import { describe, expect, it } from "vitest";
import { cyclesOf, isResolved, targets, type ResolvedSchedule, type Shape } from "../../ir/index.js";
import { ScheduleSpace, withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { compile, tryCompile } from "../../src/api/compile.js";
import { onnx, pypto, tune, type SourceFunc } from "../../src/index.js";
import type { Candidate, TuneOptions } from "../../src/tune/index.js";
import { marksOf } from "../../src/tune/marks.js";

const target = targets.ascendA2;
const rows = onnx.gather({ data: ["f32", [14, 40]], indices: ["i32", [24]], axis: 0 });
const slab = onnx.gather({ data: ["f32", [9, 300]], indices: ["i32", [40]], axis: 1 });
const paired = pypto.gather({ input: ["f32", [20, 300]], index: ["i32", [20, 300]], dim: 1 });

const orders: readonly Shape[] = [
  [0, 1],
  [1, 0],
];

/** The fewest of what `figure` reads off every compiled schedule of two dims, stated one by one: nothing of the search is used. */
function least(func: SourceFunc, figure: (kernel: ReturnType<typeof compile>) => number): number {
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error("a gather");
  let best = Infinity;
  for (const residency of ["ub", "gm"] as const) {
    if (residency === "gm" && gather.sharedDims.length > 0) continue;
    const space = new ScheduleSpace(withDefaults(gather, residency, target));
    const along = (d: number): readonly number[] =>
      space.free.includes(d) ? space.entries(d) : [space.start.schedule.tile[d] ?? 1];
    for (const a of along(0))
      for (const b of along(1))
        for (const order of orders)
          for (const buffers of [1, 2] as const) {
            const result = tryCompile(func, { target, residency, tile: [a, b], order, buffers });
            if (result.ok && (result.kernel.footprint?.planned ?? 0) <= target.ubSafeBytes) {
              best = Math.min(best, figure(result.kernel));
            }
          }
  }
  return best;
}

describe("a search by what is exact", () => {
  for (const [name, func] of [
    ["rows", rows],
    ["a slab that indices share", slab],
    ["paired elements", paired],
  ] as const) {
    it(`finds nothing slower than the best of every stated schedule: ${name}`, async () => {
      const found = await tune(func, { target, budget: "all" });
      expect(found.best.cycles).toBeLessThanOrEqual(least(func, ({ tile }) => cyclesOf(tile, target).cycles));
      const limited = await tune(func, { target, budget: 50 });
      expect(limited.best.cycles).toBeLessThanOrEqual(1.01 * found.best.cycles);
    }, 60_000);
  }

  it("says cycles, bytes and UB that compiling the schedule gives", async () => {
    const { candidates: all } = await tune(slab, { target, budget: 40 });
    for (const candidate of all) {
      const kernel = compile(slab, { target, ...candidate.schedule });
      expect(cyclesOf(kernel.tile, target).cycles).toBe(candidate.cycles);
      expect(kernel.footprint?.planned).toBe(candidate.ubBytes);
    }
  });

  it("puts fewer bytes before fewer cycles where bytes are sought", async () => {
    const found = await tune(slab, { target, objective: "bytes", budget: "all" });
    expect(found.best.bytes).toBe(Math.min(...found.candidates.map(({ bytes }) => bytes)));
    const byCycles = await tune(slab, { target, objective: "cycles", budget: "all" });
    expect(found.best.bytes).toBeLessThanOrEqual(byCycles.best.bytes);
    expect(found.best.cycles).toBeGreaterThanOrEqual(byCycles.best.cycles);
  });

  it("accounts for every candidate", async () => {
    const { counts, candidates: costed, pruned, space } = await tune(rows, { target, budget: 30 });
    expect(costed).toHaveLength(30);
    expect(counts).toMatchObject({ estimated: 30, measured: 0, timeout: 0, wrong: 0, error: 0 });
    expect(counts.estimated + counts.pruned).toBe(space.schedules);
    expect(pruned).toHaveLength(space.schedules - 30);
    for (const { reason } of pruned) expect(reason).toMatch(/beyond the budget: estimated at \d+ cycles/);
    expect(new Set([...costed, ...pruned].map(({ id }) => id)).size).toBe(space.schedules);
  });

  it("keeps of refused tiles the smallest, which compiling refuses and no legal tile contains", async () => {
    const wide = onnx.gather({ data: ["f32", [64, 8192]], indices: ["i32", [4096]], axis: 1 });
    const { refused, counts, candidates: all, pruned } = await tune(wide, { target, budget: 5 });
    expect(refused.length).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThanOrEqual(refused.length);
    for (const [residency, buffers] of [
      ["ub", 1],
      ["gm", 1],
    ] as const) {
      const own = refused.filter((tile) => tile.residency === residency && tile.buffers === buffers);
      expect(own.some(({ tile }) => tile.every((entry, d) => entry <= [64, 4096][d]!))).toBe(true);
    }
    for (const { tile, residency, buffers, code, ubBytes, budget } of refused) {
      expect(ubBytes).toBeGreaterThan(budget);
      const result = tryCompile(wide, { target, tile, residency, buffers, ubBytes: budget });
      expect(result.ok).toBe(false);
      expect(["TC401", "TC905"]).toContain(code);
      for (const { schedule } of [...all, ...pruned]) {
        if (schedule.residency !== residency || schedule.buffers !== buffers) continue;
        expect(schedule.tile.every((entry, d) => entry >= (tile[d] ?? 0))).toBe(false);
      }
    }
  });

  it("searches what the program leaves open and nothing else", async () => {
    const pins: readonly [TuneOptions, (s: ResolvedSchedule) => unknown, unknown][] = [
      [{ residency: "gm" }, (s) => s.residency, "gm"],
      [{ order: [1, 0] }, (s) => s.order.join(), "1,0"],
      [{ buffers: 1 }, (s) => s.buffers, 1],
      [{ tile: [4, 10], view: [9, 20] }, (s) => `${s.tile.join()} ${s.view.join()}`, "4,10 9,20"],
      [{ cores: 7 }, (s) => s.cores, 7],
    ];
    for (const [pin, read, wanted] of pins) {
      const found = await tune(slab, { target, budget: "all", ...pin });
      expect(found.candidates.length).toBeGreaterThan(1);
      expect(new Set(found.candidates.map(({ schedule }) => read(schedule)))).toEqual(new Set([wanted]));
    }
    const open = await tune(slab, { target, budget: "all" });
    const distinct = (read: (s: ResolvedSchedule) => unknown): number =>
      new Set(open.candidates.map(({ schedule }) => read(schedule))).size;
    expect(distinct((s) => s.residency)).toBe(2);
    expect(distinct((s) => s.order.join())).toBe(2);
    expect(distinct((s) => s.buffers)).toBe(2);
    expect(distinct((s) => s.view.join())).toBeGreaterThan(1);
  });

  it("takes a target's residency for a default and not for a pin", async () => {
    const table = onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 });
    expect(tryCompile(table, { target }).ok).toBe(false);
    const found = await tune(table, { target, budget: 10 });
    expect(found.best.schedule.residency).toBe("gm");
  });

  it.each<readonly [string, SourceFunc]>([
    ["rows of a table", onnx.gather({ data: ["f32", [50257, 64]], indices: ["i32", [16]], axis: 0 })],
    [
      "pypto.scatter",
      pypto.scatter({
        ...{ input: ["f32", [60_000, 8]], index: ["i64", [4, 8]], src: ["f32", [4, 8]] },
        ...{ dim: 0, reduce: "none" },
      }),
    ],
  ])("names no default where the compiler refuses the program: %s", async (_, func) => {
    const refused = tryCompile(func, { target });
    const found = await tune(func, { target, budget: 3 });
    expect(refused.ok ? [] : refused.diagnostics.map(({ code }) => code)).toEqual(["TC402"]);
    expect(found.refusal?.code).toBe("TC402");
    expect(found.default.schedule).toEqual(compile(func, { target, residency: "auto" }).tile.schedule);
    expect(found.verdict).toMatch(/ that of residency auto, /);
    expect(found.verdict).not.toContain("default");
    expect(marksOf(found.default, found)).toContain("auto");
    const stated = await tune(func, { target, budget: 3, residency: "auto" });
    expect([stated.refusal, stated.verdict.includes("the default")]).toEqual([undefined, true]);
  });

  it("refuses what has no legal tile, and tile programs", async () => {
    await expect(tune(paired, { target, ubBytes: 64 })).rejects.toMatchObject({
      diagnostics: [{ code: "TC402" }],
    });
    await expect(tune(compile(rows, { target, residency: "gm" }).tile, { target })).rejects.toMatchObject({
      diagnostics: [{ code: "TC702" }],
    });
    await expect(tune(rows, { target, objective: "ms" })).rejects.toMatchObject({
      diagnostics: [{ code: "TC702" }],
    });
  });

  it("refuses options that it does not take, at once", async () => {
    const wrong: readonly [object, RegExp][] = [
      [{ objective: "speed" }, /objective is "speed"/],
      [{ budget: 0 }, /budget is 0/],
      [{ budget: "some" }, /budget is "some"/],
      [{ seed: 1.5 }, /seed is 1.5/],
      [{ shard: { part: 3, parts: 2 } }, /shard/],
      [{ cached: [] }, /cached/],
      [{ objective: "ms", measure: "sim" }, /measure is "sim"/],
      [{ budgets: 3 }, /budgets/],
    ];
    for (const [options, what] of wrong) {
      await expect(tune(rows, { target, ...options })).rejects.toThrow(what);
    }
    await expect(tune({} as SourceFunc)).rejects.toMatchObject({ diagnostics: [{ code: "TC702" }] });
  });

  it("spends a tenth of its budget on whole numbers beside entries of the best tiles, whatever the seed", async () => {
    const idsOf = async (seed: number): Promise<readonly string[]> =>
      (await tune(rows, { target, budget: 50, seed })).candidates.map(({ id }) => id);
    expect(await idsOf(3)).toEqual(await idsOf(4));
    const { candidates, pruned } = await tune(rows, { target, budget: 50 });
    const beside = candidates.filter((candidate) => candidate.beside);
    expect(candidates).toHaveLength(50);
    expect(beside).toHaveLength(5);
    const grid = [...candidates, ...pruned].filter((candidate) => !candidate.beside);
    for (const { schedule } of beside) {
      const near = grid.some(({ schedule: { tile } }) => {
        const away = tile.map((entry, d) => Math.abs(entry - (schedule.tile[d] ?? NaN)));
        return away.filter((by) => by > 0).length === 1 && Math.max(...away) <= 2;
      });
      expect(near, schedule.tile.join()).toBe(true);
    }
  });

  it("splits one list among shards, each with the default, and together finds the same best", async () => {
    const whole = await tune(rows, { target, budget: 40 });
    for (const parts of [2, 3]) {
      const shards: (readonly Candidate[])[] = [];
      for (let part = 1; part <= parts; part++) {
        const found = await tune(rows, { target, budget: 40, shard: { part, parts } });
        expect(found.counts.pruned).toBe(whole.counts.pruned);
        shards.push(found.candidates);
      }
      const ids = shards.flat().map(({ id }) => id);
      expect(new Set(ids)).toEqual(new Set(whole.candidates.map(({ id }) => id)));
      expect(ids).toHaveLength(40 + parts - 1);
    }
  });

  it("takes known costs without reading the clock again, and reports the rest as it comes", async () => {
    const first: string[] = [];
    const whole = await tune(rows, { target, budget: 20, onCandidate: ({ id }) => first.push(id) });
    expect(first).toHaveLength(20);
    const known = new Map(
      whole.candidates.slice(0, 15).map((candidate) => [candidate.id, { cost: candidate }]),
    );
    const again: string[] = [];
    const resumed = await tune(rows, {
      target,
      budget: 20,
      cached: known,
      onCandidate: ({ id }) => again.push(id),
    });
    expect(again).toHaveLength(5);
    expect(resumed.candidates).toEqual(whole.candidates);
  });

  it("resolves with what it has when it is aborted", async () => {
    const stop = new AbortController();
    const found = await tune(rows, {
      target,
      budget: "all",
      signal: stop.signal,
      onProgress: (done) => {
        if (done === 3) stop.abort();
      },
    });
    expect(found.complete).toBe(false);
    expect(found.candidates).toHaveLength(3);
    await expect(tune(rows, { target, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  it("writes every schedule down in full", async () => {
    const { candidates: all } = await tune(rows, { target, budget: 10 });
    for (const { schedule } of all) expect(isResolved(schedule)).toBe(true);
  });
});
