/** Bounds from below on a gather's clock: under every schedule's, and what they spare a search changes no choice. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  byteCount,
  cyclesOf,
  floorOf,
  outputOf,
  type ResolvedSchedule,
  type Target,
  Tiling,
} from "../../ir/index.js";
import { withDefaults } from "../../passes/index.js";
import { compile, onnx, targets, tryCompile, type Func, type Kernel } from "../../src/index.js";
import { longGather, randomSchedule, scheduledGather } from "../support/arbitrary.js";

const inPlace = [targets.webgpu, targets.cpu];

/** Sizes at which cores and caches fill. */
const wider = longGather.chain((random) =>
  randomSchedule(outputOf(random.func).type.shape.length).map((choice) => ({ random, ...choice })),
);

/** Of the gather of a kernel under its own schedule. */
const tilingFor = ({ access, target }: Kernel): Tiling =>
  new Tiling(access!, access!.schedule as ResolvedSchedule, target);

describe("the floor", () => {
  it("is under the clock of any schedule, whatever the tile and for the tile, and near enough to spare a search", () => {
    let [all, near, nearTile] = [0, 0, 0];
    fc.assert(
      fc.property(fc.oneof(scheduledGather, wider), ({ random: { func }, schedule, target: own }) => {
        for (const target of [own, targets.webgpu, targets.cpu])
          for (const residency of ["ub", "gm"] as const) {
            const result = tryCompile(func, { ...schedule, residency, target });
            if (!result.ok) continue;
            const { kernel } = result;
            const { cycles } = cyclesOf(kernel.tile, target);
            const tiling = tilingFor(kernel);
            const { tile, cores } = tiling.schedule;
            const { any, of } = floorOf(tiling);
            // Before a search splits the view.
            const open = floorOf(withDefaults({ ...kernel.access!, schedule: { cores } }, residency, target));
            for (const least of [any(), of(tile), open.any(), open.of(tiling.tile)])
              expect(least).toBeLessThanOrEqual(cycles);
            if (target === own) continue;
            if (tiling.gather.operands.every(({ type }) => byteCount(type) > 0))
              expect(any()).toBeGreaterThan(0);
            all++;
            if (any() >= 0.8 * cycles) near++;
            if (of(tile) >= 0.95 * cycles) nearTile++;
          }
      }),
      { numRuns: 400 },
    );
    expect(all).toBeGreaterThan(500);
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
            const { any, of } = floorOf(tiling);
            const { cycles } = cyclesOf(result.kernel.tile, target);
            expect(any()).toBeLessThanOrEqual(cycles);
            expect(of(tiling.schedule.tile)).toBeLessThanOrEqual(cycles);
          }
      }),
      { numRuns: 100 },
    );
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
    expect(taken.ub).toBeGreaterThan(3);
  });

  it("says what it spared itself to search as a bound, never as an estimate", () => {
    const func = onnx.gather({ data: ["f32", [4, 2]], indices: ["i32", [3]], axis: 0 });
    const [, floor] = / against at least (\d+) with ub$/.exec(said(func, targets.webgpu)) ?? [];
    const { cycles } = cyclesOf(
      compile(func, { residency: "ub", target: targets.webgpu }).tile,
      targets.webgpu,
    );
    expect(Number(floor)).toBeGreaterThan(2000);
    expect(Number(floor)).toBeLessThanOrEqual(cycles);
    expect(said(func, targets.webgpu)).toMatch(/^residency auto: gm, estimated \d+ cycles against/);
  });

  it("says the clock of both where it read both", () => {
    const target = targets.cpu;
    const func = onnx.gather({ data: ["f32", [12, 40]], indices: ["i64", [44]], axis: 0 });
    const [ub, gm] = (["ub", "gm"] as const).map(
      (residency) => cyclesOf(compile(func, { residency, target }).tile, target).cycles,
    );
    expect(said(func, target)).toBe(
      gm! <= 1.01 * ub!
        ? `residency auto: gm, estimated ${gm} cycles against ${ub} with ub`
        : `residency auto: ub, estimated ${ub} cycles against ${gm} with gm`,
    );
  });
});
