/**
 * Which instructions a gather becomes on Ascend. Expected classes, and the bytes they add, are counted by hand from
 * PTO-ISA's rules: TGATHER takes i32 indices and 2- or 4-byte elements on A2 and A3, MGATHER rows of a table of rank 2.
 */
import { describe, expect, it } from "vitest";
import {
  cyclesOf,
  walkOf,
  type GatherClass,
  type DType,
  type OutOfBounds,
  type Schedule,
  type SourceFunc,
  type Target,
} from "../../ir/index.js";
import { clocked } from "../../ir/clock/clock.js";
import { compile, directml, onnx, pypto, targets } from "../../src/index.js";

const { ascendA2, ascend950, webgpu, cpu } = targets;

/** f32[300, 40] by i32[300, 40] along dim 0, or with other types. */
const columns = (dtype: DType, oob: OutOfBounds, index: "i32" | "i64" = "i32"): SourceFunc =>
  pypto.gather({ input: [dtype, [300, 40]], index: [index, [300, 40]], dim: 0, oob });
/** The same with indices that may count from the end. */
const elements = (dtype: DType, oob: OutOfBounds): SourceFunc =>
  onnx.gatherElements({ data: [dtype, [300, 40]], indices: ["i32", [300, 40]], axis: 0, oob });

const cases: readonly [string, GatherClass, number, SourceFunc, Schedule, Target?][] = [
  // An i32 for each of 300 x 16 indices.
  ["columns, clamped", "whole-tile", 300 * 16 * 4, columns("f32", "clamp"), { tile: [300, 16], buffers: 2 }],
  [
    "2-byte elements whose rows are as many",
    "whole-tile",
    300 * 16 * 4,
    columns("f16", "clamp"),
    { tile: [300, 16] },
  ],
  // 40 columns: rows of 40 addresses, but of 48 elements of 2 bytes.
  ["2-byte elements with longer rows", "per-row", 0, columns("f16", "clamp"), { tile: [300, 40] }],
  [
    "no room for where each element's row begins",
    "per-row",
    0,
    columns("f32", "clamp"),
    { tile: [300, 40], ubBytes: 150_000 },
  ],
  // Beside the two planned rows: the mark of a bad index, and what was seen of them.
  ["columns, errors recorded", "per-row", 2 * 64, columns("f32", "error"), { tile: [300, 16] }],
  ["columns, zero outside", "per-row", 2 * 64 + 32, columns("f32", "zero"), { tile: [300, 16] }],
  ["columns, wrapped", "scalar", 0, columns("f32", "wrap"), { tile: [300, 16] }],
  ["indices of 64 bits", "scalar", 0, columns("f32", "clamp", "i64"), { tile: [300, 16] }],
  ["elements of 1 byte", "scalar", 0, columns("u8", "clamp"), { tile: [300, 32] }],
  [
    "elements of 1 byte on the 950",
    "whole-tile",
    300 * 32 * 4,
    columns("u8", "clamp"),
    { tile: [300, 32] },
    ascend950,
  ],
  ["indices from the end", "whole-tile", 300 * 16 * 4, elements("f32", "clamp"), { tile: [300, 16] }],
  ["indices from the end, 2-byte elements", "per-row", 0, elements("f16", "clamp"), { tile: [300, 16] }],
  ["elements of 8 bytes", "scalar", 0, elements("f64", "clamp"), { tile: [300, 8] }],
  ["elements of 8 bytes on the 950", "per-row", 0, elements("f64", "clamp"), { tile: [300, 8] }, ascend950],
  ["elements of 16 bytes on the 950", "scalar", 0, elements("c128", "clamp"), { tile: [300, 8] }, ascend950],
  [
    "unsigned indices",
    "scalar",
    0,
    directml.gatherElements({
      InputTensor: { DataType: "FLOAT32", Sizes: [300, 40] },
      IndicesTensor: { DataType: "UINT32", Sizes: [300, 40] },
      Axis: 0,
    }),
    { tile: [300, 16] },
  ],
  [
    "one line of indices for several rows",
    "per-row",
    0,
    onnx.gather({ data: ["f32", [64, 100]], indices: ["i32", [32]], axis: 1, oob: "clamp" }),
    { tile: [8, 32] },
  ],
  [
    "rows of a slab",
    "row-copy",
    0,
    onnx.gather({ data: ["f32", [100, 64]], indices: ["i32", [32]], axis: 0 }),
    { tile: [32, 64] },
  ],
  [
    "rows of a table in gm, clamped: the indices once more",
    "mgather",
    16 * 4,
    onnx.gather({ data: ["f32", [5000, 300]], indices: ["i32", [70]], axis: 0, oob: "clamp" }),
    { tile: [16, 128], residency: "gm" },
  ],
  [
    "rows of a table in gm, errors recorded",
    "row-fetch",
    0,
    onnx.gather({ data: ["f32", [5000, 300]], indices: ["i32", [70]], axis: 0 }),
    { tile: [16, 128], residency: "gm" },
  ],
  [
    "pages in gm",
    "row-fetch",
    0,
    onnx.gather({ data: ["f16", [256, 16, 128]], indices: ["i64", [8, 4]], axis: 0 }),
    { tile: [2, 4, 16, 128], residency: "gm" },
  ],
  [
    "tuples that name single elements",
    "scalar",
    0,
    onnx.gatherNd({ data: ["f32", [8, 9]], indices: ["i64", [40, 2]] }),
    { tile: [40] },
  ],
  ["a workgroup's gather", "direct", 0, columns("f32", "clamp"), { tile: [300, 8] }, webgpu],
  ["a CPU's gather", "direct", 0, columns("f32", "clamp"), { tile: [300, 8] }, cpu],
];

describe("the lowering of a gather", () => {
  it.each(cases)("%s: %s", (_, expected, adds, func, schedule, target = ascendA2) => {
    const { tile } = compile(func, { ...schedule, profile: "head", target });
    const { lowering } = cyclesOf(tile, target);
    expect(lowering?.class).toBe(expected);
    expect(lowering?.adds.reduce((sum, part) => sum + part.bytes, 0)).toBe(adds);
  });

  /** Cycles of the first gather of a program. */
  const gatherCycles = (func: SourceFunc, schedule: Schedule): number => {
    const { tile, target } = compile(func, { ...schedule, target: ascendA2 });
    return walkOf(tile, target).events.find((event) => event.name === "gather")!.cycles;
  };

  it("costs steps once a tile as a whole, and once a row otherwise", () => {
    const rows = 300;
    // maxs, mins, muls and add over 300 rows of one repeat each; add reads two tiles.
    const whole = 4 * 24 + 5 * rows + rows * 47;
    expect(gatherCycles(columns("f32", "clamp"), { tile: [rows, 16] })).toBe(whole);
    // A copy, maxs, mins, muls, adds of the row, add of the columns: of one row each.
    const each = 6 * 24 + 7 + 47;
    expect(gatherCycles(columns("f32", "clamp"), { tile: [rows, 40], ubBytes: 150_000 })).toBe(rows * each);
  });

  it("costs a scalar read and a copy of blocks for a row picked in UB, waits of the scalar unit around them", () => {
    const op = onnx.gather({ data: ["f32", [100, 60]], indices: ["i32", [32]], axis: 0 });
    expect(gatherCycles(op, { tile: [32, 60] })).toBe(32 * (10 + 5 + 240 / 32 + 0.5) + 2 * 18);
  });

  it("costs a DMA instruction for each page fetched, however many rows of UB it fills", () => {
    const op = onnx.gather({ data: ["f16", [256, 16, 128]], indices: ["i32", [8]], axis: 0 });
    const page = 264 + (16 * 128 * 2) / 128 + 10;
    // One task on one core: 128 B per cycle is less than the whole of global memory. Five waits: errors are recorded.
    expect(gatherCycles(op, { tile: [8, 16, 128], residency: "gm" })).toBe(8 * page + 5 * 18);
  });

  it("costs what it must set up once before a core's first gather", () => {
    const { tile, target } = compile(columns("f32", "clamp"), { tile: [300, 16], target: ascendA2 });
    const { start } = clocked(tile, target, 3);
    // 300 rows of 16 written element by element, 10 cycles each, as the emitted loop does; V waits for them.
    expect(start).toEqual({ MTE2: 0, S: 300 * 16 * 10, V: 300 * 16 * 10 + 18, MTE3: 0 });
  });
});
