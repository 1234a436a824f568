/** Programs that modules are made for: the ways of the ten workloads in small, policies, types, pages, values and terms. */
import { indexDTypes, type Func } from "../../ir/index.js";
import { gather, gatherElements, gatherNd } from "../../src/index.js";
import type { DType } from "../../ir/index.js";
import { parsed } from "./parsed.js";

export interface ModuleProgramCase {
  readonly name: string;
  readonly func: Func;
}

const elements = (dtype: DType, index: DType, axis = 1) =>
  gatherElements({ data: [dtype, [40, 24]], indices: [index, [40, 24]], axis });

const policies = ["error", "clamp", "zero", "wrap", "unchecked"].map((oob) => ({
  name: `policy ${oob}`,
  func: parsed(`func @f(%x: tensor<9x5xf32>, %i: tensor<7xi32>) -> tensor<7x5xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = ${oob}}
  return %y
}
`),
}));

const dtypes = ["bool", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32", "f32", "string"] as const;
const wide = ["i64", "u64", "f64", "c64", "c128"] as const;

export const modulePrograms: readonly ModuleProgramCase[] = [
  { name: "rows, as W1", func: gather({ data: ["f32", [50, 96]], indices: ["i32", [33]], axis: 0 }) },
  { name: "short rows, as W2", func: gather({ data: ["f32", [100, 4]], indices: ["i32", [333]], axis: 0 }) },
  { name: "columns, as W3", func: gather({ data: ["f32", [20, 64]], indices: ["i32", [16]], axis: 1 }) },
  { name: "elements, as W4", func: elements("f32", "i32") },
  { name: "elements along the first axis, as W5", func: elements("f32", "i32", 0) },
  {
    name: "elements of four dims, as W6",
    func: gatherElements({ data: ["f32", [2, 6, 7, 8]], indices: ["i32", [2, 6, 7, 8]], axis: 2 }),
  },
  {
    name: "tuples, as W7",
    func: gatherNd({ data: ["f32", [9, 8, 16]], indices: ["i64", [31, 2]] }),
  },
  { name: "halves, as W8", func: elements("f16", "i32") },
  { name: "bytes, as W9", func: elements("i8", "i32") },
  { name: "64-bit indices, as W10", func: elements("f32", "i64") },
  ...policies,
  ...[...dtypes, ...wide].map((dtype) => ({
    name: `rows of ${dtype}`,
    func: gather({ data: [dtype, [11, 3]], indices: ["i64", [2, 5]], axis: 0 }),
  })),
  ...indexDTypes.map((index) => ({
    name: `indices of ${index}`,
    func: parsed(
      `func @f(%x: tensor<7x6xf32>, %i: tensor<5xINDEX>) -> tensor<5x6xf32> {
  %y = access.gather %x, %i (d0, d1) -> (from_end(%i[d0]), d1) {oob = error}
  return %y
}
`.replace("INDEX", index),
    ),
  })),
  {
    name: "an output without elements",
    func: gather({ data: ["f32", [7, 4]], indices: ["i32", [0]], axis: 0 }),
  },
  {
    name: "a paged read",
    func: parsed(`func @f(%kv: tensor<24x4x8xf16>, %bt: tensor<6xi32>) -> tensor<24x8xf16> {
  %y = access.gather %kv, %bt (d0, d1) -> (%bt[d0 div 4], d0 mod 4, d1) {oob = error}
  return %y
}
`),
  },
  {
    name: "a quantized gather",
    func: parsed(`func @f(%q: tensor<64x32xu4>, %s: tensor<64x2xf16>, %ids: tensor<5xi64>) -> tensor<5x32xf16> {
  %y = access.gather %q, %s, %ids (d0, d1) let t = error(from_end(%ids[d0]) in 64) yield f16(f32(i32(%q[t, d1]) - 8) * f32(%s[t, d1 div 16])) {oob = error}
  return %y
}
`),
  },
  {
    name: "a quantized gather of rows that do not fill bytes",
    func: parsed(`func @f(%q: tensor<9x7xi4>, %z: tensor<9x3xu2>, %ids: tensor<5xi64>) -> tensor<5x7xf32> {
  %y = access.gather %q, %z, %ids (d0, d1) let t = error(from_end(%ids[d0]) in 9) yield f32(i32(%q[t, d1]) - i32(%z[t, d1 div 3])) {oob = error}
  return %y
}
`),
  },
  {
    name: "bags",
    func: parsed(`func @f(%e: tensor<64x4xf32>, %i: tensor<20xi32>, %off: tensor<4xi32>) -> tensor<3x4xf32> {
  %y = access.gather %e, %i, %off (d0, d1; r in error(%off[d0] in 21) to error(%off[d0 + 1] in 21) most 16) let t = error(%i[r] in 64 but 7) yield fold(%e[t, d1]) {oob = error}
  return %y
}
`),
  },
  {
    name: "sums of index values",
    func: parsed(`func @f(%x: tensor<40xf32>, %i: tensor<7xi64>, %j: tensor<7xi64>) -> tensor<7xf32> {
  %y = access.gather %x, %i, %j (d0) -> (error(%i[d0] + 3 * %j[d0] in 40)) {oob = error}
  return %y
}
`),
  },
];
