/** Short rows that move four a turn, their indices checked together, beside plain loops. */
import { describe, expect, it } from "vitest";
import { printMoves } from "../../backends/moves.js";
import { FastExecutor } from "../../backends/sim/index.js";
import { toHosts, type GatherData } from "../../backends/values.js";
import { movesOf, planWasm } from "../../backends/wasm/index.js";
import { meanBytes, parseModule, targets, type DType } from "../../ir/index.js";
import { compile, onnx, type Kernel, type RunError } from "../../src/index.js";

function kernelOf(
  operands: string,
  output: string,
  map: string,
  oob: string,
  tile: readonly number[],
): Kernel {
  const { module, diagnostics } = parseModule(
    `func @f(${operands}) -> tensor<${output}> {
  %y = access.gather ${operands.replaceAll(/: tensor<[^>]*>/g, "")} ${map} {oob = ${oob}}
  return %y
}
`,
    "rows.tir",
  );
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!, { target: targets.cpu, tile, residency: "gm" });
}

/** The output of the code in WebAssembly, whatever a call would do. */
function run(kernel: Kernel, inputs: GatherData): Uint8Array {
  const { tile } = kernel;
  return new Uint8Array(FastExecutor.create(tile).run(toHosts(tile, inputs)).output);
}

const isTogether = (kernel: Kernel): boolean =>
  printMoves(movesOf(planWasm(kernel.tile))).includes("rows 4, indices checked together");

const thrownBy = (work: () => unknown): RunError => {
  try {
    work();
  } catch (thrown) {
    return thrown as RunError;
  }
  throw new Error("it threw nothing");
};

const extent = 50;
const count = 203;

/** Most turns are in range; some values of each kind lie outside, and the last rows make no whole turn. */
const values: readonly number[] = Array.from({ length: count }, (_, k) => {
  if (k % 31 === 5) return -1 - (k % 60);
  if (k % 37 === 8) return extent + (k % 90);
  return (k * 7919) % extent;
});
const inRange = values.map((value) => ((value % extent) + extent) % extent);

/** The element that a value names, undefined where it names none. */
const named = {
  clamp: (value: number) => Math.min(extent - 1, Math.max(0, value)),
  wrap: (value: number) => ((value % extent) + extent) % extent,
  zero: (value: number) => (value >= 0 && value < extent ? value : undefined),
} as const;

const arrays = {
  i32: (list: readonly number[]) => Int32Array.from(list),
  u32: (list: readonly number[]) => Uint32Array.from(list),
  i64: (list: readonly number[]) => BigInt64Array.from(list, BigInt),
  u64: (list: readonly number[]) => BigUint64Array.from(list, (value) => BigInt.asUintN(64, BigInt(value))),
} as const;

const pattern = (bytes: number): Uint8Array =>
  Uint8Array.from({ length: bytes }, (_, k) => Math.imul(k, 40503) >>> 9);

/** Rows of `width` elements of a table, one after the other. */
function rowsOf(
  dtype: DType,
  width: number,
  x: Uint8Array,
  rows: readonly (number | undefined)[],
): Uint8Array {
  const row = width * meanBytes(dtype);
  const out = new Uint8Array(rows.length * row);
  rows.forEach((from, k) => {
    if (from !== undefined) out.set(x.subarray(from * row, (from + 1) * row), k * row);
  });
  return out;
}

const sizes = [
  ["u8", 1, 1],
  ["u8", 1, 15],
  ["f16", 2, 5],
  ["f32", 4, 4],
  ["f64", 8, 1],
  ["c128", 16, 1],
] as const;

describe("rows by one index each", () => {
  it.each(
    sizes.flatMap((size) => (["clamp", "wrap", "zero"] as const).map((oob) => [...size, oob] as const)),
  )("of %s, %i B, %i of them, under %s", (dtype, _, width, oob) => {
    for (const type of ["i32", "i64"] as const) {
      const kernel = kernelOf(
        `%x: tensor<${extent}x${width}x${dtype}>, %i: tensor<${count}x${type}>`,
        `${count}x${width}x${dtype}`,
        "(d0, d1) -> (%i[d0], d1)",
        oob,
        [101, width],
      );
      expect(isTogether(kernel)).toBe(true);
      const x = pattern(extent * width * meanBytes(dtype));
      const found = run(kernel, { x, i: arrays[type](values) });
      expect(found).toEqual(rowsOf(dtype, width, x, values.map(named[oob])));
    }
  });

  it.each(["i32", "u32", "i64", "u64"] as const)("name the first value out of range, of %s", (type) => {
    const kernel = kernelOf(
      `%x: tensor<${extent}x4xf32>, %i: tensor<${count}x${type}>`,
      `${count}x4xf32`,
      "(d0, d1) -> (%i[d0], d1)",
      "error",
      [count, 4],
    );
    expect(isTogether(kernel)).toBe(true);
    const x = pattern(extent * 16);
    expect(run(kernel, { x, i: arrays[type](inRange) })).toEqual(rowsOf("f32", 4, x, inRange));
    // In the middle of a turn, at its ends, and in what makes no whole turn.
    for (const [row, value] of [
      [0, extent],
      [102, 2 ** 31 - 1],
      [103, extent],
      [count - 1, extent + 7],
      ...(type === "i64" ? ([[57, 2 ** 32 + 3]] as const) : []),
      ...(type === "i32" || type === "i64" ? ([[58, -1]] as const) : []),
    ] as const) {
      const bad = [...inRange];
      bad[row] = value;
      bad[Math.min(count - 1, row + 6)] = value;
      const thrown = thrownBy(() => run(kernel, { x, i: arrays[type](bad) }));
      expect(thrown.diagnostics).toMatchObject([
        { code: "TC601", data: { table: "indices", value: String(value), position: row, point: [row, 0] } },
      ]);
    }
  });

  it("of 32 bits without a sign take half of their numbers for no element", () => {
    const kernel = kernelOf(
      `%x: tensor<${extent}x4xf32>, %i: tensor<8xu32>`,
      "8x4xf32",
      "(d0, d1) -> (%i[d0], d1)",
      "zero",
      [8, 4],
    );
    const x = pattern(extent * 16);
    const i = Uint32Array.of(1, 2 ** 31, 2 ** 32 - 1, 3, 4, 5, 49, 50);
    const rows = [1, undefined, undefined, 3, 4, 5, 49, undefined];
    expect(run(kernel, { x, i })).toEqual(rowsOf("f32", 4, x, rows));
  });
});

describe("rows by indices that count from the end", () => {
  it.each(["i32", "i64"] as const)("move four together too, %s", (type) => {
    const kernel = compile(onnx.gather({ data: ["f32", [extent, 4]], indices: [type, [count]], axis: 0 }), {
      target: targets.cpu,
      tile: [count, 4],
      residency: "gm",
    });
    expect(isTogether(kernel)).toBe(true);
    const data = pattern(extent * 16);
    const fromEnd = inRange.map((value, k) => (k % 3 === 1 ? value - extent : value));
    expect(run(kernel, { data, indices: arrays[type](fromEnd) })).toEqual(rowsOf("f32", 4, data, inRange));
    for (const value of [-extent - 1, -(2 ** 31), extent, 2 ** 31 - 1]) {
      const bad = [...fromEnd];
      bad[90] = value;
      bad[93] = value;
      const thrown = thrownBy(() => run(kernel, { data, indices: arrays[type](bad) }));
      expect(thrown.diagnostics).toMatchObject([
        { code: "TC601", data: { value: String(value), position: 90, point: [90, 0] } },
      ]);
    }
  });

  it("are each counted from the end of its own dim", () => {
    const kernel = compile(onnx.gatherNd({ data: ["f32", [9, 7, 2]], indices: ["i64", [count, 2]] }), {
      target: targets.cpu,
      tile: [count, 2],
      residency: "gm",
    });
    expect(isTogether(kernel)).toBe(true);
    const data = pattern(9 * 7 * 8);
    const [a, b] = [inRange.map((value) => value % 9), inRange.map((value) => value % 7)];
    const tuples = a.flatMap((first, k) => [first - (k % 2) * 9, b[k]! - (k % 3 === 0 ? 7 : 0)]);
    expect(run(kernel, { data, indices: arrays.i64(tuples) })).toEqual(
      rowsOf(
        "f32",
        2,
        data,
        a.map((first, k) => first * 7 + b[k]!),
      ),
    );
  });
});

describe("rows by several indices each", () => {
  const [a, b] = [inRange.map((value) => value % 9), inRange.map((value) => (value * 5) % 7)];
  const c = inRange.map((value) => (value * 3) % 5);
  const x = pattern(9 * 7 * 5 * 12);
  const rows = (width: number): Uint8Array =>
    rowsOf(
      "f32",
      3,
      x,
      a.map((first, k) => (width === 2 ? (first * 7 + b[k]!) * 5 + 2 : (first * 7 + b[k]!) * 5 + c[k]!)),
    );

  it.each(["i32", "i64"] as const)("of one tuple, %s", (type) => {
    for (const width of [2, 3] as const) {
      const kernel = kernelOf(
        `%x: tensor<9x7x5x3xf32>, %i: tensor<${count}x${width}x${type}>`,
        `${count}x3xf32`,
        `(d0, d1) -> (%i[d0, 0], %i[d0, 1], ${width === 2 ? "2" : "%i[d0, 2]"}, d1)`,
        "error",
        [count, 3],
      );
      expect(isTogether(kernel)).toBe(true);
      const tuples = a.flatMap((first, k) => [first, b[k]!, c[k]!].slice(0, width));
      expect(run(kernel, { x, i: arrays[type](tuples) })).toEqual(rows(width));
      // Each member has a limit of its own: 8 is in range of the first alone.
      for (const member of [...Array(width).keys()].slice(1)) {
        const bad = [...tuples];
        bad[100 * width + member] = 8;
        const thrown = thrownBy(() => run(kernel, { x, i: arrays[type](bad) }));
        expect(thrown.diagnostics).toMatchObject([
          { code: "TC601", data: { value: "8", position: 100 * width + member, point: [100, 0] } },
        ]);
      }
    }
  });

  it("of two tables, of two types", () => {
    const kernel = kernelOf(
      `%x: tensor<9x7x5x3xf32>, %i: tensor<${count}xi32>, %j: tensor<${count}xi64>`,
      `${count}x3xf32`,
      "(d0, d1) -> (%i[d0], %j[d0], 2, d1)",
      "error",
      [count, 3],
    );
    expect(isTogether(kernel)).toBe(true);
    expect(run(kernel, { x, i: arrays.i32(a), j: arrays.i64(b) })).toEqual(rows(2));
  });

  it("move with the dim of the rows too", () => {
    const kernel = kernelOf(
      `%x: tensor<${count}x7x3xf32>, %i: tensor<${count}xi32>`,
      `${count}x3xf32`,
      "(d0, d1) -> (d0, %i[d0], d1)",
      "error",
      [count, 3],
    );
    expect(isTogether(kernel)).toBe(true);
    const table = pattern(count * 7 * 12);
    const expected = rowsOf(
      "f32",
      3,
      table,
      b.map((value, k) => k * 7 + value),
    );
    expect(run(kernel, { x: table, i: arrays.i32(b) })).toEqual(expected);
  });
});

describe("rows that move by themselves", () => {
  it.each([
    ["long ones", "(d0, d1) -> (%i[d0], d1)", 5, "i32", count],
    ["those of short indices", "(d0, d1) -> (%i[d0], d1)", 4, "i16", count],
    ["fewer than four", "(d0, d1) -> (%i[d0], d1)", 4, "i32", 3],
    ["those of every other index", "(d0, d1) -> (%i[2 * d0], d1)", 4, "i32", 101],
  ] as const)("are %s", (_, map, width, type, rows) => {
    const kernel = kernelOf(
      `%x: tensor<${extent}x${width}xf32>, %i: tensor<${count}x${type}>`,
      `${rows}x${width}xf32`,
      map,
      "error",
      [rows, width],
    );
    expect(isTogether(kernel)).toBe(false);
  });
});

describe("rows of programs whose sizes are open", () => {
  it("are checked against the size of the call", () => {
    const { module } = parseModule(
      `dim N <= 100
func @f(%x: tensor<Nx4xf32>, %i: tensor<64xi32>) -> tensor<64x4xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`,
      "open.tir",
    );
    const kernel = compile(module.funcs[0]!, { target: targets.cpu }).bind({ N: 20 });
    const i = Int32Array.from({ length: 64 }, (_, k) => (k * 7) % 20);
    const x = pattern(20 * 16);
    expect(run(kernel, { x, i })).toEqual(rowsOf("f32", 4, x, [...i]));
    i[41] = 20;
    expect(() => run(kernel, { x, i })).toThrow("index 20 at indices[41] is out of range");
  });
});

describe("elements by several indices each", () => {
  it("are checked sixteen together", () => {
    const kernel = compile(onnx.gatherNd({ data: ["u8", [8, 40]], indices: ["i64", [count, 2]] }), {
      target: targets.cpu,
      tile: [count],
      residency: "gm",
    });
    expect(printMoves(movesOf(planWasm(kernel.tile)))).toContain("elements 16, indices checked together");
    const data = pattern(320);
    const tuples = inRange.flatMap((value) => [(value % 8) - (value % 3 === 0 ? 8 : 0), value % 40]);
    const expected = inRange.map((value) => data[(value % 8) * 40 + (value % 40)]!);
    expect([...run(kernel, { data, indices: arrays.i64(tuples) })]).toEqual(expected);
    const bad = [...tuples];
    bad[2 * 77 + 1] = 40;
    const thrown = thrownBy(() => run(kernel, { data, indices: arrays.i64(bad) }));
    expect(thrown.diagnostics).toMatchObject([{ code: "TC601", data: { value: "40", point: [77] } }]);
  });
});
