/** The estimate against the clock: what ranks the schedules of a search must rank them as the clock does. */
import { describe, expect, it } from "vitest";
import { estimatesOfTile, gmAllowed, isLegal, type Tiling } from "../../ir/index.js";
import { clockOf, ScheduleSpace, withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { targets, type Target } from "../../src/index.js";
import { sizedGathers } from "../../bench/sized-gathers.js";

/** Some schedules of each gather: every combination of two entries of each dim, with all that a tile leaves open. */
function* schedulesOn(target: Target): Generator<Tiling> {
  for (const func of sizedGathers(24, 5)) {
    const gather = accessOf(func, { target })!;
    for (const residency of ["ub", "gm"] as const) {
      if (residency === "gm" && !gmAllowed(gather, target)) continue;
      const space = new ScheduleSpace(withDefaults(gather, residency, target), target.ubSafeBytes);
      const { start, free } = space;
      let tiles = [start.schedule.tile];
      for (const d of free) {
        const all = space.entries(d);
        const some = [all[Math.floor(all.length / 4)]!, all[Math.floor((2 * all.length) / 3)]!];
        tiles = tiles.flatMap((tile) => some.map((n) => tile.map((entry, e) => (e === d ? n : entry))));
      }
      for (const tile of tiles) {
        const tiling = start.with({ tile });
        if (isLegal(tiling)) yield* space.schedules(tiling);
      }
    }
  }
}

describe("the estimate", () => {
  it.each([targets.ascendA2, targets.ascend950, targets.webgpu, targets.cpu])(
    "is the clock within a hundredth for eight schedules of nine, on $name",
    (target) => {
      const off = [...schedulesOn(target)].map((tiling) =>
        Math.abs(Math.log(estimatesOfTile()(tiling) / clockOf(tiling).cycles)),
      );
      expect(off.length).toBeGreaterThan(50);
      const within = (log: number): number => off.filter((each) => each <= log).length / off.length;
      expect(within(Math.log(1.01))).toBeGreaterThan(8 / 9);
      expect(within(Math.log(1.25))).toBeGreaterThan(0.99);
      expect(within(Math.log(1.5))).toBe(1);
    },
  );
});
