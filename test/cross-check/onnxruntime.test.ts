import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateChecked } from "../../backends/sim/index.js";
import { reference } from "../../backends/reference/index.js";
import { toHost, type TensorData } from "../../backends/index.js";
import { byteCount, elementCount, type DType, type Shape } from "../../ir/index.js";
import { compile, program, targets } from "../../src/index.js";
import type { OnnxRuntime } from "../../bench/onnxruntime.js";
import { onnxTypes, singleNodeModel } from "../support/onnx-bytes.js";
import { requireOnnxRuntime } from "../support/onnxruntime.js";
import { operandOf } from "../support/operands.js";

/** onnxruntime's names for the types that its CPU gathers take. */
const ortTypes = {
  f32: "float32",
  f64: "float64",
  i8: "int8",
  u8: "uint8",
  i16: "int16",
  u16: "uint16",
  i32: "int32",
  u32: "uint32",
  i64: "int64",
  u64: "uint64",
  bool: "bool",
  f16: "float16",
} as const;
type Type = keyof typeof ortTypes;

const arrays = {
  f32: Float32Array,
  f64: Float64Array,
  i8: Int8Array,
  u8: Uint8Array,
  i16: Int16Array,
  u16: Uint16Array,
  i32: Int32Array,
  u32: Uint32Array,
  i64: BigInt64Array,
  u64: BigUint64Array,
  bool: Uint8Array,
  f16: Uint16Array,
} as const;

interface Gather {
  readonly op: "gather" | "gather_elements" | "gather_nd";
  readonly dtype: Type;
  readonly indexType: "i32" | "i64";
  readonly axis: number;
  readonly data: Shape;
  readonly indices: Shape;
  readonly seed: number;
}

const extent = fc.integer({ min: 1, max: 5 });
const shape = (least: number, most: number) => fc.array(extent, { minLength: least, maxLength: most });

const gathers: fc.Arbitrary<Gather> = fc
  .record({
    op: fc.constantFrom("gather", "gather_elements", "gather_nd"),
    dtype: fc.constantFrom(...(Object.keys(ortTypes) as Type[])),
    wide: fc.boolean(),
    data: shape(1, 5),
    other: shape(1, 3),
    pick: fc.nat(),
    longer: fc.integer({ min: 1, max: 7 }),
    seed: fc.nat(1_000_000),
  })
  .map(({ op, dtype, wide, data, other, pick, longer, seed }): Gather => {
    const axis = pick % data.length;
    const indexType = op === "gather_nd" || wide ? "i64" : "i32";
    const base = { op, dtype, indexType, axis, data, seed } as const;
    if (op === "gather") return { ...base, indices: other };
    if (op === "gather_elements") {
      return { ...base, indices: data.map((e, k) => (k === axis ? longer : Math.max(1, e - (pick % 2)))) };
    }
    return { ...base, indices: [...other.slice(0, 2), pick % (data.length + 1)] };
  });

/** Any bits: a gather moves them. bool holds 0 and 1 alone. */
function randomBytes(count: number, seed: number, bool: boolean): Uint8Array {
  let state = seed + 1;
  return Uint8Array.from({ length: count }, () => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return bool ? (state >>> 16) & 1 : (state >>> 16) & 0xff;
  });
}

function randomIndices(gather: Gather): Int32Array | BigInt64Array {
  const count = elementCount(gather.indices);
  const tuple = gather.op === "gather_nd" ? (gather.indices.at(-1) ?? 1) : 1;
  const raw = randomBytes(count * 2, gather.seed + 7, false);
  const values = Array.from({ length: count }, (_, k) => {
    const extentAlong = gather.data[gather.op === "gather_nd" ? k % tuple : gather.axis] ?? 1;
    return ((raw[2 * k] ?? 0) % (2 * extentAlong)) - extentAlong;
  });
  return gather.indexType === "i32" ? Int32Array.from(values) : BigInt64Array.from(values, (v) => BigInt(v));
}

const names = { gather: "Gather", gather_elements: "GatherElements", gather_nd: "GatherND" } as const;

async function throughOnnxRuntime(
  ort: OnnxRuntime,
  gather: Gather,
  data: Uint8Array,
  indices: TensorData,
  outputShape: Shape,
) {
  const model = singleNodeModel({
    op: names[gather.op],
    ...(gather.op === "gather_nd" ? {} : { attribute: ["axis", gather.axis] as const }),
    opset: 13,
    data: { type: onnxTypes[gather.dtype], shape: gather.data },
    indices: { type: onnxTypes[gather.indexType], shape: gather.indices },
    outputShape,
  });
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 4 });
  const ArrayType = arrays[gather.dtype];
  const array = new ArrayType(data.slice().buffer);
  const feeds = {
    data: new ort.Tensor(ortTypes[gather.dtype], array, gather.data),
    indices: new ort.Tensor(gather.indexType === "i32" ? "int32" : "int64", indices, gather.indices),
  };
  const { output } = await session.run(feeds);
  await session.release();
  if (output === undefined) throw new Error("onnxruntime gave no output");
  const result = output.data as Uint8Array;
  return { shape: output.dims, bytes: new Uint8Array(result.buffer, result.byteOffset, result.byteLength) };
}

const ort = await requireOnnxRuntime();

describe("onnxruntime", () => {
  it("gives the same bits for random gathers of every type it takes", async (context) => {
    if (ort === undefined) return context.skip();
    const seen = new Set<DType>();
    await fc.assert(
      fc.asyncProperty(gathers, async (gather) => {
        const type = { dtype: gather.dtype, shape: gather.data } as const;
        const attrs = gather.op === "gather_nd" ? {} : { axis: gather.axis };
        const func = program({
          op: `onnx.${gather.op}`,
          attrs,
          data: type,
          indices: { dtype: gather.indexType, shape: gather.indices },
        });
        const bytes = randomBytes(byteCount(type), gather.seed, gather.dtype === "bool");
        const values = randomIndices(gather);
        const expected = await throughOnnxRuntime(
          ort,
          gather,
          bytes,
          values,
          operandOf(func, "output").type.shape,
        );
        const inputs = {
          data: toHost("data", type, bytes),
          indices: toHost("indices", operandOf(func, "indices").type, values),
        };
        const kernel = compile(func, { target: targets.webgpu });
        const ascend = compile(func, { profile: "head" });
        expect(expected.shape).toEqual(operandOf(func, "output").type.shape);
        if (kernel.resolved === undefined) throw new Error("a source program has an operator");
        expect(reference(kernel.resolved, inputs)).toEqual(expected.bytes);
        expect(simulateChecked(kernel.tile, inputs, kernel.target).output).toEqual(expected.bytes);
        expect(simulateChecked(ascend.tile, inputs, ascend.target).output).toEqual(expected.bytes);
        seen.add(gather.dtype);
      }),
      { numRuns: 300, seed: 20 },
    );
    expect([...seen].sort()).toEqual(Object.keys(ortTypes).sort());
  });

  it("rejects the same indices of outputs without elements", async (context) => {
    if (ort === undefined) return context.skip();
    const seen = { rejected: 0, taken: 0 };
    const shapes: readonly (readonly [data: Shape, axis: number])[] = [
      [[3, 0], 0],
      [[0, 3], 1],
      [[0, 3, 0], 1],
      [[2, 3, 0], 1],
      [[0, 0], 0],
      [[0, 3], 0],
    ];
    for (const op of ["gather", "gather_nd"] as const)
      for (const [data, axis] of shapes)
        for (const index of [0, 2, 3, -3, -4])
          for (const count of [0, 1, 2]) {
            const indices = op === "gather" ? [count] : [count, axis + 1];
            const gather: Gather = { op, dtype: "f32", indexType: "i64", axis, data, indices, seed: 0 };
            const func = program({
              op: `onnx.${op}`,
              attrs: op === "gather" ? { axis } : {},
              data: { dtype: "f32", shape: data },
              indices: { dtype: "i64", shape: indices },
            });
            const output = operandOf(func, "output").type.shape;
            // A tuple that names whole elements leaves some.
            if (!output.includes(0)) continue;
            const values = new BigInt64Array(elementCount(indices)).fill(BigInt(index));
            const rejected = await throughOnnxRuntime(ort, gather, new Uint8Array(), values, output).then(
              () => false,
              () => true,
            );
            const kernel = compile(func, { target: targets.webgpu });
            const given = {
              data: toHost("data", { dtype: "f32", shape: data }, new Uint8Array()),
              indices: toHost("indices", operandOf(func, "indices").type, values),
            };
            const shown = JSON.stringify({ op, data, axis, index, count });
            for (const run of [
              () => reference(kernel.resolved!, given),
              () => simulateChecked(kernel.tile, given, kernel.target).output,
            ]) {
              if (rejected) expect(run, shown).toThrow("TC601");
              else expect(run(), shown).toHaveLength(0);
            }
            seen[rejected ? "rejected" : "taken"]++;
          }
    expect(seen.rejected).toBeGreaterThan(15);
    expect(seen.taken).toBeGreaterThan(50);
  });
});
