/** Rows that are resolved by the block and moved from the caller's arrays, beside plain loops. */
import { describe, expect, it } from "vitest";
import { planDirect } from "../../backends/direct/plan.js";
import { runDirect } from "../../backends/direct/run.js";
import { simulate } from "../../backends/sim/index.js";
import { toHosts, type GatherData } from "../../backends/values.js";
import { parseModule, targets } from "../../ir/index.js";
import { byteCount } from "../../ir/types.js";
import { compile, type Kernel, type RunError } from "../../src/index.js";
import { operandOf } from "../support/operands.js";

function kernelOf(operands: string, output: string, map: string, oob = "error"): Kernel {
  const { module, diagnostics } = parseModule(
    `func @f(${operands}) -> tensor<${output}> {
  %y = access.gather ${operands.replaceAll(/: tensor<[^>]*>/g, "")} ${map} {oob = ${oob}}
  return %y
}
`,
    "direct.tir",
  );
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!, { target: targets.cpu });
}

function direct({ tile }: Kernel, inputs: GatherData, parts: readonly [number, number][] = []): Uint8Array {
  const plan = planDirect(tile)!;
  const output = new Uint8Array(byteCount(operandOf(tile, "output").type));
  const hosts = toHosts(tile, inputs);
  if (parts.length === 0) runDirect(plan, hosts, output);
  for (const [from, to] of parts) runDirect(plan, hosts, output, from, to);
  return output;
}

const thrownBy = (run: () => unknown): RunError => {
  try {
    run();
  } catch (thrown) {
    return thrown as RunError;
  }
  throw new Error("it threw nothing");
};

/** Numbers in [0, below) without a pattern of a block's length. */
const numbers = (count: number, below: number): number[] =>
  Array.from({ length: count }, (_, k) => (k * 7919 + (k >> 3) * 31) % below);

describe("rows that two tables pick", () => {
  const rows = 3000;
  const operands = `%x: tensor<50x40x3xi32>, %i: tensor<${rows}xi32>, %j: tensor<${rows}xi64>`;
  const map = "(d0, d1) -> (%i[d0], %j[d0], d1)";
  const x = Int32Array.from({ length: 50 * 40 * 3 }, (_, k) => k + 1);
  const [i, j] = [numbers(rows, 50), numbers(rows, 40)];
  const given = (own: readonly number[], other: readonly number[]): GatherData => ({
    x,
    i: Int32Array.from(own),
    j: BigInt64Array.from(other, BigInt),
  });
  const withValue = (list: readonly number[], changed: Readonly<Record<number, number>>): number[] =>
    list.map((value, k) => changed[k] ?? value);
  const expected = (own: readonly number[], other: readonly number[]): number[] =>
    own.flatMap((a, k) => {
      const b = other[k]!;
      const lies = a >= 0 && a < 50 && b >= 0 && b < 40;
      return [0, 1, 2].map((c) => (lies ? (a * 40 + b) * 3 + c + 1 : 0));
    });
  const output = (bytes: Uint8Array): number[] => [...new Int32Array(bytes.buffer)];

  it("are those of the loop, in parts too", () => {
    const kernel = kernelOf(operands, `${rows}x3xi32`, map);
    expect(output(direct(kernel, given(i, j)))).toEqual(expected(i, j));
    expect(
      output(
        direct(kernel, given(i, j), [
          [0, 7],
          [7, 1500],
          [1500, rows],
        ]),
      ),
    ).toEqual(expected(i, j));
  });

  it("are zero where either table names none", () => {
    const kernel = kernelOf(operands, `${rows}x3xi32`, map, "zero");
    const [own, other] = [
      withValue(i, { 5: 50, 6: -1, 1023: 99 }),
      withValue(j, { 5: 40, 1024: -7, 2999: 40 }),
    ];
    expect(output(direct(kernel, given(own, other)))).toEqual(expected(own, other));
    // What a block found ended has no part in the next call.
    expect(output(direct(kernel, given(i, j)))).toEqual(expected(i, j));
  });

  it.each([
    [{ 1500: 50 }, { 1200: 40 }, 1200, "j", "40"],
    [{ 1200: -1 }, { 1500: -1, 2500: 70 }, 1200, "i", "-1"],
    [{ 2999: 2 ** 31 - 1 }, {}, 2999, "i", "2147483647"],
    [{}, { 1024: 2 ** 40 }, 1024, "j", String(2 ** 40)],
    [{ 8: 51 }, { 8: 41 }, 8, "i", "51"],
  ])("name the first value out of range: %j, %j", (own, other, row, table, value) => {
    const kernel = kernelOf(operands, `${rows}x3xi32`, map);
    const thrown = thrownBy(() => direct(kernel, given(withValue(i, own), withValue(j, other))));
    expect(thrown.diagnostics).toMatchObject([
      { code: "TC601", data: { table, value, position: row, point: [row, 0] } },
    ]);
  });

  it("end at the first of their values that names none", () => {
    const kernel = kernelOf(operands, `${rows}x3xi32`, "(d0, d1) -> (zero(%i[d0] in 50), %j[d0], d1)");
    const [own, other] = [withValue(i, { 8: 51 }), withValue(j, { 8: 40 })];
    expect(output(direct(kernel, given(own, other)))).toEqual(expected(own, other));
  });

  it("are read anew by each call", () => {
    const kernel = kernelOf(operands, `${rows}x3xi32`, map);
    direct(kernel, given(i, j));
    const reversed = [...i].reverse();
    expect(output(direct(kernel, given(reversed, j)))).toEqual(expected(reversed, j));
  });
});

describe("rows that share their index values", () => {
  const kernel = kernelOf(
    "%x: tensor<700x9x4xi32>, %i: tensor<5xi32>",
    "700x5x4xi32",
    "(d0, d1, d2) -> (d0, %i[d1], d2)",
    "zero",
  );
  const x = Int32Array.from({ length: 700 * 36 }, (_, k) => k + 1);
  const expected = (i: readonly number[]): number[] =>
    Array.from({ length: 700 * 20 }, (_, o) => {
      const row = i[Math.floor(o / 4) % 5]!;
      return row < 9 ? x[Math.floor(o / 20) * 36 + row * 4 + (o % 4)]! : 0;
    });

  it("are those of the loop, call by call", () => {
    for (const i of [
      [8, 0, 9, 3, 3],
      [1, 2, 3, 4, 5],
      [9, 9, 9, 9, 9],
    ]) {
      const output = direct(kernel, { x, i: Int32Array.from(i) });
      expect([...new Int32Array(output.buffer)]).toEqual(expected(i));
    }
  });
});

describe("the report of a call", () => {
  it("is a property by a getter that all calls share", () => {
    const kernel = kernelOf("%x: tensor<9x8xu8>, %i: tensor<4xi32>", "4x8xu8", "(d0, d1) -> (%i[d0], d1)");
    const [first, second] = [1, 2].map((row) =>
      simulate(kernel, { x: new Uint8Array(72), i: Int32Array.of(0, row, 2, 3) }, { executor: "fast" }),
    );
    const properties = [first, second].map((result) => Object.getOwnPropertyDescriptor(result, "report"));
    expect(properties[0]).toMatchObject({ enumerable: true, get: expect.any(Function) as unknown });
    expect(properties[1]).toEqual(properties[0]);
    expect(first!.report).toBe(first!.report);
    expect(first!.report.locality).not.toEqual(second!.report.locality);
  });
});

describe("elements of dims that are shorter than a block", () => {
  it.each([
    ["u8", 1],
    ["f16", 2],
    ["f32", 4],
    ["f64", 8],
  ])("of %s, at any byte of the caller's memory", (dtype, size) => {
    const kernel = kernelOf(
      `%x: tensor<9x300x7x${dtype}>, %i: tensor<4x300x7xi16>`,
      `4x300x7x${dtype}`,
      "(d0, d1, d2) -> (%i[d0, d1, d2], d1, d2)",
    );
    const i = Int16Array.from(numbers(4 * 300 * 7, 9));
    const bytes = Uint8Array.from({ length: 9 * 300 * 7 * size }, (_, k) => k * 7 + (k >> 8));
    const expected = Array.from(i, (row, o) => (row * 2100 + (o % 2100)) * size).flatMap((at) => [
      ...bytes.subarray(at, at + size),
    ]);
    for (const start of [0, 1, 2, 3, 4]) {
      const memory = new Uint8Array(bytes.byteLength + 8);
      memory.set(bytes, start);
      const x = memory.subarray(start, start + bytes.byteLength);
      expect([...direct(kernel, { x, i })]).toEqual(expected);
    }
  });
});

describe("rows", () => {
  // Whole and odd turns of the loop of each unit, and rows that a call of the engine's moves.
  it.each([1, 2, 3, 5, 6, 8, 12, 24, 40, 56, 63, 104, 136, 200, 391, 400, 1000])(
    "of %d bytes are those of the loop, at any byte of the caller's memory",
    (width) => {
      const kernel = kernelOf(
        `%x: tensor<90x${width}xu8>, %i: tensor<1100xi32>`,
        `1100x${width}xu8`,
        "(d0, d1) -> (%i[d0], d1)",
      );
      const i = Int32Array.from(numbers(1100, 90));
      const bytes = Uint8Array.from({ length: 90 * width }, (_, k) => k * 7 + (k >> 8));
      const expected = Buffer.concat(Array.from(i, (row) => bytes.subarray(row * width, (row + 1) * width)));
      for (const start of [0, 1, 2, 4, 8]) {
        const memory = new Uint8Array(bytes.byteLength + 8);
        memory.set(bytes, start);
        const x = memory.subarray(start, start + bytes.byteLength);
        expect(expected.equals(direct(kernel, { x, i }))).toBe(true);
      }
    },
  );

  // Beyond the caches they are read ahead, a few at a time.
  it.each([16, 36, 400])("of %d bytes of a table of 40 MB are those of the loop", (width) => {
    const rows = Math.ceil(40_000_000 / width);
    const kernel = kernelOf(
      `%x: tensor<${rows}x${width}xu8>, %i: tensor<1100xi32>`,
      `1100x${width}xu8`,
      "(d0, d1) -> (%i[d0], d1)",
    );
    const i = Int32Array.from({ length: 1100 }, (_, k) => (k * 7919 + 13) % rows);
    const x = new Uint8Array(rows * width);
    i.forEach((row, k) => {
      for (let u = 0; u < width; u++) x[row * width + u] = k + 3 * u;
    });
    const expected = Buffer.concat(Array.from(i, (row) => x.subarray(row * width, (row + 1) * width)));
    expect(expected.equals(direct(kernel, { x, i }))).toBe(true);
  });

  it.each([
    ["9x16", "(%i[d0], d1)", 16, 8],
    ["9x12", "(%i[d0], d1)", 12, 4],
    ["9x6", "(%i[d0], d1)", 6, 2],
    ["9x7", "(%i[d0], d1)", 7, 1],
    ["9x24", "(%i[d0], d1 + 4)", 16, 4],
    ["9x20", "(%i[d0], d1)", 16, 4],
    ["9x3x8", "(%i[d0], 1, d1)", 8, 8],
    ["150", "(2 * %i[d0] + d1)", 16, 2],
  ] as const)("of a table of %s at %s, %d bytes each, move by %d at once", (shape, at, width, unit) => {
    const operands = `%x: tensor<${shape}xu8>, %i: tensor<5xi32>`;
    const kernel = kernelOf(operands, `5x${width}xu8`, `(d0, d1) -> ${at}`);
    expect(planDirect(kernel.tile)?.unit).toBe(unit);
    const x = Uint8Array.from(
      { length: shape.split("x").reduce((all, n) => all * Number(n), 1) },
      (_, k) => k,
    );
    const i = [3, 8, 0, 8, 5];
    const first = { "9x24": 4, "9x3x8": 8 }[shape as string] ?? 0;
    const step = shape === "150" ? 2 : x.length / 9;
    const expected = i.flatMap((row) => [...x.subarray(row * step + first, row * step + first + width)]);
    expect([...direct(kernel, { x, i: Int32Array.from(i) })]).toEqual(expected);
  });

  it("of a far table are zero where an index names none", () => {
    const rows = 1_500_000;
    const kernel = kernelOf(
      `%x: tensor<${rows}x3xf64>, %i: tensor<1100xi32>`,
      "1100x3xf64",
      "(d0, d1) -> (%i[d0], d1)",
      "zero",
    );
    const i = Int32Array.from({ length: 1100 }, (_, k) => (k % 7 === 3 ? rows + k : (k * 1361) % rows));
    const x = new Float64Array(rows * 3).map((_, k) => k + 1);
    const expected = Array.from(i, (row) => [0, 1, 2].map((c) => (row < rows ? row * 3 + c + 1 : 0))).flat();
    const parts: [number, number][] = [
      [0, 5],
      [5, 700],
      [700, 1100],
    ];
    expect([...new Float64Array(direct(kernel, { x, i }, parts).buffer)]).toEqual(expected);
  });
});
