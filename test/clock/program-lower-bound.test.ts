/** The least cycles of a program: under the clock of every legal schedule on its target, and near those that are good. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  defined,
  bindSizes,
  byteCount,
  cyclesOf,
  outputOf,
  programLowerBound,
  type ResolvedSchedule,
  type Schedule,
  type Target,
  Tiling,
} from "../../ir/index.js";
import { targets, tryCompile, type Func, type Kernel } from "../../src/index.js";
import { drawer, type Draw } from "../fuzz/mutate.js";
import { textOf } from "../oracle/maps.js";
import { anyScheduledGather, longGather } from "../support/arbitrary.js";
import { randomMap } from "../support/random-map.js";
import { randomPages } from "../support/random-pages.js";
import { randomSum } from "../support/random-sum.js";
import { randomValue } from "../support/random-value.js";
import { runs } from "../support/runs.js";
import { parsed } from "../support/parsed.js";

const all = Object.values(targets);

const floorFor = ({ access, target }: Kernel) =>
  programLowerBound(new Tiling(access!, access!.schedule as ResolvedSchedule, target));

/** Whether the schedule is legal; then its clock is judged. */
function isOver(func: Func, schedule: Schedule, target: Target): boolean {
  const result = tryCompile(func, { ...schedule, target });
  if (!result.ok) return false;
  const { kernel } = result;
  const { cycles, limit } = floorFor(kernel);
  expect(cycles).toBeLessThanOrEqual(cyclesOf(kernel.tile, kernel.target).cycles);
  if (target.kind === "ascend") expect(limit).not.toBe("launch");
  else expect(limit).not.toBe("dma");
  return true;
}

describe("the floor of a program", () => {
  it("is under the clock of every schedule, the same for all of them but for cores and UB", () => {
    let judged = 0;
    fc.assert(
      fc.property(anyScheduledGather, ({ random: { func }, schedule }) => {
        const { cores, ubBytes } = schedule;
        const given = {
          ...defined({ cores, ubBytes }),
        };
        for (const target of all)
          for (const residency of ["ub", "gm"] as const) {
            if (!isOver(func, { ...schedule, residency }, target)) continue;
            judged++;
            const own = tryCompile(func, { ...schedule, residency, target });
            const free = tryCompile(func, { ...given, residency, target });
            if (own.ok && free.ok) expect(floorFor(own.kernel)).toEqual(floorFor(free.kernel));
          }
      }),
      { numRuns: runs(300) },
    );
    expect(judged).toBeGreaterThan(runs(300));
  });

  const drawn: readonly (readonly [string, (draw: Draw) => Func | undefined])[] = [
    [
      "maps of any kind",
      (draw) => {
        const map = randomMap(draw);
        if (map === undefined) return undefined;
        const found = bindSizes(parsed(textOf(map)), map.sizes);
        return found.ok ? found.func : undefined;
      },
    ],
    ["pages", (draw) => parsed(textOf(randomPages(draw)))],
    ["values", (draw) => parsed(randomValue(draw).text)],
    ["sums", (draw) => parsed(randomSum(draw).text)],
  ];
  it.each(drawn)("is under the clock of %s", (_, made) => {
    let judged = 0;
    for (let seed = 0; seed < runs(60); seed++) {
      const draw = drawer(seed);
      const func = made(draw);
      if (func === undefined) continue;
      const { shape } = outputOf(func).type;
      const most = func.level === "access" ? (func.map.reduced?.max ?? 0) : 0;
      const terms = most === 0 || draw(2) === 0 ? [] : [1 + draw(most)];
      for (const target of all)
        for (const residency of ["ub", "gm"] as const) {
          const tile = [...shape.map((extent) => 1 + draw(Math.max(1, extent))), ...terms];
          if (isOver(func, { tile, residency }, target)) judged++;
        }
      // What a search finds comes nearer.
      if (isOver(func, { residency: "auto" }, all[seed % all.length]!)) judged++;
    }
    expect(judged).toBeGreaterThan(runs(100));
  });

  it("is near the default's clock, so that it says something", () => {
    let [near, within] = [0, 0];
    fc.assert(
      fc.property(longGather, ({ func }) => {
        for (const target of all) {
          const result = tryCompile(func, { target, residency: "auto" });
          if (!result.ok || result.kernel.access!.operands.some(({ type }) => byteCount(type) === 0))
            continue;
          const { cycles } = cyclesOf(result.kernel.tile, target);
          within++;
          if (floorFor(result.kernel).cycles >= 0.6 * cycles) near++;
        }
      }),
      { numRuns: runs(100) },
    );
    expect(near).toBeGreaterThan(0.5 * within);
  });
});
