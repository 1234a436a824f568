/** Kernels that are emitted for a GPU have the bits of the definition: every form of them, run on any device. */
import { describe, expect, it } from "vitest";
import { indexInputs, type HostInputs } from "../../backends/index.js";
import type { HostTensor } from "../../backends/memory.js";
import { printMoves } from "../../backends/moves.js";
import { emitWgsl, movesOf, planWgsl, type Runner } from "../../backends/webgpu/index.js";
import { elementCount, keyOf, RunError, targets, type Func, type Schedule } from "../../ir/index.js";
import { runOn, type BackendChoice } from "../../src/api/backends.js";
import { compile, onnx, torch, type Kernel } from "../../src/index.js";
import { indexLimits } from "../../src/testing/index-ranges.js";
import { indexWriter, randomInputs } from "../../src/testing/random.js";
import { hardwareRunnerOr } from "../support/gpu.js";
import { parsed } from "../support/parsed.js";

const pairs = (index: string, columns: number, oob: string): Func =>
  parsed(`func @pairs(%data: tensor<5x7x${columns}xf32>, %indices: tensor<66x2x${index}>) -> tensor<66x${columns}xf32> {
  %y = access.gather %data, %indices (d0, d1) -> (from_end(%indices[d0, 0]), from_end(%indices[d0, 1]), d1) {oob = ${oob}}
  return %y
}
`);

const rows = (
  dtype: "f32" | "f16" | "u8" | "f64",
  columns: number,
  index: "i32" | "i64",
  count: number,
): Func => onnx.gather({ data: [dtype, [9, columns]], indices: [index, [count]], axis: 0 });

const elements = (
  dtype: "f32" | "f16" | "u8" | "f64",
  shape: readonly [number, number],
  axis: 0 | 1,
  index: "i32" | "i64",
): Func => onnx.gatherElements({ data: [dtype, shape], indices: [index, shape], axis });

const policies = (oob: string): Func =>
  parsed(`func @rows(%data: tensor<9x5xf32>, %indices: tensor<32xi64>) -> tensor<32x5xf32> {
  %y = access.gather %data, %indices (d0, d1) -> (%indices[d0], d1) {oob = ${oob}}
  return %y
}
`);

const segments = (count: number, columns: number, longest: number): Func =>
  torch.embeddingBag({
    weight: ["f32", [30, columns]],
    input: ["i64", [60]],
    offsets: ["i64", [count]],
    mode: "sum",
    longestBag: longest,
  });

const cases: Readonly<Record<string, readonly [Func, Schedule?]>> = {
  "rows of whole words": [rows("f32", 64, "i32", 50)],
  "rows by i64": [rows("f32", 64, "i64", 50)],
  "rows of f16 by i64, a ragged last tile": [rows("f16", 24, "i64", 50), { tile: [16, 24] }],
  "rows of 5": [rows("f32", 5, "i32", 64), { tile: [32, 5] }],
  "rows of 5 by i64": [rows("f32", 5, "i64", 64), { tile: [16, 5] }],
  "rows of 5, a ragged last tile": [rows("f32", 5, "i32", 44), { tile: [16, 5] }],
  "rows of 5, between accesses": [rows("f32", 5, "i32", 43), { tile: [16, 5] }],
  "rows of 3": [rows("f32", 3, "i32", 64), { tile: [32, 3] }],
  "rows of 6": [rows("f32", 6, "i32", 64), { tile: [32, 6] }],
  "rows of 1": [rows("f32", 1, "i32", 64)],
  "rows of 2, of which two fill an access": [rows("f32", 2, "i32", 64), { tile: [32, 2] }],
  "rows of 6 halves": [rows("f16", 6, "i64", 64), { tile: [16, 6] }],
  "rows of 20 halves by i64": [rows("f16", 20, "i64", 36), { tile: [8, 20] }],
  "rows of 12 bytes, a ragged last tile": [rows("u8", 12, "i32", 44), { tile: [16, 12] }],
  "rows of 9, more than a lane takes": [rows("f32", 9, "i32", 640), { tile: [160, 9] }],
  "rows of 3 doubles, in pairs": [rows("f64", 3, "i64", 34), { tile: [8, 3] }],
  "rows of 1 double": [rows("f64", 1, "i32", 34), { tile: [8, 1] }],
  "two planes of rows of 5": [onnx.gather({ data: ["f32", [3, 9, 5]], indices: ["i32", [8]], axis: 1 })],
  "rows of 5 by a matrix": [
    onnx.gather({ data: ["f32", [9, 5]], indices: ["i64", [7, 12]], axis: 0 }),
    { tile: [3, 12, 5] },
  ],
  "rows of 7 bytes": [rows("u8", 7, "i32", 61)],
  "rows of 3 doubles": [rows("f64", 3, "i64", 33)],
  "pairs by i32": [pairs("i32", 16, "error")],
  "pairs by i64": [pairs("i64", 16, "error")],
  "pairs by i64, clamped": [pairs("i64", 16, "clamp")],
  "pairs by i32, zero where out of range": [pairs("i32", 16, "zero")],
  "pairs by i64, of rows of 5": [pairs("i64", 5, "wrap")],
  "pairs by u8": [pairs("u8", 8, "zero")],
  "elements along axis 0": [elements("f32", [24, 40], 0, "i32")],
  "elements along axis 1, ragged": [elements("f32", [9, 300], 1, "i32"), { tile: [2, 128], residency: "gm" }],
  "elements along axis 1 by i64, ragged": [
    elements("f32", [9, 300], 1, "i64"),
    { tile: [4, 152], residency: "gm" },
  ],
  "elements across rows": [elements("f32", [9, 300], 1, "i32"), { tile: [3, 152], residency: "gm" }],
  "elements across rows by i64": [elements("f16", [9, 300], 1, "i64"), { tile: [3, 152], residency: "gm" }],
  "elements across rows, some turns each": [
    elements("f32", [29, 300], 0, "i32"),
    { tile: [15, 152], residency: "gm" },
  ],
  "doubles across rows, ragged on both sides": [
    elements("f64", [10, 75], 1, "i32"),
    { tile: [4, 38], residency: "gm" },
  ],
  "elements of bytes, ragged": [elements("u8", [9, 300], 1, "i32"), { tile: [2, 128], residency: "gm" }],
  "elements of f64 by i64": [elements("f64", [9, 30], 1, "i64"), { tile: [4, 30] }],
  "elements along axis 0, ragged on both sides": [
    elements("f32", [21, 36], 0, "i32"),
    { tile: [8, 16], residency: "gm" },
  ],
  ...Object.fromEntries(
    ["error", "clamp", "zero", "wrap"].map((oob) => [
      `rows of 5, ${oob}`,
      [policies(oob), { tile: [16, 5] }] as const,
    ]),
  ),
  "four bits each, dequantized by fours": [
    onnx.gatherBlockQuantized({
      data: ["u8", [9, 32]],
      indices: ["i64", [7]],
      scales: ["f32", [9, 4]],
      blockSize: 16,
    }),
  ],
  segments: [segments(8, 32, 60)],
  "segments of an odd number": [segments(7, 16, 60)],
  "segments of rows of 5": [segments(7, 5, 60)],
  ...Object.fromEntries(
    (["mean", "max"] as const).map((mode) => [
      `segments by ${mode}, one element left out`,
      [
        torch.embeddingBag({
          weight: ["f32", [30, 8]],
          input: ["i64", [60]],
          offsets: ["i64", [7]],
          mode,
          longestBag: 60,
          paddingIdx: 3,
        }),
      ] as const,
    ]),
  ),
  "segments of halves": [
    torch.embeddingBag({
      weight: ["f16", [30, 16]],
      input: ["i32", [60]],
      offsets: ["i32", [9]],
      mode: "sum",
      includeLastOffset: 1,
      longestBag: 60,
    }),
  ],
  "six terms each, weighted": [
    torch.embeddingBag({
      weight: ["f32", [30, 8]],
      input: ["i64", [9, 6]],
      perSampleWeights: ["f32", [9, 6]],
      mode: "sum",
    }),
  ],
  "eight terms each, exact": [
    parsed(`func @exact(%data: tensor<9x16xf16>, %indices: tensor<21x8xi32>) -> tensor<21x16xf32> {
  %y = access.gather %data, %indices (d0, d1; r < 8) let t = zero(%indices[d0, r] in 9) yield exact(f32(%data[t, d1])) {oob = error}
  return %y
}
`),
  ],
  ...Object.fromEntries(
    (["i32", "i64", "u32"] as const).flatMap((type) =>
      ["error", "zero", "clamp"].map((oob) => [
        `sums of ${type}, ${oob}`,
        [
          parsed(`func @sums(%data: tensor<40x8xf32>, %indices: tensor<33x${type}>) -> tensor<33x8xf32> {
  %y = access.gather %data, %indices (d0, d1) let t = ${oob}(%indices[d0] + 3 * (d0 div 4) in 40) yield %data[t, d1] {oob = error}
  return %y
}
`),
        ] as const,
      ]),
    ),
  ),
};

/** Inputs from a seed. Those of an odd one have index values out of range too, which policies tell apart. */
function drawn(kernel: Kernel, seed: number): HostInputs {
  const inputs: Record<string, HostTensor> = { ...randomInputs(kernel, seed) };
  const { offsets } = inputs;
  if (offsets !== undefined) {
    const write = indexWriter(offsets.bytes, offsets.type.dtype);
    for (let k = 0; k < elementCount(offsets.type.shape); k++) write(k, k * (3 + seed));
  }
  for (const operand of seed % 2 === 0 ? [] : indexInputs(kernel.tile)) {
    const { type, bytes } = inputs[keyOf(operand)]!;
    const spoiled = Uint8Array.from(bytes);
    const write = indexWriter(spoiled, type.dtype);
    const [lowest, highest] = indexLimits(type.dtype);
    const count = elementCount(type.shape);
    for (const [k, value] of [highest, lowest, Math.max(-1, lowest), 100].entries())
      write((seed * 7 + 13 * k) % count, value);
    inputs[keyOf(operand)] = { type, bytes: spoiled };
  }
  return inputs;
}

/** The bits of an output, or the first diagnostic of what was refused. */
async function outcome(
  backend: BackendChoice,
  kernel: Kernel,
  seed: number,
  runner: Runner,
): Promise<string> {
  try {
    const { output } = await runOn(backend, kernel, drawn(kernel, seed), { runner });
    return Buffer.from(output).toString("hex");
  } catch (thrown) {
    if (thrown instanceof RunError) return JSON.stringify(thrown.diagnostics);
    throw thrown;
  }
}

describe("kernels for a GPU", () => {
  it.for(Object.entries(cases))(
    "have the bits of the definition: %s",
    async ([, [func, schedule]], context) => {
      const runner = await hardwareRunnerOr(context);
      const kernel = compile(func, { ...schedule, target: runner.target });
      expect(planWgsl(kernel.tile, { target: targets.webgpu }).lanes.inRuns).toBe(false);
      for (const seed of [1, 2, 3, 4]) {
        const defined = await outcome("reference", kernel, seed, runner);
        if (seed % 2 === 0) expect(defined).toMatch(/^[0-9a-f]+$/);
        expect(await outcome("webgpu", kernel, seed, runner), `seed ${seed}`).toBe(defined);
      }
    },
  );
});

describe("forms across rows", () => {
  const planOf = ([func, schedule]: readonly [Func, Schedule?]) =>
    planWgsl(compile(func, { ...schedule, target: targets.webgpu }).tile);

  it("are those of short rows that no access of 16 bytes divides", () => {
    const across = Object.entries(cases)
      .filter(([, entry]) => planOf(entry).gather?.unit.how === "across")
      .map(([name]) => name);
    expect(across).toEqual([
      "rows of 5",
      "rows of 5 by i64",
      "rows of 5, a ragged last tile",
      "rows of 3",
      "rows of 6",
      "rows of 2, of which two fill an access",
      "rows of 6 halves",
      "rows of 20 halves by i64",
      "rows of 12 bytes, a ragged last tile",
      "rows of 9, more than a lane takes",
      "rows of 3 doubles, in pairs",
      "rows of 1 double",
      "two planes of rows of 5",
      "rows of 5 by a matrix",
      "rows of 5, error",
      "rows of 5, clamp",
      "rows of 5, zero",
      "rows of 5, wrap",
    ]);
  });

  it("have lanes numbered across rows where a row leaves them without a unit", () => {
    const across = Object.entries(cases).filter(([name]) => name.includes("across rows"));
    expect(across.length).toBe(4);
    for (const [, entry] of across) expect(planOf(entry).lanes).toMatchObject({ y: 1, acrossRows: true });
  });
});

describe("tiles that are cut short", () => {
  const kernelOf = (tile: readonly [number, number]): Kernel =>
    compile(elements("f32", [900, 300], 1, "i32"), { tile, residency: "gm", target: targets.webgpu });

  it("have loops of their own, where a lane takes several units of a full one", () => {
    const { tile } = kernelOf([7, 300]);
    const plan = planWgsl(tile);
    expect(plan.branchesOnFullTiles).toBe(true);
    const { code } = emitWgsl(tile);
    expect(code).toContain("== 7u) {");
    // The full tiles' loops come first, and none of them has an end that a lane computes.
    const [full = ""] = code.slice(code.indexOf("== 7u) {")).split("else {");
    expect(full).toContain("for (var unit_turn = 0u; unit_turn < 5u; unit_turn += 1u)");
    expect(full).not.toMatch(/for [^{]*min\(/);
    expect(printMoves(movesOf(plan))).toContain("full tiles by a branch");
  });

  it("test for their end, where a lane takes one unit", () => {
    const { tile } = kernelOf([1, 152]);
    expect(planWgsl(tile).branchesOnFullTiles).toBe(false);
    expect(emitWgsl(tile).code).toContain("if (d1_unit * 4u < min(152u, 300u - iv_t1)) {");
  });
});
