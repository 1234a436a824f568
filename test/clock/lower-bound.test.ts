/** Bounds from below on a gather's clock: under every schedule's, and what they spare a search changes no choice. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  at,
  bindSizes,
  byteCount,
  cyclesOf,
  lowerBoundsOf,
  outputOf,
  type ResolvedSchedule,
  type Schedule,
  type Target,
  Tiling,
} from "../../ir/index.js";
import { withDefaults } from "../../passes/index.js";
import { compile, onnx, targets, tryCompile, type Func, type Kernel } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { textOf } from "../oracle/maps.js";
import { anyScheduledGather, longGather, scheduledGather } from "../support/arbitrary.js";
import { randomMap } from "../support/random-map.js";
import { runs } from "../support/runs.js";
import { parsed } from "../support/parsed.js";

const inPlace = [targets.webgpu, targets.cpu];

/** Of the gather of a kernel under its own schedule. */
const tilingFor = ({ access, target }: Kernel): Tiling =>
  new Tiling(access!, access!.schedule as ResolvedSchedule, target);

describe("the floor", () => {
  it("is under the clock of any schedule, whatever the tile and for the tile, and near enough to spare a search", () => {
    let [all, near, nearTile] = [0, 0, 0];
    fc.assert(
      fc.property(anyScheduledGather, ({ random: { func }, schedule, target: own }) => {
        for (const target of [own, targets.webgpu, targets.cpu])
          for (const residency of ["ub", "gm"] as const) {
            const result = tryCompile(func, { ...schedule, residency, target });
            if (!result.ok) continue;
            const { kernel } = result;
            const { cycles } = cyclesOf(kernel.tile, target);
            const tiling = tilingFor(kernel);
            const { tile, cores } = tiling.schedule;
            const { any, of } = lowerBoundsOf(tiling);
            // Before a search cuts the view into ones of whole tiles.
            const open = lowerBoundsOf(
              withDefaults({ ...kernel.access!, schedule: { cores } }, residency, target),
            );
            const { view } = tiling.schedule;
            const wholeTiles = tiling.extents.every(
              (extent, d) => at(view, d) >= extent || at(view, d) % at(tiling.tile, d) === 0,
            );
            for (const least of [any(), of(tile), open.any(), wholeTiles ? open.of(tiling.tile) : 0])
              expect(least).toBeLessThanOrEqual(cycles);
            if (target === own) continue;
            if (tiling.gather.operands.every(({ type }) => byteCount(type) > 0))
              expect(any()).toBeGreaterThan(0);
            all++;
            if (any() >= 0.8 * cycles) near++;
            if (of(tile) >= 0.95 * cycles) nearTile++;
          }
      }),
      { numRuns: runs(400) },
    );
    expect(all).toBeGreaterThan(runs(500));
    // Bounds that spare nothing would pass all the rest.
    expect(near).toBeGreaterThan(0.3 * all);
    expect(nearTile).toBeGreaterThan(0.3 * all);
  });

  it("is under the clock of what the search of a long gather chooses", () => {
    fc.assert(
      fc.property(longGather, ({ func }) => {
        for (const target of Object.values(targets))
          for (const residency of ["ub", "gm"] as const) {
            const result = tryCompile(func, { residency, target });
            if (!result.ok) continue;
            const tiling = tilingFor(result.kernel);
            const { any, of } = lowerBoundsOf(tiling);
            const { cycles } = cyclesOf(result.kernel.tile, target);
            expect(any()).toBeLessThanOrEqual(cycles);
            expect(of(tiling.schedule.tile)).toBeLessThanOrEqual(cycles);
          }
      }),
      { numRuns: runs(100) },
    );
  });
});

/** Rows of 64 of a table of 3000, 3000 of them; `row` is the coordinate that picks one, `column` that along it. */
const rowsBy = (row: string, column: string): Func =>
  parsed(`func @rows(%x: tensor<3000x64xf32>, %i: tensor<3000xi32>) -> tensor<3000x64xf32> {
  %y = access.gather %x, %i (d0, d1) -> (${row}, ${column}) {oob = clamp}
  return %y
}`);

describe("the floor of a map of any kind", () => {
  const isUnder = (func: Func, schedule: Schedule, target: Target): boolean => {
    const result = tryCompile(func, { ...schedule, target });
    if (!result.ok) return false;
    const tiling = tilingFor(result.kernel);
    const { any, of } = lowerBoundsOf(tiling);
    const { cycles } = cyclesOf(result.kernel.tile, target);
    expect(any()).toBeLessThanOrEqual(cycles);
    expect(of(tiling.schedule.tile)).toBeLessThanOrEqual(cycles);
    return true;
  };

  it("is under the clock where tiles step over elements, and where two coordinates follow one dim", () => {
    const step = parsed(`func @step(%x: tensor<1024x19xf32>, %i: tensor<1024xi32>) -> tensor<512x4xf32> {
  %y = access.gather %x, %i (d0, d1) -> (clamp(%i[2 * d0] in 1024), 6 * d1) {oob = clamp}
  return %y
}`);
    const diagonal =
      parsed(`func @diagonal(%x: tensor<512x512x9xf32>, %i: tensor<512x512xi32>) -> tensor<512x700xf32> {
  %y = access.gather %x, %i (d0, d1) -> (d0, d0, clamp(%i[d0, d0] in 9)) {oob = clamp}
  return %y
}`);
    let judged = 0;
    for (const target of inPlace)
      for (const residency of ["ub", "gm"] as const)
        for (const rows of [1, 2, 8, 64]) {
          for (const columns of [1, 2, 3, 4])
            if (isUnder(step, { tile: [rows, columns], residency }, target)) judged++;
          for (const columns of [1, 175, 368, 700])
            if (isUnder(diagonal, { tile: [rows, columns], residency }, target)) judged++;
        }
    expect(judged).toBeGreaterThan(80);
  });

  it("is under the clock where tiles read rows of two lengths, and lines are cut", () => {
    let judged = 0;
    for (const target of inPlace)
      for (const dtype of ["f32", "i64"] as const)
        for (const columns of [3, 8, 17, 24]) {
          const func = onnx.gather({ data: [dtype, [1, 5, columns]], indices: ["i64", [3]], axis: 0 });
          for (const residency of ["ub", "gm"] as const)
            for (let rows = 1; rows <= 5; rows++)
              for (const along of [1, 5, 7, columns])
                if (isUnder(func, { tile: [1, rows, along], residency, cores: 1 }, target)) judged++;
        }
    expect(judged).toBeGreaterThan(500);
  });

  it("is under the clock of random maps", () => {
    let judged = 0;
    for (let seed = 0; seed < 100; seed++) {
      const draw = drawer(seed);
      const map = randomMap(draw);
      if (map === undefined) continue;
      const found = bindSizes(parsed(textOf(map)), map.sizes);
      if (!found.ok) continue;
      const { shape } = outputOf(found.func).type;
      for (const target of inPlace)
        for (const residency of ["ub", "gm"] as const) {
          const tile = shape.map((extent) => 1 + draw(Math.max(1, extent)));
          if (isUnder(found.func, { tile, residency }, target)) judged++;
        }
    }
    expect(judged).toBeGreaterThan(150);
  });

  it("is that of the rows themselves, whatever sum picks them and whichever way they are read", () => {
    const floors = (func: Func, target: Target): number[] => {
      const tiling = tilingFor(compile(func, { tile: [100, 64], residency: "gm", target }));
      const { any, of } = lowerBoundsOf(tiling);
      return [any(), of([100, 64]), of([30, 16])];
    };
    for (const target of inPlace) {
      const expected = floors(rowsBy("%i[d0]", "d1"), target);
      expect(floors(rowsBy("clamp(%i[d0] + 1 in 3000)", "d1"), target)).toEqual(expected);
      expect(floors(rowsBy("clamp(%i[2999 - d0] in 3000)", "d1"), target)).toEqual(expected);
    }
  });
});

describe("residency auto", () => {
  const said = (func: Func, target: Target): string =>
    compile(func, { residency: "auto", target }).diagnostics.find(({ code }) => code === "TC907")!.message;

  it("takes what the searches of both residencies would have it take", () => {
    const taken = { ub: 0, gm: 0 };
    fc.assert(
      fc.property(
        fc.oneof(
          scheduledGather.map(({ random }) => random),
          longGather,
        ),
        ({ func }) => {
          for (const target of inPlace) {
            const [ub, gm, auto] = (["ub", "gm", "auto"] as const).map((residency) =>
              tryCompile({ ...func, schedule: {} }, { residency, target }),
            );
            if (ub?.ok !== true || gm?.ok !== true || auto?.ok !== true) continue;
            const [ofUb, ofGm] = [ub, gm].map(({ kernel }) => cyclesOf(kernel.tile, target).cycles);
            // As fast means within a hundredth where the clock is fitted (npm run bench:sweep).
            const better = ofGm! <= ofUb! * (target.kind === "cpu" ? 1.01 : 1) ? gm : ub;
            expect(auto.kernel.tile.schedule).toEqual(better.kernel.tile.schedule);
            taken[better === gm ? "gm" : "ub"]++;
          }
        },
      ),
      { numRuns: 300 },
    );
    expect(taken.gm).toBeGreaterThan(100);
    expect(taken.ub).toBeGreaterThan(1);
  });

  it("says what it spared itself to search as a bound, never as an estimate", () => {
    const func = onnx.gather({ data: ["f32", [4, 2]], indices: ["i32", [3]], axis: 0 });
    const [, floor] = /; ub: lower bound ([\d,]+) cycles$/.exec(said(func, targets.webgpu)) ?? [];
    const { cycles } = cyclesOf(
      compile(func, { residency: "ub", target: targets.webgpu }).tile,
      targets.webgpu,
    );
    const bound = Number(floor?.replaceAll(",", ""));
    expect(bound).toBeGreaterThan(2000);
    expect(bound).toBeLessThanOrEqual(cycles);
    expect(said(func, targets.webgpu)).toMatch(/^residency auto: gm, estimated \d+ cycles; /);
  });

  it("says the clock of both where it read both", () => {
    const target = targets.cpu;
    const func = onnx.gather({ data: ["f32", [12, 40]], indices: ["i64", [44]], axis: 0 });
    const [ub, gm] = (["ub", "gm"] as const).map(
      (residency) => cyclesOf(compile(func, { residency, target }).tile, target).cycles,
    );
    expect(said(func, target)).toBe(
      gm! <= 1.01 * ub!
        ? `residency auto: gm, estimated ${gm} cycles; ub: estimated ${ub} cycles`
        : `residency auto: ub, estimated ${ub} cycles; gm: estimated ${gm} cycles`,
    );
  });
});
