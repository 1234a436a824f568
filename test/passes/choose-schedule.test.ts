/** The compiler's own schedule against every candidate, under the clock. */
import { describe, expect, it } from "vitest";
import { grid, residenciesOf } from "../../bench/grid.js";
import {
  cyclesOf,
  elementCount,
  estimatesOfTile,
  ubBuffers,
  type AccessFunc,
  type Func,
} from "../../ir/index.js";
import { chooseSchedule, clockOf, ScheduleSpace, withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { compile, legalTiles, onnx, pypto, targets, tryCompile, type Target } from "../../src/index.js";
import { sizedGathers } from "../../bench/sized-gathers.js";
import { parsed } from "../support/parsed.js";

const target = targets.ascendA2;

/** The gather of a source program. */
function gatherOf(func: Func, on: Target): AccessFunc {
  const gather = accessOf(func, { target: on });
  if (gather === undefined) throw new Error("a source program has an access level");
  return gather;
}

/** The fewest cycles of all candidates. */
function fewest(func: Func): number {
  const gather = gatherOf(func, target);
  let best = Infinity;
  for (const residency of residenciesOf(gather, target))
    for (const tiling of grid(gather, residency, target)) best = Math.min(best, clockOf(tiling).cycles);
  return best;
}

/** The fewest cycles of the candidates that the estimate (test/clock/estimate.test.ts) has for the best. */
function fewestEstimated(gather: AccessFunc, residency: "ub" | "gm", on: Target): number | undefined {
  const all = [...grid(gather, residency, on)].map((tiling) => ({
    tiling,
    estimate: estimatesOfTile()(tiling),
  }));
  if (all.length === 0) return undefined;
  all.sort((a, b) => a.estimate - b.estimate);
  return Math.min(...all.slice(0, 20).map(({ tiling }) => clockOf(tiling).cycles));
}

const chosenCycles = (gather: AccessFunc, residency: "ub" | "gm", on: Target): number =>
  clockOf(chooseSchedule(withDefaults(gather, residency, on))!).cycles;

const filled =
  parsed(`func @g(%data: tensor<1873x1312xf16>, %i: tensor<10251x1312xi32>) -> tensor<10251x1312xf16> {
    %output = access.gather %data, %i (d0, d1) -> (%i[d0, d1], d1) {oob = fill}
    return %output
  }`);

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

  it.each([targets.ascendA2, targets.ascend950, targets.webgpu, targets.cpu])(
    "of 29 gathers in 30 is within a fiftieth of the best candidate, for each residency of $name",
    (on) => {
      const ratios = sizedGathers(40, 11).flatMap((func) => {
        const gather = gatherOf(func, on);
        return residenciesOf(gather, on).flatMap((residency) => {
          const best = fewestEstimated(gather, residency, on);
          return best === undefined ? [] : [chosenCycles(gather, residency, on) / best];
        });
      });
      expect(ratios.length).toBeGreaterThan(40);
      expect(ratios.filter((ratio) => ratio > 1.02).length).toBeLessThanOrEqual(ratios.length / 30);
      expect(Math.max(...ratios)).toBeLessThan(1.5);
    },
  );

  it("takes the view and tile with the fewest cycles: 32 slabs on 48 cores", () => {
    const func = onnx.gather({
      data: ["f16", [32, 500, 48]],
      indices: ["i32", [900]],
      axis: 1,
      oob: "clamp",
    });
    const chosen = chosenCycles(gatherOf(func, target), "ub", target);
    for (const [tile, most] of [
      [[1, 150, 48], 1],
      [[2, 75, 48], 0.95],
    ] as const) {
      const other = compile(func, { target, residency: "ub", tile, view: [32, 300, 48] });
      expect(chosen, tile.join()).toBeLessThan(most * cyclesOf(other.tile, target).cycles);
    }
  });

  it("trades one dim for another where neither alone gets further: clamped columns on cpu", () => {
    const func = pypto.gather({
      input: ["f32", [300, 4000]],
      index: ["i32", [300, 1000]],
      dim: 0,
      oob: "clamp",
    });
    const gather = gatherOf(func, targets.cpu);
    const [ub, gm] = (["ub", "gm"] as const).map((residency) => chosenCycles(gather, residency, targets.cpu));
    const best = fewestEstimated(gather, "gm", targets.cpu)!;
    // A hundredth counts as as fast on cpu, and the later residency takes less of UB.
    expect(gm).toBeLessThanOrEqual(1.01 * best);
    expect(gm).toBeLessThanOrEqual(1.01 * ub!);
    const { schedule } = compile(func, { target: targets.cpu, residency: "auto" }).tile;
    expect(schedule.residency).toBe("gm");
  });

  it("is no worse for the tiles that a bound leaves out: filled halves on webgpu", () => {
    const gather = gatherOf(filled, targets.webgpu);
    const best = fewestEstimated(gather, "gm", targets.webgpu)!;
    expect(chosenCycles(gather, "gm", targets.webgpu)).toBeLessThanOrEqual(1.005 * best);
  });

  it.each([
    ["filled halves", filled],
    ["rows", onnx.gather({ data: ["i64", [8192, 1040]], indices: ["i32", [192]], axis: 0 })],
    ["columns", onnx.gather({ data: ["f16", [362, 4]], indices: ["i32", [312]], axis: 1 })],
  ] as const)(
    "of %s is within a tenth of whatever legal lists, which is no longer than its task",
    (_, func) => {
      const on = targets.webgpu;
      for (const residency of ["gm", "auto"] as const) {
        const { tiles } = legalTiles(func, { target: on, residency });
        const own = tiles.find((tile) => tile.default)!;
        expect(tiles.length).toBeGreaterThan(2);
        expect(own.cycles).toBeLessThanOrEqual(1.1 * tiles[0]!.cycles);
        for (const { tile } of tiles) expect(elementCount(tile)).toBeLessThanOrEqual(on.directElements);
      }
    },
  );

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

  it("keeps the tile that the user states, with the plain defaults and the best buffers beside it", () => {
    const func = onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 });
    const { schedule } = compile(func, { target, tile: [4, 256] }).tile;
    expect(schedule).toMatchObject({ tile: [4, 256], buffers: 2, view: [4096, 256], residency: "ub" });
  });

  it("keeps one copy of an output that the parts of a sum write, whatever buffers ask for", () => {
    const sum = parsed(`func @f(%q: tensor<6x12xf16>, %i: tensor<2x4xi32>) -> tensor<2x12xf32> {
  %y = access.gather %q, %i (d0, d1; r < 4) let t = clamp(%i[d0, r] in 6) yield fold(f32(%q[t, d1])) {oob = clamp}
  return %y
}`);
    const copies = (terms: number): readonly number[] =>
      [
        ...ubBuffers(
          compile(sum as AccessFunc, { target, tile: [2, 6, terms], residency: "gm", buffers: 2 }).tile,
        ).values(),
      ]
        .filter(({ name }) => name === "y_ub")
        .map(({ buffers }) => buffers);
    expect([copies(1), copies(3), copies(4)]).toEqual([[1], [1], [2]]);
  });

  it("takes, beside a tile that the user states, as few cycles as any buffers that fit the safe size", () => {
    let doubles = 0;
    for (const func of sizedGathers(25, 7)) {
      for (const residency of residenciesOf(gatherOf(func, target), target)) {
        const found = tryCompile(func, { target, residency });
        if (!found.ok) continue;
        const { tile } = found.kernel.tile.schedule;
        // Another tile than the chosen one, whose buffers were weighed with it.
        const stated = tile!.map((entry, d) => (d === tile!.length - 1 ? Math.ceil(entry / 2) : entry));
        const own = tryCompile(func, { target, residency, tile: stated });
        if (!own.ok) continue;
        const all = ([1, 2, { indices: 2, output: 2 }, { data: 2 }, { output: 2 }, { indices: 2 }] as const)
          .map((buffers) => tryCompile(func, { target, residency, tile: stated, buffers }))
          .flatMap((other) => (other.ok ? [other.kernel] : []))
          .filter(({ footprint }) => Math.max(footprint!.bytes, footprint!.planned) <= target.ubSafeBytes);
        const cycles = cyclesOf(own.kernel.tile, target).cycles;
        expect(cycles).toBe(Math.min(...all.map((other) => cyclesOf(other.tile, target).cycles)));
        if (own.kernel.tile.schedule.buffers !== 1) doubles++;
      }
    }
    expect(doubles).toBeGreaterThan(10);
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
      const all = new ScheduleSpace(withDefaults(gather!, "ub", target)).entries(0);
      expect(all.length).toBeLessThanOrEqual(2 * Math.log2(extent) + 16);
      expect(all[all.length - 1]).toBe(extent);
      expect([...all].sort((a, b) => a - b)).toEqual(all);
    }
  });

  it("are whole numbers where a block holds half an element", () => {
    const func = onnx.gather({ data: ["u64", [20]], indices: ["i32", [100]], axis: 0 });
    for (const on of Object.values(targets)) {
      const space = new ScheduleSpace(withDefaults(accessOf(func, { target: on })!, "gm", on));
      expect(space.entries(0).length).toBeGreaterThan(0);
      expect(space.entries(0).every(Number.isInteger)).toBe(true);
    }
  });
});

describe("the residency that is left open", () => {
  it.each([targets.webgpu, targets.ascendA2, targets.ascend950, targets.cpu])(
    "takes at most a fiftieth longer than the faster of both on $name",
    (on) => {
      for (const func of sizedGathers(40, 12)) {
        const cyclesWith = (residency: "auto" | "ub" | "gm"): number => {
          const result = tryCompile(func, { target: on, residency });
          return result.ok ? cyclesOf(result.kernel.tile, on).cycles : Infinity;
        };
        const stated = Math.min(cyclesWith("ub"), cyclesWith("gm"));
        expect(cyclesWith("auto") / stated).toBeLessThanOrEqual(1.02);
      }
    },
  );
});
