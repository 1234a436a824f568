/** What an operator is called and takes is stated in its definition: builders, flags and case files all follow it. */
import { describe, expect, it } from "vitest";
import {
  equalModule,
  findOp,
  inputsOf,
  keyOf,
  opDefs,
  parseModule,
  printModule,
  type Attrs,
  type OpName,
  type SourceFunc,
  type TensorType,
} from "../../ir/index.js";
import {
  compile,
  directml,
  jax,
  moe,
  numpy,
  onnx,
  program,
  pypto,
  run,
  stablehlo,
  targets,
  tf,
  torch,
} from "../../src/index.js";
import { noProject } from "../../src/config/project.js";
import { loadProgram } from "../../src/cli/load.js";
import type { ProgramFlags } from "../../src/cli/options.js";
import { readCaseList } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";
import { operandOf } from "../support/operands.js";

interface Row {
  /** The common name, in flags and case files. */
  readonly op: string;
  /** Under the keys of flags and case files, every attribute of the operator. */
  readonly given: Attrs;
  /** Under their names in text. */
  readonly attrs: Attrs;
  readonly build: () => SourceFunc;
}

const data = ["f32", [2, 3]] as const;
const indices = ["i32", [1, 3]] as const;
const wide = ["i64", [1, 3]] as const;
const tuples = ["i64", [2, 1]] as const;
const rowsOfSource = { input: data, index: ["i64", [4]], source: ["f32", [2, 4]] } as const;
const dml = {
  InputTensor: { DataType: "FLOAT32", Sizes: [2, 3] },
  IndicesTensor: { DataType: "INT32", Sizes: [1, 3] },
} as const;
const dmlTuples = { ...dml, IndicesTensor: { DataType: "INT64", Sizes: [2, 1] } } as const;
const dmlSquare = { ...dml, IndicesTensor: { DataType: "INT32", Sizes: [2, 3] } } as const;
const puts = { input: data, indices0: ["i64", [4]], values: ["f32", [4, 3]] } as const;
const atArguments = { subscript: "i0, 0:2, i1", mode: "clip" } as const;
const at = { x: ["f32", [2, 5, 3]], i0: ["i64", [4]], i1: ["i64", [4]], y: ["f32", [4, 2]] } as const;
const atRow = (name: string, build: (args: typeof at & typeof atArguments) => SourceFunc): Row => ({
  op: name,
  given: atArguments,
  attrs: atArguments,
  build: () => build({ ...at, ...atArguments }),
});
const atRows = {
  "jax.at_set": atRow("at_set", jax.atSet),
  "jax.at_add": atRow("at_add", jax.atAdd),
  "jax.at_mul": atRow("at_mul", jax.atMul),
  "jax.at_min": atRow("at_min", jax.atMin),
  "jax.at_max": atRow("at_max", jax.atMax),
} as const;
const counts = { InputDimensionCount: 2, IndicesDimensionCount: 2 };

/** The compiler names an operator that is not here. */
const rows = {
  "onnx.gather": {
    op: "gather",
    given: { axis: 1, opset: 11, oob: "clamp" },
    attrs: { axis: 1, opset: 11, oob: "clamp" },
    build: () => onnx.gather({ data, indices, axis: 1, opset: 11, oob: "clamp" }),
  },
  "onnx.gather_elements": {
    op: "gather_elements",
    given: { axis: 0, opset: 12, oob: "zero" },
    attrs: { axis: 0, opset: 12, oob: "zero" },
    build: () => onnx.gatherElements({ data, indices, axis: 0, opset: 12, oob: "zero" }),
  },
  "onnx.gather_nd": {
    op: "gather_nd",
    given: { batchDims: 1, opset: 13, oob: "wrap" },
    attrs: { batch_dims: 1, opset: 13, oob: "wrap" },
    build: () => onnx.gatherNd({ data, indices: tuples, batchDims: 1, opset: 13, oob: "wrap" }),
  },
  "directml.gather": {
    op: "gather",
    given: { axis: 1, indexDimensions: 1, featureLevel: "4.1", oob: "error" },
    attrs: { axis: 1, index_dimensions: 1, feature_level: "4.1", oob: "error" },
    build: () =>
      directml.gather({ ...dml, Axis: 1, IndexDimensions: 1 }, { featureLevel: "4.1", oob: "error" }),
  },
  "directml.gather_elements": {
    op: "gather_elements",
    given: { axis: 0, featureLevel: "3.0", oob: "clamp" },
    attrs: { axis: 0, feature_level: "3.0", oob: "clamp" },
    build: () => directml.gatherElements({ ...dml, Axis: 0 }, { featureLevel: "3.0", oob: "clamp" }),
  },
  "directml.gather_nd": {
    op: "gather_nd",
    given: { inputDimensionCount: 2, indicesDimensionCount: 2, featureLevel: "3.0", oob: "zero" },
    attrs: { input_dimension_count: 2, indices_dimension_count: 2, feature_level: "3.0", oob: "zero" },
    build: () => directml.gatherNd({ ...dmlTuples, ...counts }, { featureLevel: "3.0", oob: "zero" }),
  },
  "directml.gather_nd1": {
    op: "gather_nd",
    given: {
      inputDimensionCount: 2,
      indicesDimensionCount: 2,
      batchDims: 1,
      featureLevel: "3.1",
      oob: "wrap",
    },
    attrs: {
      input_dimension_count: 2,
      indices_dimension_count: 2,
      batch_dimension_count: 1,
      feature_level: "3.1",
      oob: "wrap",
    },
    build: () =>
      directml.gatherNd1(
        { ...dmlTuples, ...counts, BatchDimensionCount: 1 },
        { featureLevel: "3.1", oob: "wrap" },
      ),
  },
  "pypto.gather": {
    op: "gather_elements",
    given: { axis: 0, level: "head", oob: "clamp" },
    attrs: { dim: 0, level: "head", oob: "clamp" },
    build: () => pypto.gather({ input: data, index: indices, dim: 0, level: "head", oob: "clamp" }),
  },
  "pypto.index_select": {
    op: "gather",
    given: { axis: 1, level: "head", oob: "zero" },
    attrs: { dim: 1, level: "head", oob: "zero" },
    build: () => pypto.indexSelect({ input: data, index: indices, dim: 1, level: "head", oob: "zero" }),
  },
  "stablehlo.gather": {
    op: "gather",
    given: {
      offsetDims: [1],
      collapsedSliceDims: [],
      operandBatchingDims: [0],
      startIndicesBatchingDims: [0],
      startIndexMap: [1],
      indexVectorDim: 1,
      sliceSizes: [1, 1],
      oob: "wrap",
    },
    attrs: {
      offset_dims: [1],
      collapsed_slice_dims: [],
      operand_batching_dims: [0],
      start_indices_batching_dims: [0],
      start_index_map: [1],
      index_vector_dim: 1,
      slice_sizes: [1, 1],
      oob: "wrap",
    },
    build: () =>
      stablehlo.gather({
        operand: data,
        startIndices: tuples,
        offsetDims: [1],
        collapsedSliceDims: [],
        operandBatchingDims: [0],
        startIndicesBatchingDims: [0],
        startIndexMap: [1],
        indexVectorDim: 1,
        sliceSizes: [1, 1],
        oob: "wrap",
      }),
  },
  "torch.gather": {
    op: "gather_elements",
    given: { axis: -1, oob: "clamp" },
    attrs: { dim: -1, oob: "clamp" },
    build: () => torch.gather({ input: data, index: wide, dim: -1, oob: "clamp" }),
  },
  "torch.index_select": {
    op: "index_select",
    given: { axis: 1, oob: "zero" },
    attrs: { dim: 1, oob: "zero" },
    build: () => torch.indexSelect({ input: data, index: ["i32", [4]], dim: 1, oob: "zero" }),
  },
  "torch.take_along_dim": {
    op: "take_along_dim",
    given: { axis: 0, oob: "error" },
    attrs: { dim: 0, oob: "error" },
    build: () => torch.takeAlongDim({ input: data, indices: wide, dim: 0, oob: "error" }),
  },
  "torch.embedding": {
    op: "embedding",
    given: { paddingIdx: -2, oob: "zero" },
    attrs: { padding_idx: -2, oob: "zero" },
    build: () => torch.embedding({ weight: data, input: indices, paddingIdx: -2, oob: "zero" }),
  },
  "tf.gather": {
    op: "gather",
    given: { axis: 1, batchDims: 1, oob: "zero" },
    attrs: { axis: 1, batch_dims: 1, oob: "zero" },
    build: () => tf.gather({ params: data, indices: tuples, axis: 1, batchDims: 1, oob: "zero" }),
  },
  "tf.gather_nd": {
    op: "gather_nd",
    given: { batchDims: 1, oob: "zero" },
    attrs: { batch_dims: 1, oob: "zero" },
    build: () => tf.gatherNd({ params: data, indices: tuples, batchDims: 1, oob: "zero" }),
  },
  "numpy.take": {
    op: "gather",
    given: { axis: 1, mode: "clip" },
    attrs: { axis: 1, mode: "clip" },
    build: () => numpy.take({ a: data, indices, axis: 1, mode: "clip" }),
  },
  "numpy.take_along_axis": {
    op: "gather_elements",
    given: { axis: 0, oob: "wrap" },
    attrs: { axis: 0, oob: "wrap" },
    build: () => numpy.takeAlongAxis({ arr: data, indices, axis: 0, oob: "wrap" }),
  },
  "numpy.index": {
    op: "index",
    given: { subscript: "::-1, i0", oob: "zero" },
    attrs: { subscript: "::-1, i0", oob: "zero" },
    build: () => numpy.index({ x: data, key: ["::-1", indices], oob: "zero" }),
  },
  "jax.take": {
    op: "gather",
    given: { axis: 1, mode: "fill", fillValue: -3 },
    attrs: { axis: 1, mode: "fill", fill_value: -3 },
    build: () => jax.take({ a: data, indices, axis: 1, mode: "fill", fillValue: -3 }),
  },
  "jax.take_along_axis": {
    op: "gather_elements",
    given: { axis: 0, mode: "fill", fillValue: 9 },
    attrs: { axis: 0, mode: "fill", fill_value: 9 },
    build: () => jax.takeAlongAxis({ arr: data, indices, axis: 0, mode: "fill", fillValue: 9 }),
  },
  "onnx.gather_block_quantized": {
    op: "gather_block_quantized",
    given: { bits: 2, blockSize: 16, gatherAxis: 0, quantizeAxis: -1, oob: "zero" },
    attrs: { bits: 2, block_size: 16, gather_axis: 0, quantize_axis: -1, oob: "zero" },
    build: () =>
      onnx.gatherBlockQuantized({
        data: ["u8", [3, 8]],
        indices: wide,
        scales: ["f16", [3, 2]],
        zeroPoints: ["u8", [3, 1]],
        bits: 2,
        blockSize: 16,
        quantizeAxis: -1,
        oob: "zero",
        gatherAxis: 0,
      }),
  },
  "torch.embedding_bag": {
    op: "embedding_bag",
    given: { mode: "sum", paddingIdx: -1, includeLastOffset: 1, longestBag: 4, oob: "zero" },
    attrs: { mode: "sum", padding_idx: -1, include_last_offset: 1, longest_bag: 4, oob: "zero" },
    build: () =>
      torch.embeddingBag({
        weight: data,
        input: ["i64", [7]],
        offsets: ["i32", [3]],
        perSampleWeights: [data[0], [7]],
        mode: "sum",
        paddingIdx: -1,
        includeLastOffset: 1,
        longestBag: 4,
        oob: "zero",
      }),
  },
  "moe.combine": {
    op: "combine",
    given: { oob: "zero" },
    attrs: { oob: "zero" },
    build: () => moe.combine({ x: data, inverse: ["i32", [4, 2]], weights: ["f16", [4, 2]], oob: "zero" }),
  },
  "pypto.gather_in_ub": {
    op: "gather_in_ub",
    given: { block_size: 2, axis: -2, level: "documented" },
    attrs: { block_size: 2, axis: -2, level: "documented" },
    build: () =>
      pypto.gatherInUb({
        param: data,
        indices,
        blockTable: ["i32", [1, 1]],
        blockSize: 2,
        axis: -2,
        level: "documented",
      }),
  },
  "onnx.scatter_elements": {
    op: "scatter_elements",
    given: { axis: 1, reduction: "add", opset: 16, oob: "skip" },
    attrs: { axis: 1, reduction: "add", opset: 16, oob: "skip" },
    build: () =>
      onnx.scatterElements({
        ...{ data, indices, updates: ["f32", [1, 3]] },
        ...{ axis: 1, reduction: "add", opset: 16, oob: "skip" },
      }),
  },
  "onnx.scatter_nd": {
    op: "scatter_nd",
    given: { reduction: "min", opset: 18, oob: "wrap" },
    attrs: { reduction: "min", opset: 18, oob: "wrap" },
    build: () =>
      onnx.scatterNd({
        ...{ data, indices: tuples, updates: ["f32", [2, 3]] },
        ...{ reduction: "min", opset: 18, oob: "wrap" },
      }),
  },
  "onnx.scatter": {
    op: "scatter",
    given: { axis: 1, opset: 10, oob: "clamp" },
    attrs: { axis: 1, opset: 10, oob: "clamp" },
    build: () => onnx.scatter({ data, indices, updates: ["f32", [1, 3]], axis: 1, opset: 10, oob: "clamp" }),
  },
  "onnx.tensor_scatter": {
    op: "tensor_scatter",
    given: { axis: -1, mode: "circular", opset: 25 },
    attrs: { axis: -1, mode: "circular", opset: 25 },
    build: () =>
      onnx.tensorScatter({
        pastCache: data,
        update: ["f32", [2, 1]],
        axis: -1,
        mode: "circular",
        opset: 25,
      }),
  },
  "pypto.scatter_update": {
    op: "scatter_update",
    given: { axis: -2, oob: "error" },
    attrs: { dim: -2, oob: "error" },
    build: () =>
      pypto.scatterUpdate({ input: data, index: indices, src: ["f32", [3, 3]], dim: -2, oob: "error" }),
  },
  "pypto.scatter_": {
    op: "scatter_",
    given: { axis: 1, reduce: "multiply", src: -0.5, oob: "wrap" },
    attrs: { dim: 1, reduce: "multiply", src: -0.5, oob: "wrap" },
    build: () =>
      pypto.scatterInPlace({
        ...{ input: data, index: indices },
        ...{ dim: 1, reduce: "multiply", value: -0.5, oob: "wrap" },
      }),
  },
  "pypto.scatter": {
    op: "scatter",
    given: { axis: 1, reduce: "add", src: 1e-7, oob: "skip" },
    attrs: { dim: 1, reduce: "add", src: 1e-7, oob: "skip" },
    build: () =>
      pypto.scatter({
        ...{ input: data, index: indices },
        ...{ dim: 1, reduce: "add", value: 1e-7, oob: "skip" },
      }),
  },
  "pypto.index_add_": {
    op: "index_add_",
    given: { axis: 1, alpha: 0.5, oob: "skip" },
    attrs: { dim: 1, alpha: 0.5, oob: "skip" },
    build: () => pypto.indexAddInPlace({ ...rowsOfSource, dim: 1, alpha: 0.5, oob: "skip" }),
  },
  "pypto.index_add": {
    op: "index_add",
    given: { axis: 1, alpha: 0.5, oob: "skip" },
    attrs: { dim: 1, alpha: 0.5, oob: "skip" },
    build: () => pypto.indexAdd({ ...rowsOfSource, dim: 1, alpha: 0.5, oob: "skip" }),
  },
  "pypto.index_add_ub": {
    op: "index_add_ub",
    given: { axis: 1, alpha: 0.5, oob: "skip" },
    attrs: { dim: 1, alpha: 0.5, oob: "skip" },
    build: () => pypto.indexAddUb({ ...rowsOfSource, dim: 1, alpha: 0.5, oob: "skip" }),
  },
  "torch.scatter": {
    op: "scatter",
    given: { axis: 1, reduce: "add", value: 1.5, oob: "skip" },
    attrs: { dim: 1, reduce: "add", value: 1.5, oob: "skip" },
    build: () => torch.scatter({ input: data, index: wide, dim: 1, reduce: "add", value: 1.5, oob: "skip" }),
  },
  "torch.scatter_add": {
    op: "scatter_add",
    given: { axis: 1, oob: "wrap" },
    attrs: { dim: 1, oob: "wrap" },
    build: () => torch.scatterAdd({ input: data, index: wide, src: data, dim: 1, oob: "wrap" }),
  },
  "torch.index_copy": {
    op: "index_copy",
    given: { axis: 1, oob: "skip" },
    attrs: { dim: 1, oob: "skip" },
    build: () => torch.indexCopy({ ...rowsOfSource, dim: 1, oob: "skip" }),
  },
  "torch.index_add": {
    op: "index_add",
    given: { axis: 1, alpha: -2.25, oob: "skip" },
    attrs: { dim: 1, alpha: -2.25, oob: "skip" },
    build: () => torch.indexAdd({ ...rowsOfSource, dim: 1, alpha: -2.25, oob: "skip" }),
  },
  "directml.scatter": {
    op: "scatter",
    given: { axis: 1, featureLevel: "4.1", oob: "error" },
    attrs: { axis: 1, feature_level: "4.1", oob: "error" },
    build: () =>
      directml.scatter(
        { ...dmlSquare, UpdatesTensor: dmlSquare.InputTensor, Axis: 1 },
        { featureLevel: "4.1", oob: "error" },
      ),
  },
  "directml.scatter_nd": {
    op: "scatter_nd",
    given: { inputDimensionCount: 2, indicesDimensionCount: 2, featureLevel: "3.0", oob: "wrap" },
    attrs: { input_dimension_count: 2, indices_dimension_count: 2, feature_level: "3.0", oob: "wrap" },
    build: () =>
      directml.scatterNd(
        { ...dmlTuples, ...counts, UpdatesTensor: { DataType: "FLOAT32", Sizes: [2, 3] } },
        { featureLevel: "3.0", oob: "wrap" },
      ),
  },
  "tf.tensor_scatter_nd_update": {
    op: "tensor_scatter_nd_update",
    given: { oob: "clamp" },
    attrs: { oob: "clamp" },
    build: () => tf.tensorScatterNdUpdate({ tensor: data, indices: tuples, updates: data, oob: "clamp" }),
  },
  "tf.tensor_scatter_nd_add": {
    op: "tensor_scatter_nd_add",
    given: { oob: "clamp" },
    attrs: { oob: "clamp" },
    build: () => tf.tensorScatterNdAdd({ tensor: data, indices: tuples, updates: data, oob: "clamp" }),
  },
  "tf.tensor_scatter_nd_min": {
    op: "tensor_scatter_nd_min",
    given: { oob: "clamp" },
    attrs: { oob: "clamp" },
    build: () => tf.tensorScatterNdMin({ tensor: data, indices: tuples, updates: data, oob: "clamp" }),
  },
  "tf.tensor_scatter_nd_max": {
    op: "tensor_scatter_nd_max",
    given: { oob: "clamp" },
    attrs: { oob: "clamp" },
    build: () => tf.tensorScatterNdMax({ tensor: data, indices: tuples, updates: data, oob: "clamp" }),
  },
  "tf.scatter_nd": {
    op: "scatter_nd",
    given: { shape: [2, 3], oob: "skip" },
    attrs: { shape: [2, 3], oob: "skip" },
    build: () => tf.scatterNd({ indices: tuples, updates: data, shape: [2, 3], oob: "skip" }),
  },
  "torch.index_put": {
    op: "index_put",
    given: { accumulate: 1, oob: "skip" },
    attrs: { accumulate: 1, oob: "skip" },
    build: () => torch.indexPut({ ...puts, accumulate: 1, oob: "skip" }),
  },
  "pypto.index_put_": {
    op: "index_put_",
    given: { accumulate: 1, oob: "skip" },
    attrs: { accumulate: 1, oob: "skip" },
    build: () => pypto.indexPutInPlace({ ...puts, accumulate: 1, oob: "skip" }),
  },
  ...atRows,
  "numpy.put_along_axis": {
    op: "put_along_axis",
    given: { axis: 1, oob: "wrap" },
    attrs: { axis: 1, oob: "wrap" },
    build: () =>
      numpy.putAlongAxis({ arr: data, indices: wide, values: ["f32", [2, 1]], axis: 1, oob: "wrap" }),
  },
  "numpy.add_at": {
    op: "add_at",
    given: { subscript: ":, i0", oob: "skip" },
    attrs: { subscript: ":, i0", oob: "skip" },
    build: () => numpy.addAt({ a: data, i0: ["i64", [4]], b: ["f32", [4]], subscript: ":, i0", oob: "skip" }),
  },
  "stablehlo.scatter": {
    op: "scatter",
    given: {
      ...{ updateWindowDims: [1], insertedWindowDims: [], inputBatchingDims: [0] },
      ...{ scatterIndicesBatchingDims: [0], scatterDimsToOperandDims: [1], indexVectorDim: 1 },
      ...{ updateComputation: "max", oob: "clamp" },
    },
    attrs: {
      ...{ update_window_dims: [1], inserted_window_dims: [], input_batching_dims: [0] },
      ...{ scatter_indices_batching_dims: [0], scatter_dims_to_operand_dims: [1], index_vector_dim: 1 },
      ...{ update_computation: "max", oob: "clamp" },
    },
    build: () =>
      stablehlo.scatter({
        ...{ input: data, scatterIndices: ["i64", [2, 1]], updates: ["f32", [2, 2]] },
        ...{ updateWindowDims: [1], insertedWindowDims: [], inputBatchingDims: [0] },
        ...{ scatterIndicesBatchingDims: [0], scatterDimsToOperandDims: [1], indexVectorDim: 1 },
        ...{ updateComputation: "max", oob: "clamp" },
      }),
  },
} satisfies Readonly<Record<OpName, Row>>;

const names = Object.keys(rows) as OpName[];
const rowOf = (name: OpName): Row => rows[name];
const parts = ({ op, attrs, operands }: SourceFunc) => [op, attrs, ...operands.map(({ type }) => type)];

/** The gather as a case file states it. */
function fromCase(dialect: string, op: string, given: Row["given"], like: SourceFunc): SourceFunc {
  const { oob, ...attributes } = given;
  const tensor = (type: TensorType) => ({ ...type, fill: { seed: 1, min: 0, max: 1 } });
  const inputs = inputsOf(like);
  const named = Object.fromEntries(inputs.map((operand) => [keyOf(operand), tensor(operand.type)]));
  const entry = {
    ...{ id: "a", dialect, op, attributes, oob, expect: "ok" },
    ...(inputs.length > 2 || findOp(like.op)?.writes !== undefined ? { inputs: named } : named),
  };
  const [test] = readCaseList(JSON.stringify([entry]), "t.json");
  if (test === undefined || "malformed" in test) throw new Error(test?.malformed[0]?.message);
  return program(test.program!);
}

/** The gather as flags state it. */
async function fromFlags(flags: ProgramFlags, given: Row["given"], like: SourceFunc): Promise<SourceFunc> {
  const type = ({ dtype, shape }: TensorType): string => `${dtype}[${shape.join(",")}]`;
  const attributes = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
  const { func } = await loadProgram(undefined, {
    ...flags,
    ...attributes,
    data: type(operandOf(like, "data").type),
    indices: [type(operandOf(like, "indices").type)],
    project: noProject,
  });
  if (func.level !== "source") throw new Error("flags make a source program");
  return func;
}

describe("every operator", () => {
  it.each(names)("%s: each of its attributes has a builder argument, a flag and a case key", async (name) => {
    const { op, given, attrs, build } = rowOf(name);
    const built = build();
    const dialect = name.slice(0, name.indexOf("."));
    expect(parts(built).slice(0, 2)).toEqual([name, attrs]);
    expect(Object.keys(attrs).sort()).toEqual(Object.keys(findOp(name)?.attrs ?? {}).sort());
    expect(parts(fromCase(dialect, op, given, built))).toEqual(parts(built));
    // Flags have names for two tensors.
    if (inputsOf(built).length > 2 || findOp(name)?.writes !== undefined) return;
    // In PyPTO's own tests index_select is named as another operator of it is, which flags do not guess.
    const flag = name === "pypto.index_select" ? "index_select" : op;
    expect(parts(await fromFlags({ op: flag, dialect }, given, built))).toEqual(parts(built));
    expect(parts(await fromFlags({ op: name }, given, built))).toEqual(parts(built));
  });

  it.each(names)("%s: its text parses back, with all of its inputs and attributes", (name) => {
    const built = rowOf(name).build();
    const { module, diagnostics } = parseModule(printModule({ funcs: [built] }), "printed.tir");
    expect(diagnostics).toEqual([]);
    expect(equalModule(module, { funcs: [built] })).toBe(true);
  });

  it("is in the table of this test, and its attributes have keys of their own", () => {
    expect(opDefs.map((def) => def.name).sort()).toEqual([...names].sort());
    for (const { name, attrs } of opDefs) {
      const keys = Object.values(attrs).map(({ key }) => key);
      expect(new Set(keys).size, name).toBe(keys.length);
    }
  });
});

describe("names", () => {
  const like = pypto.gather({ input: data, index: indices, dim: 0 });

  it("pypto.gather is the operator itself; gather beside --dialect pypto has two names, of which both are told", async () => {
    expect((await fromFlags({ op: "pypto.gather" }, {}, like)).op).toBe("pypto.gather");
    expect((await fromFlags({ op: "pypto.gather_elements" }, {}, like)).op).toBe("pypto.gather");
    await expect(fromFlags({ op: "gather", dialect: "pypto" }, {}, like)).rejects.toMatchObject({
      diagnostics: [
        {
          code: "TC701",
          message:
            "--op gather --dialect pypto is pypto.gather, and pypto.index_select in the names of its tests",
          hint: "--op pypto.gather or --op pypto.index_select",
        },
      ],
    });
    const rows = pypto.indexSelect({ input: data, index: ["i64", [4]], dim: 0 });
    expect(fromCase("pypto", "gather", { axis: 0 }, rows).op).toBe("pypto.index_select");
    expect((await fromFlags({ op: "index_select", dialect: "pypto" }, {}, like)).op).toBe(
      "pypto.index_select",
    );
  });

  it("a dialect's own name wins over the common one, in flags and in cases", async () => {
    const elements = torch.gather({ input: data, index: wide, dim: 1 });
    expect((await fromFlags({ op: "gather", dialect: "torch" }, { axis: 1 }, elements)).op).toBe(
      "torch.gather",
    );
    expect(fromCase("torch", "gather", { axis: 1 }, elements).op).toBe("torch.gather");
    expect(fromCase("torch", "gather_elements", { axis: 1 }, elements).op).toBe("torch.gather");
    const rows = torch.indexSelect({ input: data, index: ["i64", [4]], dim: 1 });
    expect(fromCase("torch", "index_select", { axis: 1 }, rows).op).toBe("torch.index_select");
  });

  it("pypto's gather is index_select in cases, as PyPTO's table of tests calls it", () => {
    const rows = pypto.indexSelect({ input: data, index: ["i64", [4]], dim: 1 });
    expect(fromCase("pypto", "gather", { axis: 1 }, rows).op).toBe("pypto.index_select");
  });

  it("numpy.index calls its inputs x and i0, with one array as with two", async () => {
    const two = numpy.index({
      x: ["f32", [4, 4]],
      key: [
        ["i64", [2]],
        ["i64", [2]],
      ],
    });
    expect(inputsOf(two).map(({ name }) => name)).toEqual(["x", "i0", "i1"]);
    const one = numpy.index({ x: ["f32", [4]], key: [["i64", [2]]] });
    expect(inputsOf(one).map(({ name }) => name)).toEqual(["x", "i0"]);
    const inputs = { x: Float32Array.of(1, 2, 3, 4), i0: BigInt64Array.of(3n, -4n) };
    const { outputs } = await run(compile(one, { target: targets.webgpu }), inputs);
    expect([...(outputs.output as Float32Array)]).toEqual([4, 1]);
    const entry = {
      ...{ id: "a", dialect: "numpy", op: "index", expect: "ok" },
      inputs: {
        x: { dtype: "f32", shape: [4], values: [1, 2, 3, 4] },
        i0: { dtype: "i64", shape: [2], values: ["3", "-4"] },
      },
      output: { dtype: "f32", shape: [2], values: [4, 1] },
    };
    const [test] = readCaseList(JSON.stringify([entry]), "t.json");
    if (test === undefined || "malformed" in test) throw new Error(test?.malformed[0]?.message);
    const results = await checkCase(test, ["reference", "sim"], {});
    expect(results.map(({ status }) => status)).toEqual(["pass", "pass"]);
  });

  it("DirectML's gather_nd with batch dims is gather_nd1, however it is called", async () => {
    const nd = rowOf("directml.gather_nd").build();
    const shared = { inputDimensionCount: 2, indicesDimensionCount: 2 };
    expect((await fromFlags({ op: "directml.gather_nd" }, shared, nd)).op).toBe("directml.gather_nd");
    expect((await fromFlags({ op: "directml.gather_nd" }, { ...shared, batchDims: 1 }, nd)).op).toBe(
      "directml.gather_nd1",
    );
    expect((await fromFlags({ op: "directml.gather_nd1" }, shared, nd)).op).toBe("directml.gather_nd1");
    expect(fromCase("directml", "gather_nd1", shared, nd).op).toBe("directml.gather_nd1");
  });

  it.each([
    [{ op: "gather_nd", dialect: "pypto" }, "dialect pypto has no operator gather_nd"],
    [{ op: "mxnet.gather" }, "dialect mxnet has no operator gather"],
    [{ op: "onnx.gather", dialect: "pypto" }, "--op onnx.gather and --dialect pypto disagree"],
    [{ op: "onnx.gather", batchDims: "1" }, "onnx.gather has no attribute --batch-dims"],
    [{ op: "onnx.gather", axis: "one" }, "--axis one is not a whole number"],
  ] as const)("%o: %s", async (flags, message) => {
    await expect(fromFlags(flags, {}, like)).rejects.toThrow(message);
  });
});

it("an attribute named like a property of every object is unknown", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    const attrs = Object.fromEntries([[name, 1]]);
    const types = { data: { dtype: "f32", shape: [2] }, indices: { dtype: "i32", shape: [1] } } as const;
    expect(() => program({ op: "onnx.gather", attrs, ...types })).toThrow(`has no attribute ${name}`);
  }
});
