/** Programs over symbols, one for each way in which kernels move elements, and inputs for their sizes. */
import { RunError } from "../../ir/index.js";
import type { CompileOptions, Kernel } from "../../src/index.js";

export interface Open {
  readonly name: string;
  readonly text: string;
  readonly options?: CompileOptions;
  readonly sizes: readonly Readonly<Record<string, number>>[];
  /** How WebGPU moves the elements at every size, whatever the most would allow. */
  readonly how: string;
}

const dims = "dim V <= 40\ndim N <= 48\n";
const func = (params: string, output: string, op: string): string =>
  `func @f(${params}) -> tensor<${output}> {\n  %y = access.gather ${op}\n  return %y\n}\n`;

/** 0, 1, odd, and the most. */
const sizes = [
  { V: 40, N: 0 },
  { V: 1, N: 1 },
  { V: 13, N: 37 },
  { V: 40, N: 48 },
  { V: 0, N: 4 },
];

export const openRows = (dtype: string, columns: number, oob = "error"): string =>
  dims +
  func(
    `%x: tensor<Vx${columns}x${dtype}>, %i: tensor<Nxi32>`,
    `Nx${columns}x${dtype}`,
    `%x, %i (d0, d1) -> (from_end(%i[d0]), d1) {oob = ${oob}}`,
  );

/** The innermost dim is the open one: no run of it ends where an access does at every size. */
const elements = (dtype: string, index = "i32"): string =>
  dims +
  func(
    `%x: tensor<Vx${dtype}>, %i: tensor<Nx${index}>`,
    `Nx${dtype}`,
    `%x, %i (d0) -> (%i[d0]) {oob = clamp}`,
  );

const columns = (dtype: string, index = "i32"): string =>
  dims +
  func(
    `%x: tensor<Vx8x${dtype}>, %i: tensor<Nx8x${index}>`,
    `Nx8x${dtype}`,
    `%x, %i (d0, d1) -> (%i[d0, d1], d1) {oob = wrap, paired = [0]}`,
  );

export const gm = { residency: "gm" } as const;
const ub = { residency: "ub", profile: "head" } as const;

export const openPrograms: readonly Open[] = [
  { name: "rows", text: openRows("f32", 8), options: gm, sizes, how: "rows" },
  { name: "short rows of bytes", text: openRows("u8", 3), options: gm, sizes, how: "packed" },
  {
    name: "rows of halves",
    text: openRows("f16", 16, "zero"),
    options: { ...gm, tile: [5, 16] },
    sizes,
    how: "rows",
  },
  { name: "staged rows", text: openRows("f32", 8), options: { ...ub, tile: [16, 8] }, sizes, how: "rows" },
  { name: "staged bytes", text: openRows("u8", 5), options: { ...ub, tile: [7, 5] }, sizes, how: "packed" },
  { name: "elements", text: elements("f32"), options: { ...gm, tile: [16] }, sizes, how: "words" },
  { name: "staged elements", text: elements("f32"), options: { ...ub, tile: [48] }, sizes, how: "words" },
  { name: "bytes", text: elements("u8", "i64"), options: { ...gm, tile: [16] }, sizes, how: "packed" },
  { name: "columns", text: columns("f32"), options: { ...gm, tile: [8, 8] }, sizes, how: "groups" },
  { name: "columns of bytes", text: columns("u8"), options: { ...gm, tile: [8, 8] }, sizes, how: "groups" },
  {
    name: "columns, by 64 bits",
    text: columns("i64", "i64"),
    options: { ...gm, tile: [3, 4] },
    sizes,
    how: "groups",
  },
  { name: "columns, staged", text: columns("f32"), options: { ...ub, tile: [48, 4] }, sizes, how: "groups" },
  {
    name: "more loops than a grid has dims",
    text:
      dims +
      func(
        "%x: tensor<Vx2x2x3xf16>, %i: tensor<Nxi32>",
        "Nx2x2x3xf16",
        "%x, %i (d0, d1, d2, d3) -> (%i[d0], d1, d2, d3) {oob = zero}",
      ),
    options: { ...gm, tile: [4, 1, 1, 2], view: [12, 2, 2, 3], order: [3, 0, 2, 1] },
    sizes,
    how: "packed",
  },
  {
    name: "sizes in coordinates and bounds",
    text:
      dims +
      func(
        "%x: tensor<Vx4xf32>, %i: tensor<Nxi32>",
        "Nx4xf32",
        "%x, %i (d0, d1) let s = fill(from_end(%i[N - 1 - d0] of V - 1) in V div 2) -> (2 * s, d1) {oob = fill, fill = 7}",
      ),
    options: { ...gm, tile: [16, 4] },
    sizes: sizes.map((one) => ({ ...one, V: Math.max(2, one.V) })),
    how: "rows",
  },
  {
    name: "pages of a table",
    text:
      "dim N <= 48\n" +
      func(
        "%x: tensor<24x8xf32>, %bt: tensor<12xi32>",
        "Nx8xf32",
        "%x, %bt (d0, d1) -> (4 * clamp(%bt[d0 div 4] in 6) + d0 mod 4, d1) {oob = clamp}",
      ),
    options: { ...gm, tile: [48, 8] },
    sizes: [0, 1, 37, 48].map((N) => ({ N })),
    how: "rows",
  },
  {
    name: "packed rows that do not fill bytes",
    text:
      dims +
      func(
        "%x: tensor<Vx7xi4>, %i: tensor<Nxi32>",
        "Nx7xf32",
        "%x, %i (d0, d1) let t = error(from_end(%i[d0]) in V) yield f32(%x[t, d1]) {oob = error}",
      ),
    options: { ...gm, tile: [5, 3] },
    sizes,
    how: "words",
  },
  {
    name: "packed rows that do not fill bytes, staged",
    text:
      dims +
      func(
        "%x: tensor<Vx7xu4>, %i: tensor<Nxi32>",
        "Nx7xf32",
        "%x, %i (d0, d1) let t = error(from_end(%i[d0]) in V) yield f32(%x[t, d1]) {oob = error}",
      ),
    options: { ...ub, tile: [5, 7] },
    sizes,
    how: "words",
  },
  {
    name: "packed elements that may end inside a byte",
    text:
      dims +
      func(
        "%x: tensor<Vxu2>, %i: tensor<Nxi64>",
        "Nxf32",
        "%x, %i (d0) let t = clamp(%i[d0] in V) yield f32(%x[t]) {oob = clamp}",
      ),
    options: { ...ub, tile: [16] },
    sizes,
    how: "words",
  },
  {
    name: "a window, whose bound is what fits",
    text:
      dims +
      func(
        "%x: tensor<Vxf32>, %i: tensor<Nxi64>",
        "Nx3xf32",
        "%x, %i (d0, d1) -> (%i[d0] + d1) {oob = clamp}",
      ),
    options: { ...gm, tile: [16, 3] },
    sizes: sizes.map((one) => ({ ...one, V: Math.max(3, one.V) })),
    how: "rows",
  },
];

export function inputsFor({ tile }: Kernel) {
  const [data, indices] = tile.operands;
  const size = data!.type.shape[0]!;
  const bytes = new Uint8Array(data!.type.shape.reduce((a, b) => a * b, 1) * 8).map(
    (_, k) => (k * 37 + (k >> 8)) & 255,
  );
  const count = indices!.type.shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, (_, k) => (size === 0 ? k : (k * 7) % size));
  const of = { i32: Int32Array.from(values), i64: BigInt64Array.from(values.map(BigInt)) };
  const width = { f32: 4, u8: 1, f16: 2, i64: 8, u4: 1 / 2, i4: 1 / 2, u2: 1 / 4 }[data!.type.dtype as "f32"];
  return {
    data: { type: data!.type, bytes: bytes.subarray(0, Math.ceil((bytes.length / 8) * width)) },
    indices: { type: indices!.type, bytes: new Uint8Array(of[indices!.type.dtype as "i32"].buffer) },
  };
}

/** Bytes, or what a run was refused with. */
export async function outcomeOf(run: () => Uint8Array | Promise<Uint8Array>): Promise<unknown> {
  try {
    return [...(await run())];
  } catch (thrown) {
    if (thrown instanceof RunError) return thrown.diagnostics.map(({ message }) => message);
    throw thrown;
  }
}
