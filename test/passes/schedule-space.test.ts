/** The space of schedules, against every tile one by one. */
import { describe, expect, it } from "vitest";
import { isLegal, TileSpace, type Shape } from "../../ir/index.js";
import { gridOf, gridSize, ScheduleSpace, withDefaults } from "../../passes/index.js";
import { accessOf } from "../../src/api/access.js";
import { onnx, targets, type Target } from "../../src/index.js";

const target: Target = { ...targets.ascendA2, ubBytes: 1024, ubSafeBytes: 1024 };
const func = onnx.gather({ data: ["f32", [40, 24]], indices: ["i32", [30]], axis: 0 });
const base = withDefaults(accessOf(func, { target })!, "gm", target);

/** Every tile of the output by itself. */
const everyTile: readonly Shape[] = Array.from({ length: 30 * 24 }, (_, k) => [
  1 + Math.floor(k / 24),
  1 + (k % 24),
]);
const legal = (tile: Shape): boolean => isLegal(base.with({ tile }));

describe("the tiles of a schedule", () => {
  const space = new TileSpace(base);

  it("have all entries up to what the view leaves", () => {
    expect(space.free).toEqual([0, 1]);
    expect(space.all(0)).toEqual(Array.from({ length: 30 }, (_, k) => k + 1));
    expect(space.count(1)).toBe(24);
  });

  it.each([1, 5, 23, 30])("of up to %i rows: the largest legal one is that of all", (max) => {
    for (const columns of [1, 8, 24]) {
      const fitting = space.all(0).filter((n) => n <= max && legal([n, columns]));
      expect(space.largest([1, columns], 0, max)).toEqual([Math.max(...fitting), columns]);
      expect(space.stepsTaken([1, columns], 0, max, legal)).toBe(fitting.filter((n) => n < max).length);
    }
  });

  it("are undefined where none is taken", () => {
    expect(space.largest([1, 1], 0, 30, () => false)).toBeUndefined();
  });
});

describe("a grid", () => {
  const space = new ScheduleSpace(base);
  const axes = space.free.map((dim) => ({ dim, entries: space.all(dim) }));

  it("has each tile that is taken once, and counts the others", () => {
    let refused = 0;
    const taken = [...gridOf(space.start.schedule.tile, axes, legal, (_, count) => (refused += count))];
    expect(taken).toEqual(everyTile.filter(legal));
    expect(taken.length).toBeGreaterThan(100);
    expect(refused).toBe(gridSize(axes) - taken.length);
    expect(refused).toBeGreaterThan(100);
  });

  it("keeps to the space's entries, whose last is the whole dim", () => {
    const tiles = [...gridOf(space.start.schedule.tile, space.axes(), () => true)];
    expect(tiles).toHaveLength(space.entries(0).length * space.entries(1).length);
    expect(tiles.at(-1)).toEqual([30, 24]);
  });
});

describe("neighbours of a tile", () => {
  const space = new ScheduleSpace(base);

  it("differ along one dim, or have more of one for less of another", () => {
    const tile = [4, 8];
    expect(space.along(tile, (_, n) => [n + 1])).toEqual([
      [5, 8],
      [4, 9],
    ]);
    const traded = space.traded(tile);
    expect(traded.length).toBeGreaterThan(0);
    for (const [rows, columns] of traded)
      expect((rows! > 4 && columns! < 8) || (rows! < 4 && columns! > 8)).toBe(true);
  });
});
