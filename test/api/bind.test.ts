/** Binding a kernel that was compiled at the most. */
import { describe, expect, it } from "vitest";
import { simulate, watOf } from "../../backends/sim/index.js";
import { emitWgsl } from "../../backends/webgpu/index.js";
import {
  equalFunc,
  dynamicFormOf,
  printFunc,
  verifyStructure,
  type Func,
  type TileFunc,
} from "../../ir/index.js";
import { defaultPipeline } from "../../passes/index.js";
import { compile, run, targets } from "../../src/index.js";
import { parsed } from "../support/parsed.js";
import { codesOf } from "../support/refusal.js";

const embedding = (target: string, tile = "4, 8"): Func =>
  parsed(`dim V <= 40
dim N <= 16
func @f(%e: tensor<Vx8xf32>, %i: tensor<Nxi32>) -> tensor<Nx8xf32> target("${target}") schedule {tile = [${tile}], residency = ub} {
  %y = access.gather %e, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`);

const statements = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^(for|load|gather|store)/.test(line))
    .map((line) => line.replace(/ \(d0.*/, ""));

describe("a kernel of open sizes, bound", () => {
  it("has the loops and the buffers of the most, and tails by a minimum", () => {
    const kernel = compile(embedding("ascend-a2"));
    const bound = kernel.bind({ V: 30, N: 10 });
    expect(statements(bound.text("tile"))).toEqual([
      "load %e[0, 0][30, 8] to %e_ub",
      "for %t0 = 0 to 10 step 4 serial {",
      "load %i[%t0][min(4, 10 - %t0)] to %i_ub",
      "gather %e_ub[0, 0][30, 8], %i_ub[0][min(4, 10 - %t0)] to %y_ub[0, 0][min(4, 10 - %t0), 8]",
      "store %y_ub to %y[%t0, 0][min(4, 10 - %t0), 8]",
    ]);
    const allocs = (text: string): string[] => text.match(/%\w+ = alloc.*/g) ?? [];
    expect(allocs(bound.text("tile"))).toEqual(allocs(kernel.text("tile")));
    expect(bound.text("access")).toContain("%e: tensor<30x8xf32>, %i: tensor<10xi32>");
    expect(bound.footprint).toEqual(kernel.footprint);
  });

  it("keeps the loop that the most makes one trip of out of every size", () => {
    const kernel = compile(embedding("ascend-a2", "16, 8"));
    expect(statements(kernel.bind({ V: 40, N: 3 }).text("tile"))).toContain("load %i[0][3] to %i_ub");
  });

  it("gives every size the bits of the program that is compiled for it", () => {
    const func = embedding("ascend-a2");
    const kernel = compile(func);
    for (const [V, N] of [
      [1, 1],
      [40, 16],
      [7, 13],
      [39, 4],
      [40, 0],
    ] as const) {
      const data = Float32Array.from({ length: 8 * V }, (_, k) => k);
      const indices = Int32Array.from({ length: N }, (_, k) => (k * 5) % V);
      const own = compile(func, { bind: { V, N } });
      for (const executor of ["checked", "fast"] as const) {
        const { output } = simulate(kernel.bind({ V, N }), { data, indices }, { executor }).outputs;
        expect(output).toEqual(simulate(own, { data, indices }).outputs.output);
      }
    }
  });

  it("shares one program among its sizes, and gives one kernel for the same sizes", () => {
    const kernel = compile(embedding("webgpu"));
    const [a, b] = [kernel.bind({ V: 30, N: 10 }), kernel.bind({ V: 1, N: 16 })];
    expect(dynamicFormOf(a.tile)?.program).toBe(dynamicFormOf(b.tile)?.program);
    expect(dynamicFormOf(a.tile)?.values.get("N")).toBe(10);
    expect(kernel.bind({ N: 10, V: 30 })).toBe(a);
    expect(a).not.toBe(b);
  });

  it("shares it on another target too", () => {
    const kernel = compile(embedding("ascend-a2"));
    const [a, b] = [kernel.bind({ V: 30, N: 10 }), kernel.bind({ V: 1, N: 16 })].map(
      (bound) => bound.forTarget(targets.webgpu).tile,
    );
    expect(a?.target).toBe("webgpu");
    expect(dynamicFormOf(a!)?.program).toBe(dynamicFormOf(b!)?.program);
  });

  it("has no code in common where a tensor is empty", () => {
    const kernel = compile(embedding("webgpu"));
    expect(dynamicFormOf(kernel.bind({ V: 0, N: 4 }).tile)).toBeUndefined();
    expect(kernel.bind({ V: 4, N: 0 }).tile.body).toEqual([]);
  });

  it("is compiled for sizes at which the program for all of them does not hold", async () => {
    // Of the table, a tile takes what d0 and d0 + N read: how far these lie apart is known once N is.
    const apart = parsed(`dim N <= 4
func @f(%x: tensor<9x2xf32>, %i: tensor<8xi32>) -> tensor<Nx2xf32> target("ascend-a2") schedule {tile = [2, 2], residency = {data = gm, indices = ub}} {
  %y = access.gather %x, %i (d0, d1) -> (error(%i[d0] + %i[d0 + N] in 9), d1) {oob = error}
  return %y
}
`);
    const bound = compile(apart).bind({ N: 3 });
    expect(dynamicFormOf(bound.tile)).toBeUndefined();
    const data = Float32Array.from({ length: 18 }, (_, k) => k);
    const { outputs } = await run(bound, { data, indices: Int32Array.of(0, 1, 2, 2, 3, 4, 0, 0) });
    expect(outputs.output).toEqual(Float32Array.of(4, 5, 8, 9, 12, 13));
  });

  it("is compiled for its sizes by passes of the caller's own", () => {
    const bound = compile(embedding("webgpu"), { passes: [...defaultPipeline] }).bind({ V: 3, N: 5 });
    expect(dynamicFormOf(bound.tile)).toBeUndefined();
    expect(bound.tile.operands.map(({ type }) => type.shape)).toEqual([[3, 8], [5], [5, 8]]);
  });

  it.each([
    ["a size beyond the most", { V: 41, N: 1 }, ["TC107"]],
    ["a symbol without a size", { V: 4 }, ["TC107"]],
    ["a name of no symbol", { V: 4, N: 4, M: 4 }, ["TC107"]],
    ["no sizes at all", undefined as never, ["TC107"]],
    ["a list of sizes", [37] as never, ["TC107"]],
    ["a size that is no number", { V: 4, N: "4" as never }, ["TC107"]],
  ])("refuses %s", (_, sizes, codes) => {
    expect(codesOf(() => compile(embedding("webgpu")).bind(sizes))).toEqual(codes);
  });

  it("refuses sizes at which a window has no room", () => {
    const window = parsed(`dim V <= 9
func @f(%x: tensor<Vxf32>, %i: tensor<2xi32>) -> tensor<2x3xf32> target("webgpu") {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0] + d1) {oob = clamp}
  return %y
}
`);
    const kernel = compile(window);
    expect(codesOf(() => kernel.bind({ V: 2 }))).toEqual(["TC204"]);
    const data = Float32Array.of(0, 1, 2, 3);
    const { output } = simulate(kernel.bind({ V: 4 }), { data, indices: Int32Array.of(9, 0) }).outputs;
    expect(output).toEqual(Float32Array.of(1, 2, 3, 0, 1, 2));
  });

  it("refuses an altered tile, whose sizes nobody knows", () => {
    const kernel = compile(embedding("webgpu"));
    const mine = { ...kernel, tile: { ...kernel.tile } };
    expect(codesOf(() => mine.bind({ V: 4, N: 4 }))).toEqual(["TC502"]);
  });

  it("shares its code with every copy of its tile", () => {
    const kernel = compile(embedding("webgpu"));
    const { tile } = kernel.bind({ V: 30, N: 10 });
    const copy = { ...tile };
    expect(dynamicFormOf(copy)).toBe(dynamicFormOf(tile));
    const other = kernel.bind({ V: 7, N: 3 }).tile;
    expect(emitWgsl(copy).code).toBe(emitWgsl(other).code);
    expect(watOf(copy)).toBe(watOf(other));
    // The same goes for a thread that measures it.
    expect(watOf(structuredClone(tile))).toBe(watOf(other));
  });

  it("has code of its own once its statements or its tensors are altered", () => {
    const { tile } = compile(embedding("webgpu")).bind({ V: 30, N: 10 });
    const { tile: other } = compile(embedding("webgpu", "2, 8")).bind({ V: 30, N: 10 });
    expect(tile.body).not.toEqual(other.body);
    const altered = { ...tile, body: other.body };
    expect(dynamicFormOf(altered)).toBeUndefined();
    expect(watOf(altered)).not.toBe(watOf(tile));
    expect(dynamicFormOf({ ...tile, operands: [...tile.operands] })).toBeUndefined();
  });

  it("is the program that its text says", () => {
    const { tile } = compile(embedding("webgpu")).bind({ V: 30, N: 10 });
    const again = parsed(printFunc(tile));
    expect(dynamicFormOf(again as TileFunc)).toBeUndefined();
    expect(equalFunc(tile, again)).toBe(true);
    expect(verifyStructure({ ...tile })).toEqual([]);
    expect(verifyStructure(tile)).toEqual([]);
  });

  it("is itself where no size is open", () => {
    const kernel = compile(embedding("webgpu"), { bind: { V: 4, N: 4 } });
    expect(kernel.bind({})).toBe(kernel);
    expect(codesOf(() => kernel.bind({ N: 4 }))).toEqual(["TC107"]);
  });
});
