/**
 * StableHLO's `gather(operand, start_indices, dimension numbers, slice_sizes)`: a window of `slice_sizes` for
 * each start index.
 *
 * Source: openxla/stablehlo docs/spec.md, section gather; C1 to C23 are its numbers. A start index is clamped
 * so that its window lies inside the operand. Quantized types and `indices_are_sorted`, a promise that
 * nothing here needs, are left out.
 */
import { gatherOver, readData, type AccessMap, type IndexOperand } from "../access.js";
import { add, constant, dim, index, type Linear } from "../linear.js";
import { elementsInByte } from "../element-types.js";
import { at, formatShape, isPacked, type Shape } from "../types.js";
import { oobOf, oobSpec } from "./attributes.js";
import {
  breakRule,
  checkDType,
  defineOperator,
  intAttr,
  intsAttr,
  type OpDef,
  type OpInputs,
} from "./op-def.js";
import {
  asMany,
  checkConstraints,
  components,
  dataTypes,
  dims,
  sameSizes,
  sorted,
  unique,
  unless,
  vectorApart,
  vectorDim,
  within,
  type Constraint,
  type NamedDims,
} from "./stablehlo-rules.js";

/** The operation's shapes and attributes. */
interface Gather {
  readonly operand: Shape;
  readonly startIndices: Shape;
  readonly offsetDims: readonly number[];
  readonly collapsedSliceDims: readonly number[];
  readonly operandBatchingDims: readonly number[];
  readonly startIndicesBatchingDims: readonly number[];
  readonly startIndexMap: readonly number[];
  readonly indexVectorDim: number;
  readonly sliceSizes: Shape;
}

/** Returns a fault if a dim that leaves no dim in the result has a slice size over 1; otherwise undefined. */
const single = (name: string, dims: readonly number[], { sliceSizes }: Gather): string | undefined => {
  const wide = dims.find((d) => (sliceSizes[d] ?? 1) > 1);
  return wide === undefined
    ? undefined
    : `takes slice sizes of 1 at ${name}, and slice_sizes[${wide}] is ${sliceSizes[wide] ?? 1}`;
};

/** Returns the dims of start_indices that are dims of the result. */
const batchDimsOf = ({ startIndices, indexVectorDim }: Gather): readonly number[] =>
  startIndices.flatMap((_, d) => (d === indexVectorDim ? [] : [d]));

const resultRank = (gather: Gather): number => batchDimsOf(gather).length + gather.offsetDims.length;

const batchOfOperand = ({ operand, operandBatchingDims }: Gather): NamedDims => ({
  name: "operand_batching_dims",
  dims: operandBatchingDims,
  tensor: "operand",
  shape: operand,
});

const batchOfIndices = ({ startIndices, startIndicesBatchingDims }: Gather): NamedDims => ({
  name: "start_indices_batching_dims",
  dims: startIndicesBatchingDims,
  tensor: "start_indices",
  shape: startIndices,
});

const constraints: readonly Constraint<Gather>[] = [
  {
    number: "C1",
    code: "TC103",
    broken({ operand, offsetDims, collapsedSliceDims, operandBatchingDims }) {
      const [offset, collapsed, batching] = [offsetDims, collapsedSliceDims, operandBatchingDims].map(
        (list) => list.length,
      ) as [number, number, number];
      return unless(
        operand.length === offset + collapsed + batching,
        `takes as many offset, collapsed and batching dims as the operand has, ${operand.length}, ` +
          `not ${offset} + ${collapsed} + ${batching}`,
      );
    },
  },
  {
    number: "C2",
    code: "TC101",
    broken: ({ indexVectorDim, startIndices }) => vectorDim(indexVectorDim, startIndices),
  },
  {
    number: "C3",
    code: "TC103",
    broken: ({ indexVectorDim, startIndices, startIndexMap }) =>
      components("a start_index_map", startIndexMap, startIndices, indexVectorDim),
  },
  {
    number: "C4",
    code: "TC101",
    broken: ({ offsetDims }) => unique("offset_dims", offsetDims) ?? sorted("offset_dims", offsetDims),
  },
  {
    number: "C5",
    code: "TC101",
    broken: (gather) => within("offset_dims", gather.offsetDims, resultRank(gather)),
  },
  {
    number: "C6",
    code: "TC101",
    broken: ({ collapsedSliceDims, operandBatchingDims }) =>
      unique("collapsed_slice_dims and operand_batching_dims", [
        ...collapsedSliceDims,
        ...operandBatchingDims,
      ]),
  },
  {
    number: "C7",
    code: "TC101",
    broken: ({ collapsedSliceDims }) => sorted("collapsed_slice_dims", collapsedSliceDims),
  },
  {
    number: "C8",
    code: "TC101",
    broken: ({ collapsedSliceDims, operand }) =>
      within("collapsed_slice_dims", collapsedSliceDims, operand.length),
  },
  {
    number: "C9",
    code: "TC103",
    broken: (gather) => single("collapsed_slice_dims", gather.collapsedSliceDims, gather),
  },
  {
    number: "C10",
    code: "TC101",
    broken: ({ operandBatchingDims }) => sorted("operand_batching_dims", operandBatchingDims),
  },
  {
    number: "C11",
    code: "TC101",
    broken: ({ operandBatchingDims, operand }) =>
      within("operand_batching_dims", operandBatchingDims, operand.length),
  },
  {
    number: "C12",
    code: "TC103",
    broken: (gather) => single("operand_batching_dims", gather.operandBatchingDims, gather),
  },
  {
    number: "C13",
    code: "TC101",
    broken: ({ startIndicesBatchingDims }) => unique("start_indices_batching_dims", startIndicesBatchingDims),
  },
  {
    number: "C14",
    code: "TC101",
    broken: ({ startIndicesBatchingDims, startIndices }) =>
      within("start_indices_batching_dims", startIndicesBatchingDims, startIndices.length),
  },
  {
    number: "C15",
    code: "TC101",
    broken: (gather) => vectorApart(gather.indexVectorDim, batchOfIndices(gather)),
  },
  {
    number: "C16",
    code: "TC103",
    broken: (gather) => asMany(batchOfOperand(gather), batchOfIndices(gather)),
  },
  {
    number: "C17",
    code: "TC103",
    broken: (gather) => sameSizes(batchOfOperand(gather), batchOfIndices(gather)),
  },
  {
    number: "C18",
    code: "TC101",
    broken: ({ startIndexMap, operandBatchingDims }) =>
      unique("start_index_map and operand_batching_dims", [...startIndexMap, ...operandBatchingDims]),
  },
  {
    number: "C19",
    code: "TC101",
    broken: ({ startIndexMap, operand }) => within("start_index_map", startIndexMap, operand.length),
  },
  {
    number: "C20",
    code: "TC103",
    broken: ({ sliceSizes, operand }) =>
      unless(
        sliceSizes.length === operand.length,
        `takes a slice size for each of the operand's ${operand.length} dims, not ${sliceSizes.length}`,
      ),
  },
  {
    number: "C21",
    code: "TC103",
    broken: ({ sliceSizes, operand }) =>
      unless(
        sliceSizes.every((size, d) => size >= 0 && size <= (operand[d] ?? size)),
        `takes slice sizes from 0 up to the operand's ${formatShape(operand)}, not ${formatShape(sliceSizes)}`,
      ),
  },
];

const who = "stablehlo.gather";

/**
 * Throws a RuleError (TC104) for data of StableHLO's integers with 2 or 4 bits, which no target of tilec
 * supports.
 */
function checkUnpacked(inputs: OpInputs, { operand, sliceSizes }: Gather): void {
  const { dtype } = inputs.data;
  if (!isPacked(dtype)) return;
  const row = operand.at(-1);
  const inBytes = (shape: Shape): string =>
    formatShape([...shape.slice(0, -1), at(shape, shape.length - 1) / elementsInByte(dtype)]);
  const fillsBytes = row !== undefined && row === sliceSizes.at(-1) && row % elementsInByte(dtype) === 0;
  breakRule(
    "TC104",
    inputs,
    `${who} (I1) takes data of type ${dtype}; no target of tilec stores elements that share a byte`,
    fillsBytes
      ? `gather the bytes, which rows fill: data of u8 ${inBytes(operand)}, slice_sizes ${inBytes(sliceSizes)}`
      : `${dtype.replace(/\d/, "8")} has a byte for each element`,
  );
}

const attrs = {
  offset_dims: dims("offsetDims", "dims of the result that lie inside a slice"),
  collapsed_slice_dims: dims("collapsedSliceDims", "dims of the operand that slices leave out"),
  operand_batching_dims: dims("operandBatchingDims", "batch dims of the operand"),
  start_indices_batching_dims: dims("startIndicesBatchingDims", "batch dims of start_indices, in step"),
  start_index_map: dims("startIndexMap", "the dim of the operand that each component of an index is for"),
  index_vector_dim: {
    key: "indexVectorDim",
    kind: "int",
    default: 0,
    help: "the dim of start_indices that holds an index's components",
  },
  slice_sizes: dims("sliceSizes", "sizes of a slice, one for each dim of the operand"),
  oob: oobSpec("clamp"),
} as const satisfies OpDef["attrs"];

/** Returns the shapes and attributes of a `stablehlo.gather`. */
function gatherOf({ data, indices, attrs }: OpInputs): Gather {
  return {
    operand: data.shape,
    startIndices: indices.shape,
    offsetDims: intsAttr(attrs, "offset_dims"),
    collapsedSliceDims: intsAttr(attrs, "collapsed_slice_dims"),
    operandBatchingDims: intsAttr(attrs, "operand_batching_dims"),
    startIndicesBatchingDims: intsAttr(attrs, "start_indices_batching_dims"),
    startIndexMap: intsAttr(attrs, "start_index_map"),
    indexVectorDim: intAttr(attrs, "index_vector_dim") ?? 0,
    sliceSizes: intsAttr(attrs, "slice_sizes"),
  };
}

/** The result's dims in order: those of slices at `offset_dims`, those of start_indices in between. */
interface Result {
  readonly shape: Shape;
  /** By operand dim; none for collapsed and batching ones. */
  readonly ofOperand: ReadonlyMap<number, number>;
  /** By dim of start_indices; none for `index_vector_dim`. */
  readonly ofIndices: ReadonlyMap<number, number>;
}

/**
 * Returns the shape of a StableHLO gather's result, with maps from dims of the operand and of start_indices
 * to dims of the result.
 */
function resultOf(gather: Gather): Result {
  const { operand, startIndices, sliceSizes, offsetDims, collapsedSliceDims, operandBatchingDims } = gather;
  const sliced = operand.flatMap((_, d) =>
    collapsedSliceDims.includes(d) || operandBatchingDims.includes(d) ? [] : [d],
  );
  const batch = batchDimsOf(gather);
  const dims = Array.from({ length: resultRank(gather) }, (_, d) => d);
  const batchDims = dims.filter((d) => !offsetDims.includes(d));
  const ofOperand = new Map(sliced.map((d, k) => [d, at(offsetDims, k)]));
  const ofIndices = new Map(batch.map((d, k) => [d, at(batchDims, k)]));
  const sizes = new Map([
    ...sliced.map((d) => [ofOperand.get(d), at(sliceSizes, d)] as const),
    ...batch.map((d) => [ofIndices.get(d), at(startIndices, d)] as const),
  ]);
  return { shape: dims.map((d) => sizes.get(d) ?? 0), ofOperand, ofIndices };
}

/**
 * Returns the access map of a StableHLO gather, where operand_index = full_start_index + full_batching_index
 * + full_offset_index. `outOfRange`: the policy of the start indices.
 */
function mapOf(gather: Gather, result: Result, outOfRange: IndexOperand["outOfRange"]): AccessMap {
  const { operand, startIndices, startIndexMap, indexVectorDim, sliceSizes } = gather;
  const { operandBatchingDims, startIndicesBatchingDims } = gather;
  const along = (place: number | undefined): Linear => (place === undefined ? constant(0) : dim(place));
  const indices = startIndexMap.map((d, component): IndexOperand => {
    const coords = startIndices.map((_, k) =>
      k === indexVectorDim ? constant(component) : along(result.ofIndices.get(k)),
    );
    // An empty slice reads nothing, wherever it starts.
    const extent = at(operand, d) - Math.max(1, at(sliceSizes, d)) + 1;
    const value = { table: 1, at: coords };
    // The start of a window has no modulus under `wrap`: the elements of the window would have another one.
    if (outOfRange === "wrap" && result.ofOperand.has(d)) return { value, outOfRange };
    return { value, outOfRange, extent: Math.max(0, extent) };
  });
  const coords = operand.map((_, d) => {
    const started = startIndexMap.indexOf(d);
    const batching = operandBatchingDims.indexOf(d);
    const start = started === -1 ? constant(0) : index(started);
    const batch = batching === -1 ? undefined : result.ofIndices.get(at(startIndicesBatchingDims, batching));
    return add(add(along(result.ofOperand.get(d)), along(batch)), start);
  });
  return gatherOver(result.shape, 2, { indices, ...readData(coords) });
}

/** Operator stablehlo.gather: copies a window of `slice_sizes` elements for each start index. */
export const stablehloGather = defineOperator({
  name: who,
  inputs: ["operand", "start_indices"],
  attrs,
  resultRules: "C22, C23",
  resolve(inputs) {
    const gather = gatherOf(inputs);
    checkUnpacked(inputs, gather);
    checkDType(inputs, "data", dataTypes, `${who} (I1)`);
    checkConstraints(inputs, who, constraints, gather);
    const result = resultOf(gather);
    const oob = oobOf(inputs);
    return {
      operator: {
        op: "mapped",
        map: mapOf(gather, result, oob),
        inputs: [gather.operand, gather.startIndices],
      },
      output: result.shape,
      negative: "illegal",
      oob,
    };
  },
});
