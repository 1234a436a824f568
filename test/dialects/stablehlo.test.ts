import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reference } from "../../backends/reference/index.js";
import {
  CompileError,
  elementCount,
  indexDTypes,
  inputsOf,
  outputOf,
  parseModule,
  printFunc,
  resolveSource,
  sourceOp,
  type DType,
  type Shape,
  type SourceFunc,
} from "../../ir/index.js";
import { compile, program, run, stablehlo, targets, tryCompile } from "../../src/index.js";
import type { StablehloGatherArguments } from "../../src/dialects/stablehlo.js";
import { oracleStablehlo } from "../oracle/stablehlo.js";
import { littleEndian } from "../support/little-endian.js";
import { randomStablehlo } from "../support/random-stablehlo.js";
import { refusals, shown } from "../support/refusal.js";

/** Rows of 2 by 2 from [2, 3, 4, 2], batched: the specification's second example. */
const legal: StablehloGatherArguments = {
  operand: ["f32", [2, 3, 4, 2]],
  startIndices: ["i64", [2, 2, 3, 2]],
  offsetDims: [3, 4],
  collapsedSliceDims: [1],
  operandBatchingDims: [0],
  startIndicesBatchingDims: [1],
  startIndexMap: [2, 1],
  indexVectorDim: 3,
  sliceSizes: [1, 1, 2, 2],
};

const refused = (args: StablehloGatherArguments): readonly string[] =>
  shown(refusals(() => stablehlo.gather(args)));

describe("stablehlo.gather", () => {
  it("gives the shape of the specification's second example (C22)", () => {
    expect(outputOf(stablehlo.gather(legal)).type).toEqual({ dtype: "f32", shape: [2, 2, 3, 2, 2] });
  });

  it.each<[string, string, Partial<StablehloGatherArguments>]>([
    ["C1", "TC103", { offsetDims: [3] }],
    ["C2", "TC101", { indexVectorDim: -1 }],
    ["C2", "TC101", { indexVectorDim: 5 }],
    ["C3", "TC103", { startIndexMap: [2] }],
    ["C3", "TC103", { indexVectorDim: 4 }],
    ["C4", "TC101", { offsetDims: [4, 3] }],
    ["C4", "TC101", { offsetDims: [3, 3] }],
    ["C5", "TC101", { offsetDims: [3, 5] }],
    ["C5", "TC101", { offsetDims: [-1, 3] }],
    ["C6", "TC101", { collapsedSliceDims: [0] }],
    ["C7", "TC101", { collapsedSliceDims: [2, 1], sliceSizes: [1, 1, 1, 2] }],
    ["C8", "TC101", { collapsedSliceDims: [4] }],
    ["C9", "TC103", { sliceSizes: [1, 2, 2, 2] }],
    ["C10", "TC101", { operandBatchingDims: [1, 0], startIndicesBatchingDims: [2, 1] }],
    ["C11", "TC101", { operandBatchingDims: [-1] }],
    ["C12", "TC103", { sliceSizes: [2, 1, 2, 2] }],
    ["C13", "TC101", { startIndicesBatchingDims: [1, 1], operandBatchingDims: [0, 1] }],
    ["C14", "TC101", { startIndicesBatchingDims: [4] }],
    ["C15", "TC101", { startIndicesBatchingDims: [3] }],
    ["C16", "TC103", { startIndicesBatchingDims: [0, 1] }],
    ["C17", "TC103", { startIndicesBatchingDims: [2] }],
    ["C18", "TC101", { startIndexMap: [0, 1] }],
    ["C18", "TC101", { startIndexMap: [2, 2] }],
    ["C19", "TC101", { startIndexMap: [2, 4] }],
    ["C20", "TC103", { sliceSizes: [1, 1, 2] }],
    ["C21", "TC103", { sliceSizes: [1, 1, 5, 2] }],
    ["C21", "TC103", { sliceSizes: [1, 1, -1, 2] }],
  ])("refuses what breaks (%s) with %s: %o", (number, code, change) => {
    const found = refused({ ...legal, ...change });
    expect(found).toContainEqual(expect.stringMatching(`^${code} stablehlo\\.gather \\(${number}\\) takes `));
  });

  it("refuses a declared result of another shape or type by C22 and C23", () => {
    const text = printFunc(stablehlo.gather(legal));
    for (const wrong of ["2x2x3x2x1xf32", "2x2x3x2x2xi32"]) {
      const { module } = parseModule(text.replace("2x2x3x2x2xf32", wrong), "t.tir");
      const result = tryCompile(module.funcs[0]!, { target: targets.webgpu });
      expect(result.ok ? [] : result.diagnostics).toMatchObject([
        { code: "TC103", message: expect.stringContaining("(C22, C23)") as string },
      ]);
    }
  });

  it("takes every element type but string, and integers of every width alone as start indices", () => {
    expect(refused({ ...legal, operand: ["string", [2, 3, 4, 2]] })).toEqual([
      "TC104 stablehlo.gather (I1) does not take data of type string",
    ]);
    expect(refused({ ...legal, operand: ["c128", [2, 3, 4, 2]] })).toEqual([]);
    for (const dtype of ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"] as const)
      expect(refused({ ...legal, startIndices: [dtype, [2, 2, 3, 2]] })).toEqual([]);
    for (const dtype of ["f32", "bool", "string"] as const)
      expect(refused({ ...legal, startIndices: [dtype, [2, 2, 3, 2]] })).toEqual([
        `TC104 start_indices must be integers, not ${dtype}`,
      ]);
  });

  it.each([
    ["i4", [5, 6], [1, 6], "gather the bytes, which rows fill: data of u8 [5, 3], slice_sizes [1, 3]"],
    ["u4", [5, 2], [1, 2], "gather the bytes, which rows fill: data of u8 [5, 1], slice_sizes [1, 1]"],
    ["u2", [5, 8], [1, 8], "gather the bytes, which rows fill: data of u8 [5, 2], slice_sizes [1, 2]"],
    ["i2", [5, 6], [1, 6], "i8 has a byte for each element"],
    ["i4", [5, 7], [1, 7], "i8 has a byte for each element"],
    ["u4", [5, 6], [1, 4], "u8 has a byte for each element"],
  ] as const)(
    "of %s %o by slices of %o says what moves the same bits",
    async (dtype, operand, sliceSizes, hint) => {
      const gather = (type: DType, shape: Shape, sizes: Shape): SourceFunc =>
        stablehlo.gather({
          operand: [type, shape],
          startIndices: ["i32", [3, 1]],
          ...{ offsetDims: [1], collapsedSliceDims: [0], startIndexMap: [0], indexVectorDim: 1 },
          sliceSizes: sizes,
        });
      expect(() => gather(dtype, operand, sliceSizes)).toThrow(
        expect.objectContaining({
          diagnostics: [
            expect.objectContaining({
              code: "TC104",
              message: `stablehlo.gather (I1) takes data of type ${dtype}; no target of tilec stores elements that share a byte`,
              hint,
            }),
          ],
        }) as Error,
      );
      const [, data, sizes] = /u8 (\[.*\]), slice_sizes (\[.*\])$/.exec(hint) ?? [];
      const inBytes =
        data === undefined
          ? gather(hint.slice(0, 2) as DType, operand, sliceSizes)
          : gather("u8", JSON.parse(data) as Shape, JSON.parse(String(sizes)) as Shape);
      expect(tryCompile(inBytes, { target: targets.webgpu }).ok).toBe(true);
      if (data === undefined) return;
      const [rows = 0, width = 0] = JSON.parse(data) as Shape;
      const bytes = Uint8Array.from({ length: rows * width }, (_, k) => 37 * k + 11);
      const { outputs } = await run(compile(inBytes, { target: targets.cpu }), {
        data: bytes,
        indices: Int32Array.of(4, 0, 9),
      });
      expect(outputs["output"]).toEqual(
        Uint8Array.from([4, 0, 4].flatMap((row) => [...bytes.subarray(row * width, (row + 1) * width)])),
      );
    },
  );

  it("wraps starts of slices of 1, and refuses to wrap longer ones", async () => {
    const wrapping = (length: number) =>
      program({
        op: "stablehlo.gather",
        attrs: {
          offset_dims: [1],
          start_index_map: [0],
          index_vector_dim: 1,
          slice_sizes: [length],
          oob: "wrap",
        },
        data: { dtype: "f32", shape: [5] },
        indices: { dtype: "i64", shape: [4, 1] },
      });
    const inputs = {
      data: Float32Array.of(0, 1, 2, 3, 4),
      indices: BigInt64Array.of(7n, -1n, 0n, -13n),
    };
    const { outputs } = await run(compile(wrapping(1)), inputs, { backend: "reference" });
    expect(outputs.output).toEqual(Float32Array.of(2, 4, 0, 2));
    const kernel = compile(wrapping(1));
    const simulated = await run(kernel, inputs, { backend: "sim" });
    expect(simulated.outputs.output).toEqual(outputs.output);
    expect(shown(refusals(() => wrapping(2)))).toEqual([
      "TC105 stablehlo.gather takes oob wrap with slices of 1 along the dims of start_index_map, and slice_sizes[0] is 2",
    ]);
  });

  it("prints as text that parses back to itself", () => {
    const func = stablehlo.gather(legal);
    const text = printFunc(func);
    expect(text).toContain("operand_batching_dims = [0]");
    const { module, diagnostics } = parseModule(text, "t.tir");
    expect(diagnostics).toEqual([]);
    expect(printFunc(module.funcs[0]!)).toBe(text);
  });

  it("gives the elements that the specification's definition names, for random gathers", () => {
    fc.assert(
      fc.property(
        randomStablehlo,
        fc.constantFrom(...indexDTypes),
        ({ gather, startIndices: drawn }, type) => {
          const { operand, startIndices: indexShape, ...numbers } = gather;
          // A negative value of an unsigned type is one of its largest.
          const startIndices = type.startsWith("i") ? drawn : drawn.map((v) => BigInt.asUintN(8, v));
          const func: SourceFunc = stablehlo.gather({
            operand: ["i32", operand],
            startIndices: [type, indexShape],
            ...numbers,
          });
          const expected = oracleStablehlo(gather, startIndices);
          const [data, indices] = inputsOf(func).map(({ type }) => type);
          const result = resolveSource(sourceOp(func));
          if (!result.ok) throw new CompileError(result.diagnostics);
          const values = Int32Array.from({ length: elementCount(operand) }, (_, k) => 1000 + k);
          const output = reference(result.resolved, {
            data: { type: data!, bytes: new Uint8Array(values.buffer) },
            indices: { type: indices!, bytes: littleEndian(type, startIndices) },
          });
          expect(outputOf(func).type.shape).toEqual(expected.shape);
          expect([...new Int32Array(output.buffer)]).toEqual(expected.positions.map((k) => 1000 + k));
        },
      ),
      { numRuns: 500 },
    );
  });
});
