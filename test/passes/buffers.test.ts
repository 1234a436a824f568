/** Copies by operand: who has two, what that takes, and how it is written. */
import { describe, expect, it } from "vitest";
import { cyclesOf, parseModule, printFunc, ubBuffers, type Schedule } from "../../ir/index.js";
import { compile, onnx, pypto, targets, tryCompile, type Kernel } from "../../src/index.js";
import { explain } from "../../src/api/explain.js";
import { refusals } from "../support/refusal.js";

const target = targets.ascendA2;
/** A slab of 64 KiB that every output tile picks from. */
const line = onnx.gather({ data: ["f32", [16384]], indices: ["i32", [100_000]], axis: 0 });
/** Slabs of columns, each for all indices in turns. */
const columns = onnx.gather({ data: ["f32", [1000, 64]], indices: ["i32", [512]], axis: 0 });
/** Nothing outlives its tile. */
const elements = pypto.gather({ input: ["f32", [40, 96]], index: ["i32", [40, 96]], dim: 0 });

const copiesIn = ({ tile }: Kernel) =>
  Object.fromEntries([...ubBuffers(tile).values()].map(({ name, buffers }) => [name, buffers]));

describe("two buffers", () => {
  it.each([
    ["a slab that no loop moves", line, { tile: [4096] }, { data_ub: 1, indices_ub: 2, output_ub: 2 }],
    [
      "a slab that a view loads again",
      line,
      { tile: [4096], view: [8192] },
      { data_ub: 1, indices_ub: 2, output_ub: 2 },
    ],
    ["slabs that tasks move", columns, { tile: [128, 16] }, { data_ub: 2, indices_ub: 2, output_ub: 2 }],
    [
      "one slab of all columns",
      columns,
      { tile: [32, 64], ubBytes: 2 ** 20 },
      { data_ub: 1, indices_ub: 2, output_ub: 2 },
    ],
    [
      "indices that stay under all columns",
      columns,
      { tile: [512, 8] },
      { data_ub: 2, indices_ub: 1, output_ub: 2 },
    ],
    ["tiles of every operand", elements, { tile: [40, 8] }, { data_ub: 2, indices_ub: 2, output_ub: 2 }],
    [
      "the whole gather in one tile",
      elements,
      { tile: [40, 96] },
      { data_ub: 1, indices_ub: 1, output_ub: 1 },
    ],
  ] as const)("are kept of what a loop moves: %s", (_, func, schedule, copies) => {
    const kernel = compile(func, { target, ...schedule, buffers: 2 });
    expect(copiesIn(kernel)).toMatchObject(copies);
    expect(kernel.footprint!.planned).toBe(
      kernel.footprint!.parts.reduce((sum, part) => sum + part.padded * part.buffers, 0),
    );
  });

  it("leave a slab of 64 KiB its one copy: tiles fit that two slabs would refuse", () => {
    // 65536 + 2 x (2 x 16384), and what the lowering adds; PyPTO's 2 x 16384 of scratch with a second slab would be 229376 B of 196608 B.
    const { parts, bytes } = compile(line, { target, tile: [4096], buffers: 2 }).footprint!;
    const added = parts.filter(({ use }) => use === "added").reduce((sum, part) => sum + part.bytes, 0);
    expect(bytes).toBe(65536 + 4 * 16384 + added);
  });

  it("are one where each task has a unified buffer of its own, and that is said", () => {
    const kernel = compile(columns, { target: targets.webgpu, tile: [512, 1], residency: "ub", buffers: 2 });
    expect(copiesIn(kernel)).toEqual({ data_ub: 1 });
    expect(kernel.diagnostics).toMatchObject([{ code: "TC908" }]);
  });

  it("of some operands are what the schedule says and the program has", () => {
    const kernel = compile(columns, { target, tile: [128, 16], buffers: { indices: 2, output: 2 } });
    expect(copiesIn(kernel)).toMatchObject({ data_ub: 1, indices_ub: 2, output_ub: 2 });
    expect(kernel.text("tile")).toContain("buffers = {indices = 2, output = 2}");
  });

  it("of what no loop moves are taken out of the schedule, and that is said", () => {
    const kernel = compile(line, { target, tile: [4096], buffers: { data: 2, indices: 2 } });
    expect(kernel.tile.schedule.buffers).toEqual({ indices: 2 });
    expect(kernel.diagnostics.filter(({ code }) => code === "TC908")).toMatchObject([
      { severity: "hint", message: expect.stringContaining("data: no loop loads the tile") as string },
    ]);
    expect(compile(kernel.access!, { target }).diagnostics.map(({ code }) => code)).not.toContain("TC908");
  });

  it("cost no more than one for any set of operands, but the syncs", () => {
    const cyclesWith = (buffers: NonNullable<Schedule["buffers"]>) =>
      cyclesOf(compile(elements, { target, tile: [40, 8], cores: 2, buffers }).tile, target).cycles;
    const single = cyclesWith(1);
    const syncs = 8 * target.syncCycles;
    for (const named of [{ data: 2 }, { indices: 2 }, { output: 2 }, { data: 2, indices: 2 }] as const)
      expect(cyclesWith(named)).toBeLessThanOrEqual(single + syncs);
    expect(cyclesWith(2)).toBeLessThan(single);
  });
});

describe("buffers as text", () => {
  const text = (buffers: string) =>
    `func @g(%x: tensor<1000x64xf32>, %i: tensor<512xi32>) -> tensor<512x64xf32> target("ascend-a2") schedule {tile = [128, 16], buffers = ${buffers}} {
  %y = onnx.gather %x, %i {axis = 0}
  return %y
}
`;

  it.each(["1", "2", "{indices = 2, output = 2}", "{data = 1, output = 2}", "{}"])(
    "%s prints as it was written",
    (buffers) => {
      const { module, diagnostics } = parseModule(text(buffers), "b.tir");
      expect(diagnostics).toEqual([]);
      expect(printFunc(module.funcs[0]!)).toBe(text(buffers));
    },
  );

  it.each([
    ["3", "TC002"],
    ["{indices = 3}", "TC002"],
    ["{indices = 2, indices = 1}", "TC002"],
    ["[2]", "TC002"],
  ])("%s is refused with %s", (buffers, code) => {
    expect(parseModule(text(buffers), "b.tir").diagnostics).toMatchObject([{ code }]);
  });

  it("names operands of the gather alone", () => {
    const { module } = parseModule(text("{index = 2}"), "b.tir");
    const result = tryCompile(module.funcs[0]!);
    expect(result.ok ? [] : result.diagnostics).toMatchObject([
      { code: "TC303", message: "buffers names index, which is no operand" },
    ]);
  });
});

describe("a way out", () => {
  it("carries the schedule that the compiler would choose there", () => {
    const func = onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 });
    const { infeasible } = explain(func, { target, tile: [64, 64] });
    const own = compile(func, { target, residency: "gm" });
    expect(infeasible?.waysOut.map(({ cycles }) => cycles)).toEqual([cyclesOf(own.tile, target).cycles]);
    const refused = refusals(() => compile(func, { target, tile: [64, 64] }));
    expect(refused.map(({ hint }) => hint)).toContain(infeasible?.waysOut[0]?.flags);
  });
});
