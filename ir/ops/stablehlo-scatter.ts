/**
 * StableHLO's `scatter(inputs, scatter_indices, updates, dimension numbers, update_computation)` of one
 * input, whose computation keeps the update or combines it with the element.
 *
 * Source: openxla/stablehlo docs/spec.md, section scatter; C2 to C23 are its numbers. An element of a window
 * whose place is outside the operand is left out, and the rest of the window is not. The specification leaves
 * the order of updates open: here the last one stays, and sums are in row-major order of the updates.
 * `indices_are_sorted` and `unique_indices` are promises that nothing here needs.
 */
import type { IndexOperand } from "../access.js";
import { dimsFrom } from "../index-operand.js";
import { add, index, type Linear } from "../linear.js";
import { at, formatShape, type Shape } from "../types.js";
import { oobOf } from "./attributes.js";
import {
  checkDType,
  checkRank,
  defineOperator,
  resolvedAs,
  shapesOf,
  wordAttr,
  type OpDef,
  type OpInputs,
} from "./op-def.js";
import { checkCombine, scatterOperator, writtenOobSpec } from "./scatter.js";
import {
  checkConstraints,
  dataTypes,
  dimCount,
  dims,
  entryOfEachComponent,
  indexVectorDim,
  outerOfIndices,
  outerOfWindows,
  unless,
  windowCoords,
  windowOfOperand,
  windowsOf,
  type Constraints,
  type Windows,
} from "./stablehlo-rules.js";

const who = "stablehlo.scatter";

/** The operation's shapes and attributes. */
interface Scatter extends Windows {
  readonly updates: Shape;
  /** Element types of the input and of the updates. */
  readonly dtypes: readonly [input: string, updates: string];
}

/** Returns an error message if the updates do not have the extents of windows and scatter_indices. */
function misshapen(scatter: Scatter): string | undefined {
  const { operand, updates, window, indices } = scatter;
  const outer = outerOfIndices(scatter).map((d) => at(indices, d));
  const given = outerOfWindows(scatter).map((d) => at(updates, d));
  if (formatShape(outer) !== formatShape(given))
    return `takes updates whose dims beside the window are ${formatShape(outer)}, not ${formatShape(given)}`;
  const extents = windowOfOperand(scatter).map((d) => at(operand, d));
  const wide = window.dims.findIndex((d, k) => (updates[d] ?? 0) > (extents[k] ?? Infinity));
  return unless(
    wide === -1,
    `takes windows up to the input's ${formatShape(extents)}, and updates dim ${window.dims[wide] ?? 0} ` +
      `is ${updates[window.dims[wide] ?? 0] ?? 0}`,
  );
}

const constraints: Constraints<Scatter> = {
  C2: dimCount("window, inserted and batching", "input"),
  C4: { code: "TC103", broken: misshapen },
  C7: "windowOrder",
  C8: "windowInRange",
  C9: "leftAndBatchOnce",
  C10: "leftOrder",
  C11: "leftInRange",
  C12: "batchOrder",
  C13: "batchInRange",
  C14: "indexBatchOnce",
  C15: "indexBatchInRange",
  C16: "vectorDimApart",
  C17: "asManyBatchDims",
  C18: "sameBatchExtents",
  C19: entryOfEachComponent("scatter_dims_to_operand_dims"),
  C20: "indexMapAndBatchOnce",
  C21: "indexMapInRange",
  C22: "vectorDimInRange",
  C6: {
    code: "TC104",
    broken: ({ dtypes: [input, updates] }) =>
      unless(updates === input, `takes updates of the input's type, ${input}, not ${updates}`),
    hint: ({ dtypes: [input] }) => `cast updates to ${input}`,
  },
};

const computations = ["set", "add", "mul", "min", "max"] as const;

const attrs = {
  update_window_dims: dims("updateWindowDims", "dims of the updates that lie inside a window"),
  inserted_window_dims: dims("insertedWindowDims", "dims of the input that windows leave out"),
  input_batching_dims: dims("inputBatchingDims", "batch dims of the input"),
  scatter_indices_batching_dims: dims("scatterIndicesBatchingDims", "batch dims of scatter_indices, in step"),
  scatter_dims_to_operand_dims: dims(
    "scatterDimsToOperandDims",
    "the dim of the input that each component of an index is for",
  ),
  index_vector_dim: indexVectorDim("scatter_indices"),
  update_computation: {
    key: "updateComputation",
    kind: "word",
    words: computations,
    default: "set",
    help: "what becomes of an element that an update names",
  },
  oob: writtenOobSpec("skip"),
} as const satisfies OpDef["attrs"];

/** Returns the shapes and attributes of a `stablehlo.scatter`. */
function scatterOf(inputs: OpInputs): Scatter {
  const updates = at(inputs.inputs, 2);
  const names = {
    window: "update_window_dims",
    left: "inserted_window_dims",
    batch: "input_batching_dims",
    indexBatch: "scatter_indices_batching_dims",
    indexMap: "scatter_dims_to_operand_dims",
  };
  return {
    ...windowsOf(inputs, names, updates.shape.length),
    updates: updates.shape,
    dtypes: [inputs.data.dtype, updates.dtype],
  };
}

/**
 * Returns the index operands of a StableHLO scatter and the coordinates of the written element: result_index
 * = full_start_index + full_batching_index + full_window_index.
 */
function writtenBy(
  scatter: Scatter,
  outOfRange: IndexOperand["outOfRange"],
): { readonly indices: readonly IndexOperand[]; readonly to: readonly Linear[] } {
  const { operand, indexMap } = scatter;
  const coords = windowCoords(scatter);
  const indices: IndexOperand[] = [];
  const to = operand.map((extent, d): Linear => {
    const component = indexMap.dims.indexOf(d);
    const offset = coords.offset(d);
    if (component === -1) return offset;
    const value = { table: 1, at: coords.component(component) };
    if (!coords.ofOperand.has(d)) indices.push({ value, outOfRange, extent });
    else {
      indices.push({ value, outOfRange: "any" });
      indices.push({ value: add(index(indices.length - 1), offset), outOfRange, extent });
    }
    return index(indices.length - 1);
  });
  return { indices, to };
}

/**
 * Operator stablehlo.scatter: writes or combines a window of updates at each index, in a copy of the input.
 */
export const stablehloScatter = defineOperator({
  name: who,
  inputs: ["input", "scatter_indices", "updates"],
  values: ["updates"],
  writes: "copy",
  attrs,
  resolve(inputs) {
    const scatter = scatterOf(inputs);
    checkDType(inputs, "data", dataTypes, `${who} (I1)`);
    checkRank(inputs, "data", 0, 8, who);
    checkConstraints(inputs, who, constraints, scatter);
    const combine =
      computations.find((word) => word === wordAttr(inputs.attrs, "update_computation")) ?? "set";
    checkCombine(inputs, combine, inputs.data.dtype, who);
    const oob = oobOf(inputs);
    const operator = scatterOperator(
      {
        domain: scatter.updates,
        ...writtenBy(scatter, oob),
        from: { table: 2, at: dimsFrom(0, scatter.updates.length) },
        combine,
      },
      shapesOf(inputs),
    );
    return resolvedAs(operator, { negative: "illegal", oob });
  },
});
