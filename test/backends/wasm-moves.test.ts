import { describe, expect, it } from "vitest";
import { printMoves } from "../../backends/moves.js";
import { movesOf, planWasm } from "../../backends/wasm/index.js";
import { targets } from "../../ir/index.js";
import { compile, onnx, pypto, type Kernel } from "../../src/index.js";

const moves = (kernel: Kernel): string => printMoves(movesOf(planWasm(kernel.tile)));

describe("the plan of moves of the fast executor", () => {
  it("copies the slab, and reads indices and writes output where they lie", () => {
    const kernel = compile(pypto.gather({ input: ["f32", [40, 96]], index: ["i32", [33, 96]], dim: 0 }), {
      target: targets.ascendA2,
      tile: [40, 32],
      buffers: 1,
    });
    // A slab row of 32 f32 is 128 B, 384 B from the next one in the tensor; one task of 33 x 32 + 40 x 32 + 33 x 32 elements.
    expect(moves(kernel)).toBe(`wasm: tasks 3, tasks taken together 309, bytes of a thread 5120
sync V -> MTE2
  elided: a thread runs its statements in order
load %data[0, %t1][40, 32] to %data_ub
  copy: bytes 128, by instructions
load %indices[0, %t1][33, 32] to %indices_ub
  elided: read where it lies
sync MTE3 -> V
  elided: a thread runs its statements in order
sync MTE2 -> V
  elided: a thread runs its statements in order
gather %data_ub[0, 0][40, 32], %indices[0, %t1][33, 32] to %output[0, %t1][33, 32] (d0, d1) -> (%indices[d0, d1], d1) {oob = error, origin = [0, %t1]}
  sites: index values 0, along d0 d1
gather %data_ub[0, 0][40, 32], %indices[0, %t1][33, 32] to %output[0, %t1][33, 32] (d0, d1) -> (%indices[d0, d1], d1) {oob = error, origin = [0, %t1]}
  groups: bytes 4, elements 16, indices checked together
sync V -> MTE3
  elided: a thread runs its statements in order
store %output_ub to %output[0, %t1][33, 32]
  elided: written where it goes
`);
  });

  it("resolves indices that rows share into a table", () => {
    const shared = compile(onnx.gather({ data: ["f32", [64, 100, 8]], indices: ["i32", [50]], axis: 1 }), {
      target: targets.cpu,
      tile: [64, 50, 8],
      residency: "gm",
    });
    expect(moves(shared)).toContain("  table: along d1, bytes 200\n");
    expect(moves(shared)).toContain("  rows: bytes 32, by instructions\n");
  });

  it("copies rows by instructions, by a loop or by the engine's routine, as they are long", () => {
    const rows = (columns: number): string =>
      moves(
        compile(onnx.gather({ data: ["f32", [1000, columns]], indices: ["i32", [50]], axis: 0 }), {
          target: targets.cpu,
          tile: [50, columns],
          residency: "gm",
        }),
      );
    expect(rows(64)).toContain("  rows: bytes 256, by instructions\n");
    expect(rows(65)).toContain("  rows: bytes 260, by vectors in a loop\n");
    expect(rows(128)).toContain("  rows: bytes 512, by vectors in a loop\n");
    expect(rows(129)).toContain("  rows: bytes 516, by memory.copy\n");
  });

  it("says how elements are taken one by one, and together", () => {
    const elements = compile(
      onnx.gatherElements({ data: ["u8", [8, 40]], indices: ["i64", [8, 40]], axis: 1, oob: "zero" }),
      { target: targets.cpu, tile: [8, 40], residency: "gm" },
    );
    expect(moves(elements)).toContain(
      "  groups: bytes 1, elements 16, indices checked together, parts of d0 side by side 4\n",
    );
    const tuples = compile(onnx.gatherNd({ data: ["u8", [8, 40]], indices: ["i64", [40, 2]] }), {
      target: targets.cpu,
      tile: [40],
      residency: "gm",
    });
    expect(moves(tuples)).toContain("  groups: bytes 1, elements 16, indices checked together\n");
    // An entry of the table may name no element.
    const shared = compile(
      onnx.gather({ data: ["u8", [64, 100]], indices: ["i32", [50]], axis: 1, oob: "zero" }),
      { target: targets.cpu, tile: [64, 50], residency: "gm" },
    );
    expect(moves(shared)).toContain("  words: bytes 1, elements 1, indices one by one\n");
  });

  it("moves short rows four a turn", () => {
    const rows = (columns: number): string =>
      moves(
        compile(onnx.gather({ data: ["f32", [1000, columns]], indices: ["i32", [50]], axis: 0 }), {
          target: targets.cpu,
          tile: [50, columns],
          residency: "gm",
        }),
      );
    expect(rows(4)).toContain("  rows: bytes 16, by instructions, rows 4, indices checked together\n");
    expect(rows(5)).toContain("  rows: bytes 20, by instructions\n");
  });

  it("names the way of a run whose length the loops decide, and the slices of a long task", () => {
    const kernel = compile(onnx.gather({ data: ["f32", [64, 40]], indices: ["i32", [70_000]], axis: 0 }), {
      target: targets.cpu,
      tile: [70_000, 39],
      residency: "gm",
    });
    // 2^20 elements a slice: 26886 rows of 39.
    expect(moves(kernel)).toContain("slices of a task 3");
    expect(moves(kernel)).toContain("  rows: bytes 4 times the size of dim 1, by memory.copy\n");
  });

  it("says that the second copy of a buffer is not kept", () => {
    const kernel = compile(pypto.gather({ input: ["f32", [40, 96]], index: ["i32", [33, 96]], dim: 0 }), {
      target: targets.ascendA2,
      tile: [40, 32],
      buffers: 2,
    });
    expect(movesOf(planWasm(kernel.tile)).diagnostics).toMatchObject([{ code: "TC908", severity: "hint" }]);
  });
});
