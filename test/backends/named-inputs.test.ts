/** Calls of kernels that compute: of an operand of which few rows are named, these alone are copied. */
import { afterEach, describe, expect, it } from "vitest";
import { printMoves } from "../../backends/moves.js";
import { simulate, simulateLong, wasmMoves } from "../../backends/sim/index.js";
import { keptExecutors } from "../../backends/wasm/index.js";
import { parseModule, targets, type OutOfBounds } from "../../ir/index.js";
import { compile, type Kernel } from "../../src/index.js";
import { spawnThread } from "../../src/device/index.js";

const [rows, columns, tokens] = [5000, 48, 6];

function kernelOf(text: string): Kernel {
  const { module, diagnostics } = parseModule(text, "named.tir");
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!, { target: targets.cpu, residency: "gm" });
}

/** Rows of whole numbers, each times the scale of its row. */
const scaled = (oob: OutOfBounds = "error"): Kernel =>
  kernelOf(`func @f(%q: tensor<${rows}x${columns}xi8>, %s: tensor<${rows}xf32>, %i: tensor<${tokens}xi64>) -> tensor<${tokens}x${columns}xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = ${oob}(%i[d0] in ${rows}) yield f32(%q[t, d1]) * %s[t] {oob = ${oob}}
  return %y
}
`);

const inputsOf = (first: number, values: readonly number[]) => ({
  q: Int8Array.from({ length: rows * columns }, (_, k) => first + k * 7),
  s: Float32Array.from({ length: rows }, (_, k) => first + k / 4),
  i: BigInt64Array.from(values, BigInt),
});
const expectedOf = (
  { q, s }: ReturnType<typeof inputsOf>,
  named: readonly (number | undefined)[],
): Float32Array =>
  Float32Array.from(
    named.flatMap((t) =>
      Array.from({ length: columns }, (_, c) => (t === undefined ? 0 : q[t * columns + c]! * s[t]!)),
    ),
  );
const fast = { executor: "fast" } as const;

describe("an operand of which few rows are named", () => {
  /** Bytes of the rows that some of six indices name, each once, of their scales, and of the indices. */
  const copiedFor = (values: readonly number[]): number => new Set(values).size * (columns + 4) + tokens * 8;

  it("is copied by the row, call by call", () => {
    const kernel = scaled();
    for (const [first, values] of [
      [1, [4999, 0, 7, 7, 2500, 31]],
      [3, [7, 7, 7, 7, 7, 4998]],
      [5, [0, 1, 2, 3, 4, 5]],
    ] as const) {
      const inputs = inputsOf(first, values);
      const { outputs, report } = simulate(kernel, inputs, fast);
      expect(outputs.output).toEqual(expectedOf(inputs, values));
      expect(report.copiedBytes).toBe(copiedFor(values));
    }
  });

  it("is copied so into the memory that threads share, and by long runs", async () => {
    const inputs = inputsOf(2, [1, 2, 3, 4, 4999, 6]);
    for (const options of [fast, { ...fast, threads: 2, spawn: spawnThread }]) {
      const { outputs, report } = await simulateLong(scaled(), inputs, options);
      expect(outputs.output).toEqual(expectedOf(inputs, [1, 2, 3, 4, 4999, 6]));
      expect(report.copiedBytes).toBe(copiedFor([1, 2, 3, 4, 4999, 6]));
    }
  });

  it("has the rows that a policy names", () => {
    const inputs = inputsOf(1, [5000, -1, 7, 9999, -5001, 31]);
    const call = (oob: OutOfBounds) => simulate(scaled(oob), inputs, fast).outputs.output;
    expect(call("clamp")).toEqual(expectedOf(inputs, [4999, 0, 7, 4999, 0, 31]));
    expect(call("wrap")).toEqual(expectedOf(inputs, [0, 4999, 7, 4999, 4999, 31]));
    expect(call("zero")).toEqual(expectedOf(inputs, [undefined, undefined, 7, undefined, undefined, 31]));
  });

  it("leaves an index out of range to the kernel, and the next call its own rows", () => {
    const kernel = scaled();
    const bad = inputsOf(1, [4, 5000, 7, -1, 2500, 31]);
    expect(() => simulate(kernel, bad, fast)).toThrow("index 5000 at i[1] is out of range");
    const inputs = inputsOf(2, [4, 4999, 7, 1, 2500, 31]);
    expect(simulate(kernel, inputs, fast).outputs.output).toEqual(
      expectedOf(inputs, [4, 4999, 7, 1, 2500, 31]),
    );
  });

  it("has its rows beside a sum whose terms are left out", () => {
    const kernel =
      kernelOf(`func @f(%q: tensor<${rows}x${columns}xi16>, %b: tensor<${rows}x${columns}xi16>, %i: tensor<${tokens}x2xi32>) -> tensor<${tokens}x${columns}xi32> {
  %y = access.gather %q, %b, %i (d0, d1; r < 2) let u = error(%i[d0, 1] in ${rows}) let t = fill(%i[d0, r] in 9) yield fold(i32(%q[t, d1])) + i32(%b[u, d1]) {oob = fill}
  return %y
}
`);
    const [q, b] = [3, 5].map((by) => Int16Array.from({ length: rows * columns }, (_, k) => k * by)) as [
      Int16Array,
      Int16Array,
    ];
    // Of rows 1 and 5 no term is left, of rows 0 and 2 one is.
    const i = Int32Array.of(4, 4999, 70, 12, 30, 8, 1, 2, 8, 0, -1, 31);
    const term = (t: number, c: number): number => (t >= 0 && t < 9 ? q[t * columns + c]! : 0);
    const expected = Array.from({ length: tokens * columns }, (_, o) => {
      const [d0, c] = [Math.floor(o / columns), o % columns];
      const [t, u] = [i[2 * d0]!, i[2 * d0 + 1]!];
      return term(t, c) + term(u, c) + b[u * columns + c]!;
    });
    expect(simulate(kernel, { q, b, i }, fast).outputs.output).toEqual(Int32Array.from(expected));
    expect(printMoves(wasmMoves(kernel.tile))).toContain("inputs named rows");
  });

  it("is said to be, in the plan of moves", () => {
    expect(printMoves(wasmMoves(scaled().tile))).toContain("inputs named rows");
  });
});

describe("rows that are divided", () => {
  const [i, values] = [Int32Array.of(4999, 0, 7, 7, 2500, 31), [4999, 0, 7, 2500, 31]];
  const q = Int8Array.from({ length: rows * columns }, (_, k) => k * 7);
  const outputOf = (element: (t: number, c: number) => number): Float32Array =>
    Float32Array.from([...i].flatMap((t) => Array.from({ length: columns }, (_, c) => element(t, c))));

  it.each([
    ["into blocks", "d1 div 16", 3, (c: number) => Math.floor(c / 16)],
    ["into blocks, the last one short", "d1 div 20", 3, (c: number) => Math.floor(c / 20)],
    ["into places in blocks", "d1 mod 16", 16, (c: number) => c % 16],
    ["into places in more than the row", "d1 mod 100", 48, (c: number) => c],
  ])("%s, are copied where indices name them", (_, coord, scales, place) => {
    const kernel =
      kernelOf(`func @f(%q: tensor<${rows}x${columns}xi8>, %s: tensor<${rows}x${scales}xf32>, %i: tensor<${tokens}xi32>) -> tensor<${tokens}x${columns}xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in ${rows}) yield f32(%q[t, d1]) * %s[t, ${coord}] {oob = error}
  return %y
}
`);
    const s = Float32Array.from({ length: rows * scales }, (_, k) => k % 1000);
    const { outputs, report } = simulate(kernel, { q, s, i }, fast);
    expect(outputs.output).toEqual(outputOf((t, c) => q[t * columns + c]! * s[t * scales + place(c)]!));
    expect(report.copiedBytes).toBe(values.length * (columns + 4 * scales) + i.byteLength);
  });

  it("by pages, are copied where both name them", () => {
    const kernel =
      kernelOf(`func @f(%q: tensor<1250x4x${columns}xi8>, %i: tensor<2xi32>) -> tensor<7x${columns}xf32> {
  %y = access.gather %q, %i (d0, d1) let t = error(%i[d0 div 4] in 1250) yield f32(%q[t, d0 mod 4, d1]) * 2.0 {oob = error}
  return %y
}
`);
    const pages = Int32Array.of(1249, 3);
    const { outputs, report } = simulate(kernel, { q, i: pages }, fast);
    const expected = Array.from({ length: 7 * columns }, (_, o) => {
      const d0 = Math.floor(o / columns);
      return 2 * q[(4 * pages[Math.floor(d0 / 4)]! + (d0 % 4)) * columns + (o % columns)]!;
    });
    expect(outputs.output).toEqual(Float32Array.from(expected));
    expect(report.copiedBytes).toBe(7 * columns + pages.byteLength);
  });
});

describe("rows that segments list", () => {
  const [listed, segments] = [12, 4];
  const text = (term: string): string =>
    `func @f(%x: tensor<${rows}x${columns}xf32>, %i: tensor<${listed}xi32>, %off: tensor<${segments + 1}xi32>) -> tensor<${segments}x${columns}xf32> {
  %y = access.gather %x, %i, %off (d0, d1; r in error(%off[d0] in ${listed + 1}) to error(%off[d0 + 1] in ${listed + 1}) most 5) let t = fill(%i[r] in ${rows} but 8) yield fold(${term}) {oob = fill}
  return %y
}
`;
  const x = Float32Array.from({ length: rows * columns }, (_, k) => k % 977);
  const off = Int32Array.of(0, 3, 3, 7, 12);
  // 8 names no row; nor does 5000.
  const i = Int32Array.of(4999, 8, 2, 2, 5000, 40, 2, 1, 4999, 77, 3000, 60);

  it("are copied once each, however many segments list them", () => {
    const { outputs, report } = simulate(kernelOf(text("%x[t, d1] * 0.5")), { x, i, off }, fast);
    const expected = Array.from({ length: segments * columns }, (_, o) => {
      const [d0, c] = [Math.floor(o / columns), o % columns];
      const own = [...i.subarray(off[d0], off[d0 + 1])].filter((t) => t !== 8 && t < rows);
      return own.reduce((sum, t) => Math.fround(sum + x[t * columns + c]! * 0.5), 0);
    });
    expect(outputs.output).toEqual(Float32Array.from(expected));
    expect(report.copiedBytes).toBe(7 * columns * 4 + i.byteLength + off.byteLength);
  });

  it("are copied whole where an index value depends on its segment in another way", () => {
    const kernel =
      kernelOf(`func @f(%x: tensor<${rows}x${columns}xf32>, %i: tensor<${segments}x${listed}xi32>, %off: tensor<${segments + 1}xi32>) -> tensor<${segments}x${columns}xf32> {
  %y = access.gather %x, %i, %off (d0, d1; r in error(%off[d0] in ${listed + 1}) to error(%off[d0 + 1] in ${listed + 1}) most 5) let t = error(%i[d0, r] in ${rows}) yield fold(%x[t, d1]) {oob = error}
  return %y
}
`);
    const own = Int32Array.from({ length: segments * listed }, (_, k) => 100 * k);
    const { report } = simulate(kernel, { x, i: own, off }, fast);
    expect(report.copiedBytes).toBe(x.byteLength + own.byteLength + off.byteLength);
  });
});

describe("other operands", () => {
  it("are copied whole: those whose rows are many, and tables of indices", () => {
    // Each output row is made from the same scales, and from rows of the table of indices.
    const kernel =
      kernelOf(`func @f(%q: tensor<${rows}x${columns}xi16>, %s: tensor<${columns}xf32>, %i: tensor<${tokens}x8xi32>) -> tensor<${tokens}x${columns}xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0, 3] in ${rows}) yield f32(%q[t, d1]) * %s[d1] + f32(%i[d0, 5]) {oob = error}
  return %y
}
`);
    const q = Int16Array.from({ length: rows * columns }, (_, k) => k * 3);
    const s = Float32Array.from({ length: columns }, (_, k) => 1 + k / 8);
    const i = Int32Array.from({ length: tokens * 8 }, (_, k) => (k * 7919) % rows);
    const { outputs, report } = simulate(kernel, { q, s, i }, fast);
    const expected = Array.from({ length: tokens * columns }, (_, o) => {
      const [d0, d1] = [Math.floor(o / columns), o % columns];
      return Math.fround(Math.fround(q[i[d0 * 8 + 3]! * columns + d1]! * s[d1]!) + i[d0 * 8 + 5]!);
    });
    expect(outputs.output).toEqual(Float32Array.from(expected));
    expect(report.copiedBytes).toBe(tokens * columns * 2 + s.byteLength + i.byteLength);
  });

  it("are copied whole where the program loads them", () => {
    const { module } = parseModule(
      `func @f(%q: tensor<6x4096xi8>, %s: tensor<6xf32>, %i: tensor<1x16xi32>) -> tensor<1x16xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0, d1] in 4096) yield f32(%q[2, t]) * %s[d0] {oob = error}
  return %y
}
`,
      "loaded.tir",
    );
    const [q, s] = [Int8Array.from({ length: 6 * 4096 }, (_, k) => k * 5), Float32Array.of(2, 3, 4, 5, 6, 7)];
    const i = Int32Array.from({ length: 16 }, (_, k) => (k * 97) % 4096);
    const copiedBy = (residency: "gm" | "ub"): number => {
      const kernel = compile(module.funcs[0]!, { target: targets.cpu, residency });
      const { outputs, report } = simulate(kernel, { q, s, i }, fast);
      expect(outputs.output).toEqual(Float32Array.from(i, (t) => q[2 * 4096 + t]! * 2));
      return report.copiedBytes;
    };
    expect(copiedBy("ub")).toBe(q.byteLength + s.byteLength + i.byteLength);
    expect(copiedBy("gm")).toBe(16 + s.byteLength + i.byteLength);
  });
});

describe("a memory of which few pages are touched", () => {
  afterEach(() => {
    WebAssembly.Memory = Memory;
  });
  const { Memory } = WebAssembly;

  it("is kept, however long it is", () => {
    const long = 2 ** 24;
    const kernel =
      kernelOf(`func @f(%q: tensor<${long}x48xi8>, %s: tensor<${long}xf32>, %i: tensor<4xi32>) -> tensor<4x48xf32> {
  %y = access.gather %q, %s, %i (d0, d1) let t = error(%i[d0] in ${long}) yield f32(%q[t, d1]) * %s[t] {oob = error}
  return %y
}
`);
    let made = 0;
    WebAssembly.Memory = class extends Memory {
      constructor(descriptor: WebAssembly.MemoryDescriptor) {
        super(descriptor);
        made++;
      }
    };
    // Pages that nobody writes take no memory.
    const [q, s] = [new Int8Array(long * 48), new Float32Array(long)];
    q.fill(3, 48 * (long - 1));
    s[long - 1] = 7;
    for (let call = 0; call < 3; call++) {
      const i = Int32Array.of(0, long - 1, call, 2);
      const output = simulate(kernel, { q, s, i }, fast).outputs.output as Float32Array;
      expect([...output.subarray(0, 96)]).toEqual([
        ...new Array<number>(48).fill(0),
        ...new Array<number>(48).fill(21),
      ]);
    }
    expect(keptExecutors.take(kernel.tile).memoryBytes).toBeGreaterThan(2 ** 29);
    // None where a small memory of another kernel was free to grow.
    expect(made).toBeLessThanOrEqual(1);
  });
});
