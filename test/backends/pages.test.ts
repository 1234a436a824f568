import { describe, expect, it } from "vitest";
import { printMoves } from "../../backends/moves.js";
import { simulate } from "../../backends/sim/index.js";
import { movesOf, planWasm } from "../../backends/wasm/index.js";
import { parseModule, RunError, targets } from "../../ir/index.js";
import { compile, type Kernel } from "../../src/index.js";

const [tokens, columns] = [131, 5];

/** Rows of a pool by tokens, seven a tile: tiles begin and end inside pages. */
function kernelOf(
  data: string,
  table: string,
  map: string,
  tile: readonly number[] = [7, columns],
  rows = tokens,
): Kernel {
  const { module, diagnostics } = parseModule(
    `func @paged(%kv: tensor<${data}xi32>, %bt: tensor<${table}xi32>) -> tensor<${rows}x${columns}xi32> target("cpu") {
  %y = access.gather %kv, %bt ${map}
  return %y
}
`,
    "paged.tir",
  );
  expect(diagnostics).toEqual([]);
  return compile(module.funcs[0]!, { target: targets.cpu, tile, residency: "gm" });
}

const rowsOf = (kernel: Kernel): string =>
  printMoves(movesOf(planWasm(kernel.tile)))
    .trimEnd()
    .split("\n")
    .at(-1)!
    .trim();

const run = (kernel: Kernel, kv: Int32Array, bt: readonly number[]): number[] => [
  ...(simulate(kernel, { data: kv, indices: Int32Array.from(bt) }, { executor: "fast" }).outputs
    .output as Int32Array),
];

const expectedOf = (element: (token: number, column: number) => number): number[] =>
  Array.from({ length: tokens * columns }, (_, k) => element(Math.floor(k / columns), k % columns));

describe("rows that follow their dim by the page", () => {
  const kv = Int32Array.from({ length: 9 * 4 * columns }, (_, k) => k + 1);
  const bt = Array.from({ length: 34 }, (_, k) => (k * 5 + 8) % 9);

  it("are copied together where they lie side by side", () => {
    const kernel = kernelOf(
      "9x32x5",
      "5",
      "(d0, d1) -> (%bt[d0 div 32], d0 mod 32, d1) {oob = error}",
      [50, 5],
    );
    expect(rowsOf(kernel)).toBe("rows: bytes 20 times what is left of a page, by memory.copy, page of d0 32");
    const wide = Int32Array.from({ length: 9 * 32 * columns }, (_, k) => k + 1);
    expect(run(kernel, wide, bt.slice(0, 5))).toEqual(
      expectedOf((t, c) => wide[(bt[Math.floor(t / 32)]! * 32 + (t % 32)) * columns + c]!),
    );
  });

  it("are copied one by one where a page is short", () => {
    const kernel = kernelOf("9x4x5", "34", "(d0, d1) -> (%bt[d0 div 4], d0 mod 4, d1) {oob = error}");
    expect(rowsOf(kernel)).toBe("rows: bytes 20, by instructions, page of d0 4");
    expect(run(kernel, kv, bt)).toEqual(
      expectedOf((t, c) => kv[(bt[Math.floor(t / 4)]! * 4 + (t % 4)) * columns + c]!),
    );
  });

  it("begin anywhere in a page, and may be further on by the element too", () => {
    const kernel = kernelOf(
      "9x144x5",
      "34",
      "(d0, d1) -> (%bt[(d0 + 3) div 4], d0 + (d0 + 3) mod 4, d1) {oob = error}",
    );
    expect(rowsOf(kernel)).toBe("rows: bytes 20, by instructions, page of d0 4");
    const wide = Int32Array.from({ length: 9 * 144 * columns }, (_, k) => k + 1);
    expect(run(kernel, wide, bt)).toEqual(
      expectedOf((t, c) => wide[(bt[Math.floor((t + 3) / 4)]! * 144 + t + ((t + 3) % 4)) * columns + c]!),
    );
  });

  it("are copied one by one where the page lies along their elements", () => {
    const kernel = kernelOf("9x5x4", "34", "(d0, d1) -> (%bt[d0 div 4], d1, d0 mod 4) {oob = error}");
    expect(rowsOf(kernel)).toBe("rows: bytes 4, by instructions, page of d0 4");
    expect(run(kernel, kv, bt)).toEqual(
      expectedOf((t, c) => kv[(bt[Math.floor(t / 4)]! * columns + c) * 4 + (t % 4)]!),
    );
  });

  it("may be elements of the innermost dim", () => {
    const kernel = kernelOf("9x20", `${tokens}x2`, "(d0, d1) -> (%bt[d0, d1 div 4], d1 mod 4) {oob = error}");
    expect(rowsOf(kernel)).toBe("rows: bytes 4, by instructions, page of d1 4");
    const own = Array.from({ length: tokens * 2 }, (_, k) => (k * 5) % 9);
    expect(run(kernel, kv, own)).toEqual(
      expectedOf((t, c) => kv[own[t * 2 + Math.floor(c / 4)]! * 20 + (c % 4)]!),
    );
  });

  it.each(["", "fill = 7, "])("have the fill of a page that is none: {%s}", (fill) => {
    const kernel = kernelOf(
      "9x4x5",
      "34",
      `(d0, d1) -> (fill(%bt[d0 div 4] in 9), d0 mod 4, d1) {${fill}oob = error}`,
    );
    expect(rowsOf(kernel)).toContain("page of d0 4");
    const some = bt.map((page, k) => (k % 3 === 1 ? -1 : page));
    expect(run(kernel, kv, some)).toEqual(
      expectedOf((t, c) => {
        const page = some[Math.floor(t / 4)]!;
        return page < 0 ? (fill === "" ? 0 : 7) : kv[(page * 4 + (t % 4)) * columns + c]!;
      }),
    );
  });

  it("have no more fill than the page", () => {
    const rows = 4000;
    const map = "(d0, d1) -> (fill(%bt[d0 div 4] in 9), d0 mod 4, d1) {oob = error}";
    const kernel = kernelOf("9x4x5", `${rows / 4}`, map, [rows, columns], rows);
    const pages = Array.from({ length: rows / 4 }, () => 0);
    pages[pages.length - 1] = -1;
    // All rows from the last page on would end behind the memory: its slack is less than a page of 64 KiB.
    const found = run(kernel, kv, pages);
    expect(found.slice(-25)).toEqual([...kv.slice(15, 20), ...Array.from({ length: 20 }, () => 0)]);
  });

  it("name the first element of the first page that is out of range", () => {
    const kernel = kernelOf("9x4x5", "34", "(d0, d1) -> (%bt[d0 div 4], d0 mod 4, d1) {oob = error}");
    const bad = bt.map((page, k) => (k === 2 || k === 5 ? 9 : page));
    let found: unknown;
    try {
      run(kernel, kv, bad);
    } catch (thrown) {
      found = thrown;
    }
    expect(found).toBeInstanceOf(RunError);
    expect(found).toMatchObject({ diagnostics: [{ code: "TC601", data: { value: "9", point: [8, 0] } }] });
  });

  it.each([
    [
      "an index value that follows the remainder",
      "9x4x5",
      "34x4",
      "(d0, d1) -> (%bt[d0 div 4, d0 mod 4], d0 mod 4, d1)",
    ],
    ["an index value of each element", "9x4x5", `${tokens}`, "(d0, d1) -> (%bt[d0], d0 mod 4, d1)"],
    ["two divisors", "9x8x5", "34", "(d0, d1) -> (%bt[d0 div 4], d0 mod 8, d1)"],
    ["two forms", "9x4x5", "34", "(d0, d1) -> (%bt[(d0 + 1) div 4], d0 mod 4, d1)"],
    ["every second row", "9x8x5", "66", "(d0, d1) -> (%bt[2 * d0 div 4], 2 * d0 mod 4, d1)"],
  ])("are taken by the element under %s", (_, data, table, map) => {
    const kernel = kernelOf(data, table, `${map} {oob = error}`);
    expect(rowsOf(kernel)).toBe("rows: bytes 20, by instructions");
    const [, page = 1] = data.split("x").map(Number);
    const wide = Int32Array.from({ length: 9 * page * columns }, (_, k) => k + 1);
    const size = table.split("x").reduce((product, extent) => product * Number(extent), 1);
    const values = Array.from({ length: size }, (_, k) => (k * 7) % 9);
    const checked = simulate(
      kernel,
      { data: wide, indices: Int32Array.from(values) },
      { executor: "checked" },
    ).outputs.output as Int32Array;
    expect(run(kernel, wide, values)).toEqual([...checked]);
  });
});
