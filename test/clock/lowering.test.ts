/**
 * Which instructions a gather becomes on Ascend. Expected classes, and the bytes they add, are counted by hand from
 * PTO-ISA's rules: TGATHER takes i32 indices and 2- or 4-byte elements on A2 and A3, MGATHER rows of a table of rank 2.
 */
import { describe, expect, it } from "vitest";
import {
  cyclesOf,
  programLowering,
  walkOf,
  type GatherClass,
  type DType,
  type ReadPolicy,
  type Schedule,
  type SourceFunc,
  type Target,
} from "../../ir/index.js";
import { clocked } from "../../ir/clock/clock.js";
import { compile, directml, numpy, onnx, pypto, targets } from "../../src/index.js";

const { ascendA2, ascend950, webgpu, cpu } = targets;

/** f32[300, 40] by i32[300, 40] along dim 0, or with other types. */
const columns = (dtype: DType, oob: ReadPolicy, index: "i32" | "i64" = "i32"): SourceFunc =>
  pypto.gather({ input: [dtype, [300, 40]], index: [index, [300, 40]], dim: 0, oob });
/** The same with indices that may count from the end. */
const elements = (dtype: DType, oob: ReadPolicy): SourceFunc =>
  onnx.gatherElements({ data: [dtype, [300, 40]], indices: ["i32", [300, 40]], axis: 0, oob });

const cases: readonly [string, GatherClass, number, SourceFunc, Schedule, Target?][] = [
  // An i32 for each of 300 x 16 indices.
  ["columns, clamped", "flat", 300 * 16 * 4, columns("f32", "clamp"), { tile: [300, 16], buffers: 2 }],
  [
    "2-byte elements whose rows are as many",
    "flat",
    300 * 16 * 4,
    columns("f16", "clamp"),
    { tile: [300, 16] },
  ],
  // 40 columns: rows of 40 addresses, but of 48 elements of 2 bytes.
  [
    // Of 8 rows, addresses and index values are whole repeats of 64 words.
    "2-byte elements with longer rows: 152 rows at once, then 148, as UB has room for 158",
    "flat",
    3 * 152 * 48 * 4,
    columns("f16", "clamp"),
    { tile: [300, 40] },
  ],
  [
    "6000 B left: 34 rows at once, eight times, then 28",
    "flat",
    34 * 40 * 4,
    columns("f32", "clamp"),
    { tile: [300, 40], ubBytes: 150_000 },
  ],
  // Where the column of each element begins, and what was seen of bad indices: for one tile a core, half as many are set up sooner.
  [
    "columns, errors recorded: 152 rows at once, then 148",
    "flat",
    2 * 152 * 16 * 4,
    columns("f32", "error"),
    { tile: [300, 16] },
  ],
  [
    // Of 15 rows by one line of 256 indices: addresses, pattern, and where each row begins; the line brought inside, and marks.
    // The last row takes its line as it is.
    "columns of many rows: 15 rows at once, then one, which needs no pattern",
    "flat",
    3 * 15 * 256 * 4 + 2 * 256 * 4,
    onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 }),
    { tile: [16, 256], buffers: 1, ubBytes: 131_072 },
  ],
  ["columns, zero outside", "flat", 300 * 16 * 4 + 32, columns("f32", "zero"), { tile: [300, 16] }],
  ["columns, wrapped", "scalar", 0, columns("f32", "wrap"), { tile: [300, 16] }],
  ["indices of 64 bits", "flat", 2 * 300 * 16 * 4, columns("f32", "clamp", "i64"), { tile: [300, 16] }],
  [
    "elements of 1 byte: data and output once more, of 2 bytes",
    "flat",
    300 * 32 * 4 + 2 * 300 * 32 * 2,
    columns("u8", "clamp"),
    { tile: [300, 32] },
  ],
  [
    "elements of 1 byte on the 950, whose own gather of them is wrong by 32-bit indices",
    "flat",
    300 * 32 * 4 + 2 * 300 * 32 * 2,
    columns("u8", "clamp"),
    { tile: [300, 32] },
    ascend950,
  ],
  ["indices from the end", "flat", 300 * 16 * 4, elements("f32", "clamp"), { tile: [300, 16] }],
  [
    "indices from the end, 2-byte elements: the output has no room for a second operand",
    "flat",
    2 * 300 * 16 * 4,
    elements("f16", "clamp"),
    { tile: [300, 16] },
  ],
  [
    "elements of 8 bytes: addresses, pattern and base of each word",
    "flat",
    3 * 300 * 16 * 4,
    elements("f64", "clamp"),
    { tile: [300, 8] },
  ],
  [
    "elements of 8 bytes on the 950",
    "flat",
    3 * 300 * 16 * 4,
    elements("f64", "clamp"),
    { tile: [300, 8] },
    ascend950,
  ],
  [
    "elements of 16 bytes on the 950: two strips, which set up half as much",
    "flat",
    3 * 150 * 32 * 4,
    elements("c128", "clamp"),
    { tile: [300, 8] },
    ascend950,
  ],
  [
    "unsigned indices",
    "flat",
    300 * 16 * 4,
    directml.gatherElements({
      InputTensor: { DataType: "FLOAT32", Sizes: [300, 40] },
      IndicesTensor: { DataType: "UINT32", Sizes: [300, 40] },
      Axis: 0,
    }),
    { tile: [300, 16] },
  ],
  [
    "wrapped by a power of two, by the low words of 64-bit indices: pattern, base and addresses",
    "flat",
    3 * 64 * 16 * 4,
    pypto.gather({ input: ["f32", [64, 40]], index: ["i64", [64, 40]], dim: 0, oob: "wrap" }),
    { tile: [64, 16] },
  ],
  [
    // Rows of 32 indices: as 32-bit values, as half on their way, and what is added to negative ones. Addresses,
    // pattern and base of 40 rows of 16.
    "indices of 8 bits",
    "flat",
    40 * 32 * (4 + 2 + 4) + 3 * 40 * 16 * 4,
    numpy.takeAlongAxis({ arr: ["f32", [64, 40]], indices: ["i8", [40, 40]], axis: 0, oob: "clamp" }),
    { tile: [40, 16] },
  ],
  [
    "indices of 16 bits: as float, then as 32-bit values, of which none is outside",
    "flat",
    3 * 40 * 16 * 4,
    numpy.takeAlongAxis({ arr: ["f32", [64, 40]], indices: ["u16", [40, 40]], axis: 0, oob: "clamp" }),
    { tile: [40, 16] },
  ],
  [
    "one line of indices for several rows",
    "flat",
    3 * 8 * 32 * 4,
    onnx.gather({ data: ["f32", [64, 100]], indices: ["i32", [32]], axis: 1, oob: "clamp" }),
    { tile: [8, 32] },
  ],
  [
    "few long rows of a slab",
    "row-copy",
    0,
    onnx.gather({ data: ["f32", [100, 200]], indices: ["i32", [32]], axis: 0 }),
    { tile: [8, 200] },
  ],
  [
    "rows of a table in gm, clamped: the indices once more",
    "mgather",
    16 * 4,
    onnx.gather({ data: ["f32", [5000, 300]], indices: ["i32", [70]], axis: 0, oob: "clamp" }),
    { tile: [16, 128], residency: "gm", lowering: "mgather" },
  ],
  [
    // Two batches of 2 rows. Beside the indices, which become numbers of rows in place: those brought inside, and marks.
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
    // Rows of four 64-bit values, of which two are the tuple; two tiles of addresses, a pattern, and marks.
    "tuples that name single elements",
    "flat",
    4 * (40 * 4 + 2 * 40 + 40 + 40),
    onnx.gatherNd({ data: ["f32", [8, 9]], indices: ["i64", [40, 2]] }),
    { tile: [40] },
  ],
  ["a workgroup's gather", "direct", 0, columns("f32", "clamp"), { tile: [300, 8] }, webgpu],
  ["a CPU's gather", "direct", 0, columns("f32", "clamp"), { tile: [300, 8] }, cpu],
];

const { stepCycles: head, stepRepeatCycles: repeat, scalarCycles: access } = targets.ascendA2;

describe("the lowering of a gather", () => {
  it.each(cases)("%s: %s", (_, expected, adds, func, schedule, target = ascendA2) => {
    const { tile } = compile(func, { buffers: 1, ...schedule, profile: "head", target });
    const { lowering } = cyclesOf(tile, target);
    expect(lowering?.class).toBe(expected);
    expect(lowering?.adds.reduce((sum, part) => sum + part.bytes, 0)).toBe(adds);
  });

  /** Cycles of the first gather of a program. */
  const gatherCycles = (func: SourceFunc, schedule: Schedule): number => {
    const { tile, target } = compile(func, { buffers: 1, ...schedule, target: ascendA2 });
    return walkOf(tile, target).events.find((event) => event.name === "gather")!.cycles;
  };

  it("costs steps once a strip, over the words that lie end to end", () => {
    // maxs, mins, muls and add, which reads two tiles; the gather's row, its further elements, and the further repeats of its addresses.
    const strip = (words: number): number => {
      const repeats = Math.ceil(words / 64);
      return 4 * head + (5 * repeats + repeats - 1) * repeat + 47 + (words - 64) / 5;
    };
    expect(gatherCycles(columns("f32", "clamp"), { tile: [300, 16] })).toBe(Math.ceil(strip(300 * 16)));
    // 34 rows eight times, then 28.
    const strips = 8 * strip(34 * 40) + strip(28 * 40);
    expect(gatherCycles(columns("f32", "clamp"), { tile: [300, 40], ubBytes: 150_000 })).toBe(
      Math.ceil(strips),
    );
  });

  it("keeps marks of rows that are whole as of one row, and of rows that may end short one by one", () => {
    // maxs, mins, sub, or, muls and add; the repeats of or apart.
    const strip = (words: number, marks: number): number => {
      const repeats = Math.ceil(words / 64);
      return 6 * head + (7 * repeats + marks + repeats - 1) * repeat + 47 + (words - 64) / 5;
    };
    expect(gatherCycles(columns("f32", "error"), { tile: [300, 8] })).toBe(Math.ceil(strip(300 * 8, 2 * 38)));
    expect(gatherCycles(columns("f32", "error"), { tile: [300, 16] })).toBe(
      Math.ceil(strip(152 * 16, 2 * 152) + strip(148 * 16, 2 * 148)),
    );
  });

  it("costs a scalar read and a copy of blocks for a row picked in UB, waits of the scalar unit around them", () => {
    const op = onnx.gather({ data: ["f32", [100, 196]], indices: ["i32", [32]], axis: 0 });
    expect(gatherCycles(op, { tile: [8, 196] })).toBe(Math.ceil(8 * (access + 5 + 784 / 32 + 0.5) + 2 * 18));
  });

  it("costs the larger of issue and bytes of each row fetched, and an index", () => {
    const pages = onnx.gather({ data: ["f16", [256, 64, 128]], indices: ["i32", [8]], axis: 0 });
    const page = (64 * 128 * 2) / ascendA2.loadBytesPerCycle + ascendA2.rowIndexCycles;
    // Five waits, since errors are recorded, and the latency of the load of the indices.
    expect(gatherCycles(pages, { tile: [8, 64, 128], residency: "gm" })).toBe(
      Math.ceil(8 * page + 5 * 18 + ascendA2.loadLatencyCycles),
    );
    // 128 B take less than the issue of a load.
    const rows = onnx.gather({ data: ["f32", [5000, 32]], indices: ["i32", [37]], axis: 0 });
    expect(gatherCycles(rows, { tile: [37, 32], residency: "gm" })).toBe(
      Math.ceil(
        37 * (ascendA2.loadIssueCycles + ascendA2.rowIndexCycles) + 5 * 18 + ascendA2.loadLatencyCycles,
      ),
    );
  });

  it("costs warps of threads and lines for rows of the 950's MGATHER, whatever loads cost", () => {
    const { simtWarpCycles: access, simtLineCycles: line, callCycles: call, syncCycles } = ascend950;
    const cycles = (columns: number, target: Target): number => {
      const op = pypto.indexSelect({
        input: ["f32", [5000, columns]],
        index: ["i32", [64]],
        dim: 0,
        oob: "unchecked",
      });
      const kernel = compile(op, {
        tile: [64, columns],
        residency: "gm",
        buffers: 1,
        lowering: "mgather",
        target,
      });
      return walkOf(kernel.tile, kernel.target).events.find(({ name }) => name === "gather")!.cycles;
    };
    const around = call + 2 * syncCycles + ascend950.loadLatencyCycles;
    // A row is a warp: an index, an element and its place, of one line each.
    expect(cycles(32, ascend950)).toBe(Math.ceil(64 * 3 * access + around));
    // Four rows in a warp: four lines take longer than an access.
    expect(4 * line).toBeGreaterThan(access);
    expect(cycles(8, ascend950)).toBe(Math.ceil(16 * (2 * access + 4 * line) + around));
    expect(cycles(32, { ...ascend950, loadIssueCycles: 1000, scalarCycles: 1000 })).toBe(
      cycles(32, ascend950),
    );
    expect(cycles(32, { ...ascend950, simtWarpCycles: 2 * access })).toBe(
      Math.ceil(64 * 6 * access + around),
    );
  });

  it("costs what it must set up once before a core's first gather", () => {
    const { tile, target } = compile(columns("f32", "clamp"), { tile: [300, 16], target: ascendA2 });
    const { start } = clocked(tile, target, 3, programLowering(tile, target));
    // Where the columns of 300 rows of 16 begin: 8 words of the scalar unit, for which V waits; then twice as many with each addition.
    const rows = [1, 2, 4, 8, 16, 32, 64, 128, 300 - 256];
    const repeats = [8, ...rows.map((count) => 16 * count)].map((words) => Math.ceil(words / 64));
    const doubled = repeats.length * head + repeats.reduce((sum, count) => sum + count) * repeat;
    const seeds = Math.ceil(8 * access);
    expect(start).toEqual({ MTE2: 0, S: seeds, V: seeds + Math.ceil(doubled) + 18, MTE3: 0 });
  });
});
