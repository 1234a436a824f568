/** The compiler's own schedule against every candidate, under the clock. */
import { describe, expect, it } from "vitest";
import { cyclesOf, type Func, type Tiling } from "../../ir/index.js";
import { candidates, clockOf, fits, variants, withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { compile, onnx, pypto, targets } from "../../src/index.js";

const target = targets.ascendA2;

/** The fewest cycles of all candidates. */
function fewest(func: Func): number {
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error("a source program has an access level");
  let best = Infinity;
  for (const residency of ["ub", "gm"] as const) {
    if (residency === "gm" && gather.paired.length > 0) continue;
    const { start, free, entries } = candidates(withDefaults(gather, residency, target));
    const visit = (tiling: Tiling, k: number): void => {
      if (!fits(tiling, target.ubSafeBytes)) return;
      const d = free[k];
      if (d === undefined) {
        for (const variant of variants(tiling, target.ubSafeBytes))
          best = Math.min(best, clockOf(variant).cycles);
        return;
      }
      for (const entry of entries.get(d) ?? []) {
        visit(tiling.with({ tile: tiling.schedule.tile.map((old, e) => (e === d ? entry : old)) }), k + 1);
      }
    };
    visit(start, 0);
  }
  return best;
}

const gathers: readonly (readonly [string, Func])[] = [
  ["rows of an embedding", onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 })],
  [
    "rows of 16 bytes",
    onnx.gather({ data: ["f32", [1_000_000, 4]], indices: ["i32", [1_000_000]], axis: 0 }),
  ],
  ["columns", onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 })],
  [
    "elements along long rows",
    onnx.gatherElements({ data: ["f32", [32768, 1024]], indices: ["i32", [32768, 1024]], axis: 1 }),
  ],
  [
    "elements along short columns",
    onnx.gatherElements({ data: ["f32", [64, 16384]], indices: ["i32", [64, 16384]], axis: 0 }),
  ],
  [
    "clamped columns",
    pypto.gather({ input: ["f32", [300, 4000]], index: ["i32", [300, 4000]], dim: 0, oob: "clamp" }),
  ],
  ["a line", onnx.gather({ data: ["f32", [16384]], indices: ["i32", [1_000_000]], axis: 0 })],
];

describe("the chosen schedule", () => {
  it.each(gathers)("of %s is within a fiftieth of the best candidate", (_, func) => {
    const { tile } = compile(func, { target, residency: "auto" });
    expect(cyclesOf(tile, target).cycles).toBeLessThanOrEqual(1.02 * fewest(func));
  });

  it("knows two buffers, whole rows for every core and views that split the indices", () => {
    const scheduleOf = (name: string) => {
      const func = gathers.find(([known]) => known === name)?.[1];
      if (func === undefined) throw new Error(`no gather ${name}`);
      return compile(func, { target, residency: "auto" }).tile.schedule;
    };
    expect(scheduleOf("elements along long rows")).toMatchObject({ buffers: 2, residency: "ub" });
    const { view } = scheduleOf("a line");
    expect(Math.ceil(1_000_000 / view![0]!)).toBeGreaterThan(40);
  });

  it("keeps the tile that the user states, with the plain defaults beside it", () => {
    const func = onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 });
    const { schedule } = compile(func, { target, tile: [4, 256] }).tile;
    expect(schedule).toMatchObject({ tile: [4, 256], buffers: 1, view: [4096, 256], residency: "ub" });
  });

  it("keeps the buffers, the view and the order that the user states", () => {
    const func = onnx.gather({ data: ["f32", [1000, 768]], indices: ["i32", [4096]], axis: 0 });
    const stated = { buffers: 1, view: [1024, 768], order: [0, 1] } as const;
    expect(compile(func, { target, ...stated }).tile.schedule).toMatchObject(stated);
  });
});

describe("candidates", () => {
  it("grow with the logarithm of an extent: a few for each doubling", () => {
    for (const extent of [2 ** 10, 2 ** 20, 2 ** 30]) {
      const func = onnx.gather({ data: ["f32", [4]], indices: ["i32", [extent]], axis: 0 });
      const gather = accessOf(func, { target });
      const { entries } = candidates(withDefaults(gather!, "ub", target));
      const all = entries.get(0)!;
      expect(all.length).toBeLessThanOrEqual(2 * Math.log2(extent) + 16);
      expect(all[all.length - 1]).toBe(extent);
      expect([...all].sort((a, b) => a - b)).toEqual(all);
    }
  });

  it("are whole numbers where a block holds half an element", () => {
    const func = onnx.gather({ data: ["u64", [20]], indices: ["i32", [100]], axis: 0 });
    for (const on of Object.values(targets)) {
      const { entries } = candidates(withDefaults(accessOf(func, { target: on })!, "gm", on));
      expect(entries.get(0)!.every(Number.isInteger)).toBe(true);
    }
  });
});
