/** The bound from below on a staged gather's clock: under every schedule's, and what spares `auto` a search changes no choice. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteCount, cyclesOf, leastCycles, type Target } from "../../ir/index.js";
import { withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { compile, onnx, targets, tryCompile, type Func } from "../../src/index.js";
import { longGather, scheduledGather } from "../support/arbitrary.js";

const inPlace = [targets.webgpu, targets.cpu];

describe("the least cycles of a staged gather", () => {
  it("are at most those of any schedule of it, and 0 only where an operand is empty", () => {
    let [staged, near] = [0, 0];
    fc.assert(
      fc.property(scheduledGather, ({ random: { func }, schedule }) => {
        for (const target of inPlace) {
          const result = tryCompile(func, { ...schedule, residency: "ub", target });
          if (!result.ok) continue;
          const { tile, access } = result.kernel;
          const { cycles } = cyclesOf(tile, target);
          const least = leastCycles(withDefaults(access!, "ub", target));
          expect(least).toBeLessThanOrEqual(cycles);
          if (tile.operands.every(({ type }) => byteCount(type) > 0)) expect(least).toBeGreaterThan(0);
          staged++;
          if (least >= 0.75 * cycles) near++;
        }
      }),
      { numRuns: 600 },
    );
    expect(staged).toBeGreaterThan(400);
    // A bound that spares nothing would pass all the rest.
    expect(near).toBeGreaterThan(0.25 * staged);
  });

  it("are at most those of the best schedule of long gathers", () => {
    fc.assert(
      fc.property(longGather, ({ func }) => {
        for (const target of inPlace) {
          const result = tryCompile(func, { residency: "ub", target });
          if (!result.ok) continue;
          const { tile, access } = result.kernel;
          expect(leastCycles(withDefaults(access!, "ub", target))).toBeLessThanOrEqual(
            cyclesOf(tile, target).cycles,
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it("are not known where the data stays in place, or where a core has nothing but its buffer", () => {
    const func = onnx.gather({ data: ["f32", [64, 16]], indices: ["i32", [32]], axis: 0 });
    for (const [target, residency] of [
      [targets.webgpu, "gm"],
      [targets.ascendA2, "ub"],
    ] as const)
      expect(leastCycles(withDefaults(accessOf(func, { target })!, residency, target))).toBe(0);
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
    const func = onnx.gather({ data: ["f32", [48, 64]], indices: ["i32", [512]], axis: 0 });
    const target = targets.cpu;
    const [ub, gm] = (["ub", "gm"] as const).map(
      (residency) => cyclesOf(compile(func, { residency, target }).tile, target).cycles,
    );
    expect(said(func, target)).toBe(
      ub! < gm!
        ? `residency auto: ub, estimated ${ub} cycles against ${gm} with gm`
        : `residency auto: gm, estimated ${gm} cycles against ${ub} with ub`,
    );
  });
});
