import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { printMoves } from "../../backends/moves.js";
import { movesOf, planWasm } from "../../backends/wasm/index.js";
import { meanBytes, RunError, targets, verifyStructure, type DType } from "../../ir/index.js";
import { compile, onnx, type Kernel } from "../../src/index.js";

const [rows, columns] = [1024, 41];

const gather = (dtype: DType, index: "i32" | "i64", tile: readonly number[], axis = 1): Kernel =>
  compile(onnx.gatherElements({ data: [dtype, [rows, columns]], indices: [index, [rows, columns]], axis }), {
    target: targets.cpu,
    tile: [...tile],
    residency: "ub",
  });

/** Some of each part count from the end, which ends what is checked together. */
const indexOf = (below: number, k: number): number => {
  const place = (Math.imul(k, 2654435761) >>> 7) % below;
  return k % 97 === 3 ? place - below : place;
};

function run(kernel: Kernel, dtype: DType, index: "i32" | "i64", values: readonly number[]): Uint8Array {
  const data = pattern(dtype);
  const indices = index === "i32" ? Int32Array.from(values) : BigInt64Array.from(values, BigInt);
  const { outputs } = simulate(
    kernel,
    { data, indices: new Uint8Array(indices.buffer) },
    { executor: "fast" },
  );
  const output = outputs.output as Uint8Array;
  return new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
}

const pattern = (dtype: DType): Uint8Array =>
  Uint8Array.from({ length: rows * columns * meanBytes(dtype) }, (_, k) => Math.imul(k, 40503) >>> 8);

function expectedOf(dtype: DType, values: readonly number[], axis: number): Uint8Array {
  const size = meanBytes(dtype);
  const data = pattern(dtype);
  const out = new Uint8Array(data.length);
  values.forEach((value, k) => {
    const [row, column] = [Math.floor(k / columns), k % columns];
    const element =
      axis === 1 ? row * columns + ((value + columns) % columns) : ((value + rows) % rows) * columns + column;
    out.set(data.subarray(element * size, (element + 1) * size), k * size);
  });
  return out;
}

const dtypes = ["i8", "f16", "f32", "i64", "c128"] as const;
const indexTypes = ["i32", "i64"] as const;

describe("rows taken side by side", () => {
  /** By where the four rows come from. */
  const kinds = [
    { kind: "of joined tasks", tile: [1, columns], axis: 1 },
    { kind: "of one tile", tile: [8, columns], axis: 1 },
    { kind: "of columns", tile: [rows, 19], axis: 0 },
  ] as const;

  it.each(
    kinds.flatMap((kind) =>
      dtypes.flatMap((dtype) => indexTypes.map((index) => ({ ...kind, dtype, index }))),
    ),
  )("have the bits of the definition: $kind, $dtype by $index", ({ dtype, index, tile, axis }) => {
    const kernel = gather(dtype, index, tile, axis);
    expect(printMoves(movesOf(planWasm(kernel.tile)))).toContain("parts of d0 side by side 4");
    const below = axis === 1 ? columns : rows;
    const values = Array.from({ length: rows * columns }, (_, k) => indexOf(below, k));
    const found = run(kernel, dtype, index, values);
    expect(Buffer.from(found).equals(Buffer.from(expectedOf(dtype, values, axis)))).toBe(true);
  });

  it.each(indexTypes)("name the first output element whose index is out of range, by %s", (index) => {
    const kernel = gather("f32", index, [8, columns]);
    const values = Array.from({ length: rows * columns }, (_, k) => indexOf(columns, k));
    // Rows 1 and 6 of a tile lie in its first and last part; the later part meets its own first.
    const [later, first] = [16 * columns + 6 * columns + 2, 16 * columns + 1 * columns + 35];
    values[later] = columns;
    values[first] = -columns - 1;
    let found: unknown;
    try {
      run(kernel, "f32", index, values);
    } catch (thrown) {
      found = thrown;
    }
    expect(found).toBeInstanceOf(RunError);
    expect(found).toMatchObject({ diagnostics: [{ code: "TC601", data: { position: first } }] });
  });

  it("are told by the high half of a 64-bit index too", () => {
    const kernel = gather("f32", "i64", [8, columns]);
    const values = Array.from({ length: rows * columns }, () => 0);
    values[100] = 2 ** 32;
    expect(() => run(kernel, "f32", "i64", values)).toThrow("4294967296");
  });
});

describe("short tasks", () => {
  it.each([
    ["one row", [1, columns]],
    ["two rows", [2, columns]],
  ] as const)("of %s are joined to four rows, as a program that verifies", (_, tile) => {
    const plan = planWasm(gather("f32", "i32", tile).tile);
    expect(verifyStructure(plan.func)).toEqual([]);
    expect(plan.nest.tasks).toBe(rows / 4);
    expect(printMoves(movesOf(plan))).toContain(`tasks joined ${4 / tile[0]}`);
  });

  const tasksOf = (
    dtype: DType,
    shape: readonly number[],
    tile: readonly number[],
    { axis = 1, residency = "ub" }: { axis?: number; residency?: "ub" | "gm" } = {},
  ): number =>
    planWasm(
      compile(onnx.gatherElements({ data: [dtype, shape], indices: ["i32", shape], axis }), {
        target: targets.cpu,
        tile,
        residency,
      }).tile,
    ).nest.tasks;

  it("are joined in place too", () => {
    expect(tasksOf("f32", [rows, columns], [1, columns], { residency: "gm" })).toBe(rows / 4);
  });

  it.each([
    ["the tasks are no multiple of four", "f32", [1026, 40], [1, 40], 1026],
    ["few would be left", "f32", [512, 40], [1, 40], 512],
    ["four slabs leave the first cache level", "f32", [1024, 4096], [1, 4096], 1024],
  ] as const)("are not joined where %s", (_, dtype, shape, tile, tasks) => {
    const found = tasksOf(dtype, shape, tile);
    expect(found).toBe(tasks);
  });

  it("are not joined where they follow each other along a row", () => {
    expect(tasksOf("f32", [3, 4096], [3, 1], { axis: 0 })).toBe(4096);
  });
});
