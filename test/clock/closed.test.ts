/** The closed form against the walk over every statement: the same result, field by field, and at what cost. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clocked } from "../../ir/clock/clock.js";
import { closed, tasksOf } from "../../ir/clock/closed.js";
import { planOf } from "../../ir/clock/plan.js";
import {
  cyclesOf,
  programLowering,
  walkOf,
  type Schedule,
  type Target,
  type TileFunc,
} from "../../ir/index.js";
import { compile, onnx, targets, tryCompile } from "../../src/index.js";
import { anyScheduledGather } from "../support/arbitrary.js";
import { randomTileProgram } from "../support/tile-programs.js";
import { runs } from "../support/runs.js";

function walked(func: TileFunc, target: Target) {
  const {
    events: _,
    waits: _w,
    dropped: _d,
    coreTotals: _c,
    outputTiles: _t,
    ...rest
  } = walkOf(func, target);
  const { lifetimes: _l, occupancy: _o, ...result } = rest;
  return result;
}

describe("the closed form", () => {
  it("is the walk, tick for tick, for random programs of every target", () => {
    let ran = 0;
    fc.assert(
      fc.property(anyScheduledGather, ({ random, schedule, target }) => {
        const result = tryCompile(random.func, { ...schedule, target });
        if (!result.ok) return;
        ran++;
        const { tile } = result.kernel;
        expect(planOf(tile)).toBeDefined();
        expect(cyclesOf(tile, target)).toEqual(walked(tile, target));
      }),
      { numRuns: runs(1000) },
    );
    expect(ran).toBeGreaterThan(runs(500));
  });

  it("is the walk for nests of loops written by hand, and the walk is taken where it does not apply", () => {
    const applied = { yes: 0, no: 0 };
    fc.assert(
      fc.property(randomTileProgram, (func) => {
        applied[planOf(func) === undefined ? "no" : "yes"]++;
        expect(cyclesOf(func, targets.ascendA2)).toEqual(walked(func, targets.ascendA2));
      }),
      { numRuns: runs(1500) },
    );
    expect(applied.yes).toBeGreaterThan(runs(700));
    expect(applied.no).toBeGreaterThan(runs(50));
  });

  it("is the walk for many tasks on many cores, with tails of tiles, of views and of both", () => {
    const size = fc.integer({ min: 1, max: 40 });
    const pair = fc.tuple(size, size);
    let ran = 0;
    fc.assert(
      fc.property(
        fc.record({
          extents: fc.tuple(fc.integer({ min: 40, max: 160 }), fc.integer({ min: 40, max: 160 })),
          tile: pair,
          view: fc.option(pair),
          order: fc.constantFrom([0, 1], [1, 0]),
          residency: fc.constantFrom("ub", "gm" as const),
          buffers: fc.constantFrom(1 as const, 2 as const),
          cores: fc.integer({ min: 1, max: 64 }),
          target: fc.constantFrom(...Object.values(targets)),
          elements: fc.boolean(),
        }),
        ({ extents, target, elements, view, ...schedule }) => {
          const op = elements
            ? onnx.gatherElements({ data: ["f16", extents], indices: ["i32", extents], axis: 0 })
            : onnx.gather({ data: ["f32", [30, extents[1]]], indices: ["i32", [extents[0]]], axis: 0 });
          const views = view === null ? {} : { view };
          const result = tryCompile(op, { ...schedule, ...views, target, profile: "head" });
          if (!result.ok) return;
          ran++;
          expect(cyclesOf(result.kernel.tile, target)).toEqual(walked(result.kernel.tile, target));
        },
      ),
      { numRuns: runs(400) },
    );
    expect(ran).toBeGreaterThan(runs(200));
  });

  it.each<[string, Schedule]>([
    ["two dims with tails", { tile: [100, 20], order: [0, 1] }],
    ["a slab for all indices", { tile: [100, 20], order: [1, 0] }],
    ["views that the tiles do not divide", { tile: [100, 20], view: [1030, 210] }],
    ["rows from global memory", { tile: [9, 700], residency: "gm", buffers: 2 }],
  ])("is the walk for thousands of tasks: %s", (_, schedule) => {
    const op = onnx.gather({ data: ["f32", [1000, 763]], indices: ["i32", [4099]], axis: 0 });
    const { tile, target } = compile(op, { ...schedule, target: targets.ascendA2 });
    expect(cyclesOf(tile, target)).toEqual(walked(tile, target));
  });

  it("takes a few more products for 500 times the tasks, and looks at no more cores than there are", () => {
    const costOf = (rows: number, columns: number, order: readonly number[]) => {
      const op = onnx.gather({ data: ["f32", [1000, columns]], indices: ["i32", [rows]], axis: 0 });
      const { tile, target } = compile(op, { tile: [100, 20], order, target: targets.ascendA2 });
      const plan = planOf(tile)!;
      const tasks = tasksOf(plan);
      return { tasks, ...closed(clocked(tile, target, tasks, programLowering(tile, target)), plan) };
    };
    // Parallel loops over tails in both dims; and a serial loop in each task.
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const small = costOf(4099, 763, order);
      const large = costOf(64 * 4099, 8 * 763, order);
      expect(large.tasks).toBeGreaterThan((order[0] === 0 ? 500 : 7) * small.tasks);
      // A body is squared once for each doubling, and multiplied once at most: six and three doublings, few bodies.
      expect(large.products - small.products).toBeLessThanOrEqual(2 * (6 + 3) * 2);
      expect(large.evaluated).toBeLessThanOrEqual(48);
    }
  });

  it("looks at one core where some core runs nothing but whole tiles", () => {
    const op = onnx.gatherElements({ data: ["f32", [32770, 64]], indices: ["i32", [32770, 64]], axis: 1 });
    const { tile, target } = compile(op, { tile: [14, 64], target: targets.ascendA2 });
    const plan = planOf(tile)!;
    const tasks = tasksOf(plan);
    expect(tasks).toBe(2341);
    expect(closed(clocked(tile, target, tasks, programLowering(tile, target)), plan).evaluated).toBe(1);
  });
});
