/** The map of a search against schedules that are compiled one by one, and the Pareto line against every pair. */
import { describe, expect, it } from "vitest";
import { cyclesOf, outputOf, targets, type Residency, type ResolvedSchedule } from "../../ir/index.js";
import { compile, onnx, tryCompile, tune, type SourceFunc } from "../../src/index.js";
import { tileCells, type TileCell, type TileCells } from "../../src/report/tune-cells.js";
import { heatMap, paretoOf, scatter, timedOf, type Timed } from "../../src/report/tune-charts.js";
import { timedSchedules } from "../../src/report/timed-schedules.js";
import { parsed } from "../support/parsed.js";
import { timedSearch } from "../support/timed-search.js";

const target = targets.ascendA2;
const matrix = onnx.gather({ data: ["f32", [300, 200]], indices: ["i32", [64]], axis: 1 });
const pages = onnx.gather({ data: ["bf16", [2048, 16, 8, 128]], indices: ["i32", [64, 32]], axis: 0 });

const found = (cells: TileCells | undefined): TileCells => {
  if (cells === undefined) throw new Error("there is a map");
  return cells;
};

/** These gathers have no table to place: the words themselves. */
const placeOf = ({ residency }: TileCell): Residency => (residency === "ub" ? "ub" : "gm");

/** Whether a tile is one that a search may take: the rules hold, and libraries have room for their scratch. */
function takes(
  func: SourceFunc,
  tile: readonly number[],
  schedule: Pick<ResolvedSchedule, "residency" | "buffers">,
) {
  const result = tryCompile(func, { target, tile, ...schedule });
  return result.ok && (result.kernel.footprint?.planned ?? 0) <= target.ubSafeBytes;
}

describe("the map of a search", () => {
  it("is over the points of a scatter, whatever the dims of its output", async () => {
    const elements = parsed(`
func @elements(%x: tensor<32x64xf32>, %i: tensor<500xi32>, %j: tensor<500xi32>, %u: tensor<500xf32>) -> tensor<32x64xf32> {
  %y = access.scatter %x, %i, %j, %u (d0 < 500) -> (%i[d0], %j[d0]) yield %u[d0] {oob = error, combine = max}
  return %y
}`);
    const result = await tune(elements, { target, budget: 40 });
    const { x, y, xs } = found(tileCells(result));
    expect([x, y]).toEqual([0, undefined]);
    expect(Math.max(...xs)).toBeLessThanOrEqual(500);
    expect(heatMap(result)?.map).toContain("tile entries along domain dim 0, of 500 points");
  });

  it("has the least cycles of each tile, and hatches exactly what cannot be compiled", async () => {
    const result = await tune(matrix, { target, budget: "all" });
    const { cells, xs, ys, residencies } = found(tileCells(result));
    // The default may lie off the grid, alone on its line.
    const lines = ys.filter((line) => cells.filter(({ y }) => y === line).length > 1);
    expect(ys.length - lines.length).toBeLessThanOrEqual(1);
    expect(cells.filter(({ y }) => lines.includes(y))).toHaveLength(
      xs.length * lines.length * residencies.length,
    );
    const count = { exact: 0, refused: 0 };
    for (const cell of cells) {
      const tile = [cell.y, cell.x];
      const residency = placeOf(cell);
      if (cell.kind === "refused") {
        count.refused++;
        for (const buffers of [1, 2] as const)
          expect(takes(matrix, tile, { residency, buffers }), String(tile)).toBe(false);
        continue;
      }
      if (cell.kind !== "exact") throw new Error(`budget all costs ${String(tile)}`);
      count.exact++;
      for (const buffers of [1, 2] as const) {
        if (!takes(matrix, tile, { residency, buffers })) continue;
        const { tile: program } = compile(matrix, { target, tile, residency, buffers });
        expect(cell.cost).toBeLessThanOrEqual(cyclesOf(program, target).cycles);
      }
    }
    expect(count.refused).toBeGreaterThan(10);
    expect(count.exact).toBeGreaterThan(100);
    const costs = cells.flatMap((cell) => ("cost" in cell ? [cell.cost] : []));
    expect(Math.min(...costs)).toBe(result.best.cycles);
  });

  it("hatches no place that was merely not looked at", async () => {
    const result = await tune(pages, { target, budget: 1 });
    expect(result.space.thinned).toBe(true);
    const { cells, x, y, xs, ys, residencies } = found(tileCells(result));
    const places = xs.length * ys.length * residencies.length;
    expect(cells.length).toBeLessThan(places);
    const refused = cells.filter((cell) => cell.kind === "refused");
    expect(refused.length).toBeGreaterThan(5);
    for (const cell of refused) {
      // The smallest tile there: one entry along the other dims.
      const tile = outputOf(pages).type.shape.map((_, d) => (d === x ? cell.x : d === y ? cell.y : 1));
      expect(takes(pages, tile, { residency: placeOf(cell), buffers: 1 }), String(tile)).toBe(false);
    }
  });

  it("hatches by the buffers that the user states, where they are stated", async () => {
    const stated = { ...matrix, schedule: { buffers: 2 } } as const;
    const result = await tune(stated, { target, budget: 1 });
    const { cells } = found(tileCells(result));
    const refused = cells.filter((cell) => cell.kind === "refused");
    expect(refused.length).toBeGreaterThan(10);
    for (const cell of refused)
      expect(
        takes(matrix, [cell.y, cell.x], { residency: placeOf(cell), buffers: 2 }),
        `${cell.y}, ${cell.x}`,
      ).toBe(false);
    // Two buffers leave less room than one.
    const one = found(tileCells(await tune(matrix, { target, budget: 1 })));
    expect(refused.length).toBeGreaterThan(one.cells.filter((cell) => cell.kind === "refused").length);
  });

  it("prefers what was costed to what is estimated, and bytes are exact before", async () => {
    const few = found(tileCells(await tune(matrix, { target, budget: 5 })));
    const kinds = (cells: readonly TileCell[]) => new Set(cells.map(({ kind }) => kind));
    expect(kinds(few.cells)).toEqual(new Set(["exact", "estimate", "refused"]));
    const bytes = found(tileCells(await tune(matrix, { target, budget: 5, objective: "bytes" })));
    expect(kinds(bytes.cells)).toEqual(new Set(["exact", "refused"]));
  });

  it("shows the least figure that is known of each tile, costed or estimated", async () => {
    const result = await tune(matrix, { target, budget: 50 });
    const { cells } = found(tileCells(result));
    const known = [
      ...result.candidates.map((one) => ({ ...one.schedule, cost: one.cycles })),
      ...result.pruned.map((one) => ({ ...one.schedule, cost: one.estimate })),
    ];
    for (const cell of cells) {
      if (!("cost" in cell)) continue;
      const own = known.filter(
        ({ tile, residency }) => tile.join() === `${cell.y},${cell.x}` && residency === cell.residency,
      );
      expect(cell.cost, `${cell.residency} ${cell.y}, ${cell.x}`).toBe(
        Math.min(...own.map(({ cost }) => cost)),
      );
    }
    // A costed schedule that is slower than the estimate of another one of its tile hides nothing.
    const [slow] = result.candidates;
    const grid = result.pruned.filter(({ beside }) => !beside);
    const other = grid.find(({ schedule: { tile, residency } }) =>
      result.candidates.every(
        ({ schedule }) => schedule.tile.join() !== tile.join() || schedule.residency !== residency,
      ),
    );
    if (slow === undefined || other === undefined)
      throw new Error("no candidate, or no tile that was left out");
    const { id, schedule, estimate } = other;
    const costed = { ...slow, id, schedule, cycles: 10 * estimate };
    const drawn = found(tileCells({ ...result, candidates: [...result.candidates, costed] })).cells;
    const [y, x] = schedule.tile;
    const cell = drawn.find((one) => one.x === x && one.y === y && one.residency === schedule.residency);
    expect(cell).toMatchObject({ kind: "estimate", cost: estimate });
  });

  it("orders residencies by their best cell, and leaves out those without a legal tile", async () => {
    const result = await tune(pages, { target, budget: 20 });
    const { residencies, cells, refused } = found(tileCells(result));
    const least = residencies.map((name) =>
      Math.min(...cells.flatMap((cell) => ("cost" in cell && cell.residency === name ? [cell.cost] : []))),
    );
    expect(least).toEqual([...least].sort((a, b) => a - b));
    expect(residencies[0]).toBe(result.best.schedule.residency);
    expect(refused).toEqual([]);
    const [one] = result.refused;
    if (one === undefined) throw new Error("a tile is refused");
    const without = { ...one, residency: { data: "gm", indices: "ub" } } as const;
    const folded = found(tileCells({ ...result, refused: [...result.refused, without] }));
    expect(folded.refused.map(({ residency }) => residency)).toEqual(["data=gm,indices=ub"]);
    expect(folded.residencies).toEqual(residencies);
  });

  it("has one row where one dim is free, and none for a scalar", async () => {
    const line = onnx.gather({ data: ["f32", [100]], indices: ["i32", [500]], axis: 0 });
    const { y, ys, xs } = found(tileCells(await tune(line, { target, budget: 5 })));
    expect([y, ys]).toEqual([undefined, [0]]);
    expect(xs.length).toBeGreaterThan(5);
    const scalar = onnx.gather({ data: ["f32", [100]], indices: ["i32", []], axis: 0 });
    expect(tileCells(await tune(scalar, { target, budget: 5 }))).toBeUndefined();
  });
});

describe("the Pareto line", () => {
  it("holds each pair of figures that no other schedule beats in both", async () => {
    const result = await tune(matrix, { target, budget: "all" });
    const timed = timedOf(result);
    expect(timed.map(({ candidate, time }) => [candidate.id, time])).toEqual(
      result.candidates.map(({ id, cycles }) => [id, cycles]),
    );
    const beaten = (a: Timed): boolean =>
      timed.some((b) => b.bytes <= a.bytes && b.time <= a.time && (b.bytes < a.bytes || b.time < a.time));
    const pairs = (list: readonly Timed[]) => new Set(list.map(({ bytes, time }) => `${bytes} ${time}`));
    const front = paretoOf(timed);
    expect(pairs(front)).toEqual(pairs(timed.filter((one) => !beaten(one))));
    expect(front.length).toBeGreaterThan(1);
  });

  it.each([
    ["columns of a table", onnx.gather({ data: ["f32", [60, 50]], indices: ["i32", [24]], axis: 1 })],
    ["narrow elements", onnx.gather({ data: ["f16", [48, 96]], indices: ["i32", [40]], axis: 1 })],
  ] as const)("is that of a search that costs everything: %s", async (_, func) => {
    const points = (timed: readonly Timed[]) => paretoOf(timed).map(({ bytes, time }) => [bytes, time]);
    const few = await tune(func, { target, budget: 5 });
    const all = points(timedOf(await tune(func, { target, budget: "all" })));
    expect(points(timedSchedules(few))).toEqual(all);
    expect(points(timedOf(few))).not.toEqual(all);
  });

  it("counts milliseconds where they were sought, of the schedules that ran", async () => {
    const result = await timedSearch(matrix, 12);
    const timed = timedOf(result);
    expect(result.counts).toMatchObject({ measured: 11, error: 1 });
    expect(timed.map(({ time }) => time)).toEqual(
      result.candidates.flatMap((one) => (one.status === "measured" ? [one.ms] : [])),
    );
    expect(scatter(result)).toContain('aria-label="bytes moved against ms"');
  });
});
