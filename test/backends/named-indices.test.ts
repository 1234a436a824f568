/** Calls that read a pool through tables, where it is. */
import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { parseModule, targets } from "../../ir/index.js";
import { compile, type Kernel } from "../../src/index.js";

const columns = 64;
const pages = 2000;

function kernelOf(operands: string, map: string, tokens: number): Kernel {
  const { module, diagnostics } = parseModule(
    `func @paged(${operands}) -> tensor<${tokens}x${columns}xi32> target("cpu") {
  %y = access.gather ${operands.replaceAll(/: tensor<[^>]*>/g, "")} ${map} {oob = error}
  return %y
}
`,
    "paged.tir",
  );
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!, { target: targets.cpu, residency: "gm" });
}

const pool = (first: number): Int32Array =>
  Int32Array.from({ length: pages * 4 * columns }, (_, k) => first + k);
const rowsOf = (kv: Int32Array, rows: readonly (number | undefined)[]): number[] =>
  rows.flatMap((row) =>
    Array.from({ length: columns }, (_, c) => (row === undefined ? 0 : kv[row * columns + c]!)),
  );

describe("a pool of which few rows are named through tables", () => {
  const decode = kernelOf(
    `%kv: tensor<${pages}x4x${columns}xi32>, %bt: tensor<4xi32>`,
    "(d0, d1) -> (%bt[(d0 + 1) div 4], (d0 + 1) mod 4, d1)",
    13,
  );
  const call = (kv: Int32Array, bt: readonly number[]) => {
    const { outputs, report } = simulate(
      decode,
      { data: kv, indices: Int32Array.from(bt) },
      { executor: "fast" },
    );
    return { output: [...(outputs.output as Int32Array)], copied: report.copiedBytes };
  };
  const rowsNamed = (bt: readonly number[]): number[] =>
    Array.from({ length: 13 }, (_, t) => bt[Math.floor((t + 1) / 4)]! * 4 + ((t + 1) % 4));

  it("is read where it is, page by page", () => {
    for (const [first, bt] of [
      [1, [1999, 0, 7, 7]],
      [500, [3, 1999, 0, 12]],
    ] as const) {
      const kv = pool(first);
      const { output, copied } = call(kv, bt);
      expect(output).toEqual(rowsOf(kv, rowsNamed(bt)));
      expect(copied).toBe(0);
    }
  });

  it("names the first index out of range", () => {
    expect(() => call(pool(1), [1, pages, -1, 2])).toThrow("2000");
  });

  it("is read by the rows that a list of tokens names, those that have none left out", () => {
    const kernel = kernelOf(
      `%kv: tensor<${pages}x4x${columns}xi32>, %topk: tensor<6xi32>, %bt: tensor<9xi32>`,
      "(d0, d1) let t = fill(%topk[d0] in 36) -> (%bt[t div 4], t mod 4, d1)",
      6,
    );
    const kv = pool(1);
    const topk = [35, 0, -1, 14, 99, 14];
    const bt = [5, 1999, 8, 0, 2, 2, 4, 1, 77];
    const { outputs, report } = simulate(
      kernel,
      { kv, topk: Int32Array.from(topk), bt: Int32Array.from(bt) },
      { executor: "fast" },
    );
    const rows = topk.map((t) => (t < 0 || t >= 36 ? undefined : bt[Math.floor(t / 4)]! * 4 + (t % 4)));
    expect([...(outputs.output as Int32Array)]).toEqual(rowsOf(kv, rows));
    expect(report.copiedBytes).toBe(0);
  });

  it("takes every page of a short page's rows by itself", () => {
    const kernel = kernelOf(
      `%kv: tensor<${pages}x8x${columns}xi32>, %bt: tensor<4xi32>`,
      "(d0, d1) -> (%bt[d0 div 4], 2 * (d0 mod 4), d1)",
      13,
    );
    const kv = Int32Array.from({ length: pages * 8 * columns }, (_, k) => k);
    const bt = [1999, 0, 7, 7];
    const { outputs, report } = simulate(
      kernel,
      { data: kv, indices: Int32Array.from(bt) },
      { executor: "fast" },
    );
    const rows = Array.from({ length: 13 }, (_, t) => bt[Math.floor(t / 4)]! * 8 + 2 * (t % 4));
    expect([...(outputs.output as Int32Array)]).toEqual(rowsOf(kv, rows));
    expect(report.copiedBytes).toBe(0);
  });

  it("is read where it is where a row lies in parts", () => {
    const kernel = kernelOf(
      `%kv: tensor<${pages}x${columns}x4xi32>, %bt: tensor<4xi32>`,
      "(d0, d1) -> (%bt[d0 div 4], d1, d0 mod 4)",
      13,
    );
    const kv = pool(0);
    const { outputs, report } = simulate(
      kernel,
      { data: kv, indices: Int32Array.of(1, 2, 3, 4) },
      { executor: "fast" },
    );
    const at = (t: number, c: number): number => ((1 + Math.floor(t / 4)) * columns + c) * 4 + (t % 4);
    expect([...(outputs.output as Int32Array)]).toEqual(
      Array.from({ length: 13 * columns }, (_, k) => kv[at(Math.floor(k / columns), k % columns)]),
    );
    expect(report.copiedBytes).toBe(0);
  });

  it("may be a table of itself", () => {
    const kernel = kernelOf(
      `%kv: tensor<${4 * pages}x${columns}xi32>, %bt: tensor<13xi32>`,
      `(d0, d1) -> (error(%kv[%bt[d0], 0] in ${4 * pages}), d1)`,
      13,
    );
    const kv = Int32Array.from({ length: 4 * pages * columns }, (_, k) => (k % columns) + (k % 997));
    const bt = Int32Array.from({ length: 13 }, (_, k) => k * 500);
    const { outputs } = simulate(kernel, { data: kv, indices: bt }, { executor: "fast" });
    expect([...(outputs.output as Int32Array)]).toEqual(
      rowsOf(
        kv,
        Array.from(bt, (row) => kv[row * columns]),
      ),
    );
  });

  it("is read where it is at each size of a program over symbols", () => {
    const { module, diagnostics } = parseModule(
      `dim N <= 64
func @paged(%kv: tensor<${pages}x4x${columns}xi32>, %bt: tensor<16xi32>) -> tensor<Nx${columns}xi32> target("cpu") {
  %y = access.gather %kv, %bt (d0, d1) -> (%bt[d0 div 4], d0 mod 4, d1) {oob = error}
  return %y
}
`,
      "paged.tir",
    );
    expect(diagnostics).toEqual([]);
    const kv = pool(1);
    const bt = Array.from({ length: 16 }, (_, k) => (k * 577) % pages);
    for (const N of [13, 30]) {
      const kernel = compile(module.funcs[0]!, { target: targets.cpu, residency: "gm", bind: { N } });
      const { outputs, report } = simulate(
        kernel,
        { data: kv, indices: Int32Array.from(bt) },
        { executor: "fast" },
      );
      const rows = Array.from({ length: N }, (_, t) => bt[Math.floor(t / 4)]! * 4 + (t % 4));
      expect([...(outputs.output as Int32Array)]).toEqual(rowsOf(kv, rows));
      expect(report.copiedBytes).toBe(0);
    }
  });
});
