/**
 * StableHLO's `gather(operand, start_indices, dimension numbers, slice_sizes)`: a window of `slice_sizes` for
 * each start index.
 *
 * Source: openxla/stablehlo docs/spec.md, section gather; C1 to C23 are its numbers. A start index is clamped
 * so that its window lies inside the operand. Quantized types and `indices_are_sorted`, a promise that
 * nothing here needs, are left out.
 */
import { readData, type IndexOperand } from "../access.js";
import { add, constant, index } from "../linear.js";
import type { Operator } from "../operator.js";
import { elementsInByte } from "../element-types.js";
import { at, formatShape, isPacked, type Shape } from "../types.js";
import { oobOf, oobSpec } from "./attributes.js";
import { mappedGather } from "./mapped-gather.js";
import {
  breakRule,
  checkDType,
  defineOperator,
  intsAttr,
  resolvedAs,
  type OpDef,
  type OpInputs,
} from "./op-def.js";
import {
  checkConstraints,
  dataTypes,
  dimCount,
  dims,
  entryOfEachComponent,
  indexVectorDim,
  outerOfIndices,
  unless,
  windowCoords,
  windowOfOperand,
  windowsOf,
  type Constraint,
  type Constraints,
  type WindowCoords,
  type Windows,
} from "./stablehlo-rules.js";

/** The operation's shapes and attributes. */
interface Gather extends Windows {
  readonly sliceSizes: Shape;
}

/** Returns the constraint that dims of a list, which leave no dim in the result, have slice sizes up to 1. */
const single = (list: "left" | "batch"): Constraint<Gather> => ({
  code: "TC103",
  broken({ [list]: { name, dims }, sliceSizes }) {
    const wide = dims.find((d) => (sliceSizes[d] ?? 1) > 1);
    return wide === undefined
      ? undefined
      : `takes slice sizes of 1 at ${name}, and slice_sizes[${wide}] is ${sliceSizes[wide] ?? 1}`;
  },
});

const constraints: Constraints<Gather> = {
  C1: dimCount("offset, collapsed and batching", "operand"),
  C2: "vectorDimInRange",
  C3: entryOfEachComponent("a start_index_map"),
  C4: "windowOrder",
  C5: "windowInRange",
  C6: "leftAndBatchOnce",
  C7: "leftOrder",
  C8: "leftInRange",
  C9: single("left"),
  C10: "batchOrder",
  C11: "batchInRange",
  C12: single("batch"),
  C13: "indexBatchOnce",
  C14: "indexBatchInRange",
  C15: "vectorDimApart",
  C16: "asManyBatchDims",
  C17: "sameBatchExtents",
  C18: "indexMapAndBatchOnce",
  C19: "indexMapInRange",
  C20: {
    code: "TC103",
    broken: ({ sliceSizes, operand }) =>
      unless(
        sliceSizes.length === operand.length,
        `takes a slice size for each of the operand's ${operand.length} dims, not ${sliceSizes.length}`,
      ),
  },
  C21: {
    code: "TC103",
    broken: ({ sliceSizes, operand }) =>
      unless(
        sliceSizes.every((size, d) => size >= 0 && size <= (operand[d] ?? size)),
        `takes slice sizes from 0 up to the operand's ${formatShape(operand)}, not ${formatShape(sliceSizes)}`,
      ),
  },
};

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
  index_vector_dim: indexVectorDim("start_indices"),
  slice_sizes: dims("sliceSizes", "sizes of a slice, one for each dim of the operand"),
  oob: oobSpec("clamp"),
} as const satisfies OpDef["attrs"];

/** Returns the shapes and attributes of a `stablehlo.gather`. */
const gatherOf = (inputs: OpInputs): Gather => ({
  ...windowsOf(inputs, {
    window: "offset_dims",
    left: "collapsed_slice_dims",
    batch: "operand_batching_dims",
    indexBatch: "start_indices_batching_dims",
    indexMap: "start_index_map",
  }),
  sliceSizes: intsAttr(inputs.attrs, "slice_sizes"),
});

/**
 * Returns the shape of the result: the sizes of slices at `offset_dims`, those of start_indices in between.
 */
function resultShape(gather: Gather, { ofOperand, ofIndices }: WindowCoords): Shape {
  const sizes = new Map([
    ...windowOfOperand(gather).map((d) => [ofOperand.get(d), at(gather.sliceSizes, d)] as const),
    ...outerOfIndices(gather).map((d) => [ofIndices.get(d), at(gather.indices, d)] as const),
  ]);
  return Array.from({ length: gather.rank }, (_, d) => sizes.get(d) ?? 0);
}

/**
 * Returns the operator of a StableHLO gather, where operand_index = full_start_index + full_batching_index
 * + full_offset_index. `outOfRange`: the policy of the start indices.
 */
function operatorOf(gather: Gather, outOfRange: IndexOperand["outOfRange"]): Operator {
  const { operand, indexMap, sliceSizes } = gather;
  const coords = windowCoords(gather);
  const indices = indexMap.dims.map((d, component): IndexOperand => {
    // An empty slice reads nothing, wherever it starts.
    const extent = at(operand, d) - Math.max(1, at(sliceSizes, d)) + 1;
    const value = { table: 1, at: coords.component(component) };
    return { value, outOfRange, extent: Math.max(0, extent) };
  });
  const read = operand.map((_, d) => {
    const started = indexMap.dims.indexOf(d);
    return add(coords.offset(d), started === -1 ? constant(0) : index(started));
  });
  const inputs = [operand, gather.indices];
  return mappedGather(inputs, resultShape(gather, coords), { indices, ...readData(read) });
}

/**
 * Throws a RuleError (TC105) for the policy `wrap` with windows longer than 1 along a dim that an index is
 * for: a start that wraps leaves the rest of its window outside the operand.
 */
function checkWrap(inputs: OpInputs, { indexMap, sliceSizes }: Gather): void {
  const long = indexMap.dims.find((d) => at(sliceSizes, d) > 1);
  if (long === undefined) return;
  breakRule(
    "TC105",
    inputs,
    `${who} takes oob wrap with slices of 1 along the dims of start_index_map, and slice_sizes[${long}] is ${at(sliceSizes, long)}`,
    "oob = clamp, the specification's own, keeps whole slices inside the operand",
  );
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
    const oob = oobOf(inputs);
    if (oob === "wrap") checkWrap(inputs, gather);
    return resolvedAs(operatorOf(gather, oob), { negative: "illegal", oob });
  },
});
