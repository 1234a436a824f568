/** explain, legal and tune of scatters: verdicts by name, counts beside an enumeration, hints that work when followed. */
import { describe, expect, it } from "vitest";
import { type AccessFunc, type Schedule } from "../../ir/index.js";
import { explain, legalTiles, pypto, tryCompile } from "../../src/index.js";
import { tune } from "../../src/tune/index.js";
import { parsedAccess } from "../support/parsed.js";

const sums = (a: number, b: number, c: number, rows: number): AccessFunc =>
  parsedAccess(`func @f(%x: tensor<${rows}x${c}xf32>, %i: tensor<${a}x${b}xi32>, %u: tensor<${a}x${b}x${c}xf32>) -> tensor<${rows}x${c}xf32> {
  %y = access.scatter %x, %i, %u (d0 < ${a}, d1 < ${b}, d2 < ${c}) -> (%i[d0, d1], d2) yield %u[d0, d1, d2] {oob = error, combine = add}
  return %y
}
`);

const failed = (func: AccessFunc, schedule: Schedule): readonly string[] =>
  explain({ ...func, schedule }, { target: "ascend-a2" })
    .rules.filter(({ pass }) => !pass)
    .map(({ rule }) => rule);

/** Every tile of a domain. */
const tilesOf = (domain: readonly number[]): readonly (readonly number[])[] =>
  domain.reduce<readonly (readonly number[])[]>(
    (tiles, extent) => tiles.flatMap((tile) => Array.from({ length: extent }, (_, k) => [...tile, k + 1])),
    [[]],
  );

describe("explain of scatters", () => {
  const func = sums(4, 6, 8, 100);

  it("names the rule that a tile breaks", () => {
    expect(failed(func, { tile: [4, 6, 8] })).toEqual([]);
    expect(failed(func, { tile: [2, 3, 8] })).toEqual(["point-order"]);
    expect(failed(func, { tile: [4, 6, 8], ubBytes: 1024 })).toEqual(["ub-budget"]);
    expect(failed(func, { tile: [4, 6, 8], residency: "gm" })).toEqual(["residency"]);
  });

  it("has the bytes of each tile and of all that is moved", () => {
    const { footprint, traffic } = explain(
      { ...func, schedule: { tile: [1, 6, 8] } },
      { target: "ascend-a2" },
    );
    // 100 rows of 32 B, 6 indices in a block, 6 rows of 32 B.
    expect(footprint.parts.map(({ part, counted }) => [part, counted])).toEqual([
      ["output", 3200],
      ["i", 32],
      ["u", 192],
    ]);
    expect(traffic.operands.map(({ operand, bytes }) => [operand, bytes])).toEqual([
      ["x", 3200],
      ["i", 96],
      ["u", 768],
      ["output", 3200],
    ]);
  });

  it("copies elements after the domain once, also where the last view is shorter than others", () => {
    const text = `func @f(%x: tensor<9xi32>, %u: tensor<7xi32>) -> tensor<9xi32> {
  %y = access.scatter %x, %u (d0 < 7) -> (d0) yield %u[d0] {oob = error, duplicates = last}
  return %y
}`;
    const longer = parsedAccess(text);
    for (const [tile, tasks] of [
      [1, 7],
      [2, 4],
    ] as const)
      for (const target of ["ascend-a2", "cpu"]) {
        const { traffic } = explain(
          { ...longer, schedule: { tile: [tile], view: [4], residency: "ub" } },
          { target },
        );
        expect(traffic.operands.map(({ bytes }) => bytes)).toEqual([36, 28, 36]);
        expect(traffic.tasks).toBe(tasks);
      }
  });

  it("offers the nearest tiles that keep the order, and each of them compiles", () => {
    for (const tile of tilesOf([4, 6, 2])) {
      const explanation = explain({ ...func, schedule: { tile } }, { target: "ascend-a2" });
      expect(explanation.nearest.length).toBeGreaterThan(0);
      for (const schedule of explanation.nearest)
        expect(tryCompile({ ...func, schedule }, { target: "ascend-a2" }).ok, tile.join()).toBe(true);
    }
    const { nearest } = explain({ ...func, schedule: { tile: [2, 3, 8] } }, { target: "ascend-a2" });
    expect(nearest.map(({ tile }) => tile)).toEqual([
      [1, 3, 8],
      [2, 6, 8],
    ]);
  });

  it("says how long the stored dim may be where no tile is legal, and that is so", () => {
    const long = sums(4, 6, 8, 100_000);
    const { infeasible } = explain(long, { target: "ascend-a2" });
    const [found] = infeasible?.largestGatherDims ?? [];
    expect([infeasible?.dims, found?.dim]).toEqual(["stored", 0]);
    const rows = found?.largest ?? 0;
    expect(tryCompile(sums(4, 6, 8, rows), { target: "ascend-a2" }).ok).toBe(true);
    expect(tryCompile(sums(4, 6, 8, rows + 1), { target: "ascend-a2" }).ok).toBe(false);
  });
});

describe("TC301 and TC403 of scatters", () => {
  it("have hints that work when they are followed", () => {
    const func = sums(4, 6, 8, 100);
    const order = tryCompile({ ...func, schedule: { tile: [2, 3, 8] } }, { target: "ascend-a2" });
    expect(order.ok ? [] : order.diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      ["TC301", "--tile 1,3,8, or --tile 2,6,8, or duplicates = unique"],
    ]);
    const gm = tryCompile({ ...func, schedule: { residency: "gm" } }, { target: "ascend-a2" });
    expect(gm.ok ? [] : gm.diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      ["TC403", "--residency ub, or duplicates = unique in an access.scatter"],
    ]);
    const unique = {
      ...func,
      map: { ...func.map, write: { ...func.map.write, duplicates: "unique" as const } },
    };
    for (const schedule of [{ tile: [2, 3, 8] }, { residency: "gm" as const }])
      expect(tryCompile({ ...unique, schedule }, { target: "ascend-a2" }).ok).toBe(true);
  });
});

describe("TC403 of a scatter without a tile in UB", () => {
  it("names no residency in which it would be refused again", () => {
    const long = pypto.indexAddUb({
      input: ["f32", [100_000, 64]],
      index: ["i64", [9]],
      source: ["f32", [9, 64]],
      dim: 0,
    });
    expect(tryCompile(long, { target: "ascend-a2", residency: "ub" }).ok).toBe(false);
    const gm = tryCompile(long, { target: "ascend-a2", residency: "gm" });
    expect(gm.ok ? [] : gm.diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
      ["TC403", "duplicates = unique in an access.scatter"],
    ]);
  });
});

describe("legalTiles of scatters", () => {
  it.each([
    [3, 5, 4],
    [6, 2, 3],
    [2, 3, 12],
  ])("counts the tiles of %i by %i by %i that compile", (a, b, c) => {
    const func = sums(a, b, c, 40);
    for (const ubBytes of [196_608, 2048, 1500]) {
      const legal = tilesOf([a, b, c]).filter(
        (tile) => tryCompile({ ...func, schedule: { tile, ubBytes } }, { target: "ascend-a2" }).ok,
      );
      const { count, possible } = legalTiles({ ...func, schedule: { ubBytes } }, { target: "ascend-a2" });
      expect([count, possible]).toEqual([legal.length, a * b * c]);
    }
  });

  it("lists tiles that compile to the bytes that it says", () => {
    const func = sums(6, 5, 16, 300);
    const { tiles } = legalTiles(func, { target: "ascend-a2" });
    expect(tiles.length).toBeGreaterThan(10);
    for (const { tile, bytes } of tiles.slice(0, 12)) {
      const result = tryCompile({ ...func, schedule: { tile } }, { target: "ascend-a2" });
      expect(result.ok && result.kernel.footprint?.bytes).toBe(bytes);
    }
    expect(tiles.filter((tile) => tile.default)).toHaveLength(1);
  });
});

describe("tune of scatters", () => {
  it("finds no schedule behind the default's, and all that it weighs compile", async () => {
    const func = sums(16, 50, 64, 1000);
    const result = await tune(func, { target: "ascend-a2", budget: 12 });
    expect(result.candidates.length).toBeGreaterThan(5);
    const [best] = result.candidates;
    const base = result.candidates.find(({ id }) => id === result.default.id);
    expect(best?.status === "estimated" && base?.status === "estimated" && best.cycles <= base.cycles).toBe(
      true,
    );
    for (const { schedule } of result.candidates.slice(0, 6))
      expect(tryCompile({ ...func, schedule }, { target: "ascend-a2" }).ok).toBe(true);
  });
});
