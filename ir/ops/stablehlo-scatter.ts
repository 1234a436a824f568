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
import { add, constant, dim, index, type Linear } from "../linear.js";
import { at, formatShape, type Shape } from "../types.js";
import { oobOf } from "./attributes.js";
import {
  checkDType,
  checkRank,
  defineOperator,
  intAttr,
  intsAttr,
  wordAttr,
  type OpDef,
  type OpInputs,
} from "./op-def.js";
import { checkCombine, dimsFrom, scatterOperator, writtenOobSpec } from "./scatter.js";
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

const who = "stablehlo.scatter";

/** The operation's shapes and attributes. */
interface Scatter {
  readonly operand: Shape;
  readonly scatterIndices: Shape;
  readonly updates: Shape;
  readonly updateWindowDims: readonly number[];
  readonly insertedWindowDims: readonly number[];
  readonly inputBatchingDims: readonly number[];
  readonly scatterIndicesBatchingDims: readonly number[];
  readonly scatterDimsToOperandDims: readonly number[];
  readonly indexVectorDim: number;
}

/** Dims of scatter_indices that are dims of the updates. */
const scatterDimsOf = ({ scatterIndices, indexVectorDim }: Scatter): readonly number[] =>
  scatterIndices.flatMap((_, d) => (d === indexVectorDim ? [] : [d]));

/** Dims of the operand that are dims of a window. */
const windowDimsOf = ({ operand, insertedWindowDims, inputBatchingDims }: Scatter): readonly number[] =>
  operand.flatMap((_, d) => (insertedWindowDims.includes(d) || inputBatchingDims.includes(d) ? [] : [d]));

/** Dims of the updates in front of which no window lies, in order: those of scatter_indices. */
const updateScatterDims = ({ updates, updateWindowDims }: Scatter): readonly number[] =>
  updates.flatMap((_, d) => (updateWindowDims.includes(d) ? [] : [d]));

const batchOfInput = ({ operand, inputBatchingDims }: Scatter): NamedDims => ({
  name: "input_batching_dims",
  dims: inputBatchingDims,
  tensor: "input",
  shape: operand,
});

const batchOfIndices = ({ scatterIndices, scatterIndicesBatchingDims }: Scatter): NamedDims => ({
  name: "scatter_indices_batching_dims",
  dims: scatterIndicesBatchingDims,
  tensor: "scatter_indices",
  shape: scatterIndices,
});

const constraints: readonly Constraint<Scatter>[] = [
  {
    number: "C2",
    code: "TC103",
    broken({ operand, updateWindowDims, insertedWindowDims, inputBatchingDims }) {
      const [window, inserted, batching] = [updateWindowDims, insertedWindowDims, inputBatchingDims].map(
        (list) => list.length,
      ) as [number, number, number];
      return unless(
        operand.length === window + inserted + batching,
        `takes as many window, inserted and batching dims as the input has, ${operand.length}, ` +
          `not ${window} + ${inserted} + ${batching}`,
      );
    },
  },
  {
    number: "C4",
    code: "TC103",
    broken(scatter) {
      const { operand, updates, updateWindowDims, scatterIndices } = scatter;
      const outer = scatterDimsOf(scatter).map((d) => at(scatterIndices, d));
      const given = updateScatterDims(scatter).map((d) => at(updates, d));
      if (formatShape(outer) !== formatShape(given))
        return `takes updates whose dims beside the window are ${formatShape(outer)}, not ${formatShape(given)}`;
      const window = windowDimsOf(scatter).map((d) => at(operand, d));
      const wide = updateWindowDims.findIndex((d, k) => (updates[d] ?? 0) > (window[k] ?? Infinity));
      return unless(
        wide === -1,
        `takes windows up to the input's ${formatShape(window)}, and updates dim ${updateWindowDims[wide] ?? 0} ` +
          `is ${updates[updateWindowDims[wide] ?? 0] ?? 0}`,
      );
    },
  },
  {
    number: "C7",
    code: "TC101",
    broken: ({ updateWindowDims }) =>
      unique("update_window_dims", updateWindowDims) ?? sorted("update_window_dims", updateWindowDims),
  },
  {
    number: "C8",
    code: "TC101",
    broken: ({ updateWindowDims, updates }) => within("update_window_dims", updateWindowDims, updates.length),
  },
  {
    number: "C9",
    code: "TC101",
    broken: ({ insertedWindowDims, inputBatchingDims }) =>
      unique("inserted_window_dims and input_batching_dims", [...insertedWindowDims, ...inputBatchingDims]),
  },
  {
    number: "C10",
    code: "TC101",
    broken: ({ insertedWindowDims }) => sorted("inserted_window_dims", insertedWindowDims),
  },
  {
    number: "C11",
    code: "TC101",
    broken: ({ insertedWindowDims, operand }) =>
      within("inserted_window_dims", insertedWindowDims, operand.length),
  },
  {
    number: "C12",
    code: "TC101",
    broken: ({ inputBatchingDims }) => sorted("input_batching_dims", inputBatchingDims),
  },
  {
    number: "C13",
    code: "TC101",
    broken: ({ inputBatchingDims, operand }) =>
      within("input_batching_dims", inputBatchingDims, operand.length),
  },
  {
    number: "C14",
    code: "TC101",
    broken: ({ scatterIndicesBatchingDims }) =>
      unique("scatter_indices_batching_dims", scatterIndicesBatchingDims),
  },
  {
    number: "C15",
    code: "TC101",
    broken: ({ scatterIndicesBatchingDims, scatterIndices }) =>
      within("scatter_indices_batching_dims", scatterIndicesBatchingDims, scatterIndices.length),
  },
  {
    number: "C16",
    code: "TC101",
    broken: (scatter) => vectorApart(scatter.indexVectorDim, batchOfIndices(scatter)),
  },
  {
    number: "C17",
    code: "TC103",
    broken: (scatter) => asMany(batchOfInput(scatter), batchOfIndices(scatter)),
  },
  {
    number: "C18",
    code: "TC103",
    broken: (scatter) => sameSizes(batchOfInput(scatter), batchOfIndices(scatter)),
  },
  {
    number: "C19",
    code: "TC103",
    broken: ({ indexVectorDim, scatterIndices, scatterDimsToOperandDims }) =>
      components("scatter_dims_to_operand_dims", scatterDimsToOperandDims, scatterIndices, indexVectorDim),
  },
  {
    number: "C20",
    code: "TC101",
    broken: ({ scatterDimsToOperandDims, inputBatchingDims }) =>
      unique("scatter_dims_to_operand_dims and input_batching_dims", [
        ...scatterDimsToOperandDims,
        ...inputBatchingDims,
      ]),
  },
  {
    number: "C21",
    code: "TC101",
    broken: ({ scatterDimsToOperandDims, operand }) =>
      within("scatter_dims_to_operand_dims", scatterDimsToOperandDims, operand.length),
  },
  {
    number: "C22",
    code: "TC101",
    broken: ({ indexVectorDim, scatterIndices }) => vectorDim(indexVectorDim, scatterIndices),
  },
];

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
  index_vector_dim: {
    key: "indexVectorDim",
    kind: "int",
    default: 0,
    help: "the dim of scatter_indices that holds an index's components",
  },
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
function scatterOf({ data, indices, inputs, attrs }: OpInputs): Scatter {
  return {
    operand: data.shape,
    scatterIndices: indices.shape,
    updates: at(inputs, 2).shape,
    updateWindowDims: intsAttr(attrs, "update_window_dims"),
    insertedWindowDims: intsAttr(attrs, "inserted_window_dims"),
    inputBatchingDims: intsAttr(attrs, "input_batching_dims"),
    scatterIndicesBatchingDims: intsAttr(attrs, "scatter_indices_batching_dims"),
    scatterDimsToOperandDims: intsAttr(attrs, "scatter_dims_to_operand_dims"),
    indexVectorDim: intAttr(attrs, "index_vector_dim") ?? 0,
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
  const { operand, scatterIndices, updateWindowDims, indexVectorDim, scatterDimsToOperandDims } = scatter;
  const { inputBatchingDims, scatterIndicesBatchingDims } = scatter;
  const outer = updateScatterDims(scatter);
  /** The dim of the updates that a dim of scatter_indices is. */
  const ofIndices = new Map(scatterDimsOf(scatter).map((d, k) => [d, at(outer, k)]));
  const ofOperand = new Map(windowDimsOf(scatter).map((d, k) => [d, at(updateWindowDims, k)]));
  const along = (place: number | undefined): Linear => (place === undefined ? constant(0) : dim(place));
  const indices: IndexOperand[] = [];
  const to = operand.map((extent, d): Linear => {
    const component = scatterDimsToOperandDims.indexOf(d);
    const batching = inputBatchingDims.indexOf(d);
    const window = along(ofOperand.get(d));
    if (component === -1)
      return batching === -1 ? window : along(ofIndices.get(at(scatterIndicesBatchingDims, batching)));
    const coords = scatterIndices.map((_, k) =>
      k === indexVectorDim ? constant(component) : along(ofIndices.get(k)),
    );
    const value = { table: 1, at: coords };
    if (!ofOperand.has(d)) indices.push({ value, outOfRange, extent });
    else {
      indices.push({ value, outOfRange: "any" });
      indices.push({ value: add(index(indices.length - 1), window), outOfRange, extent });
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
    const { dtype } = at(inputs.inputs, 2);
    checkConstraints(inputs, who, [...constraints, ofType(inputs.data.dtype)], { ...scatter, dtype });
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
      inputs.inputs.map(({ shape }) => shape),
    );
    return { operator, output: scatter.operand, negative: "illegal", oob };
  },
});

/** The updates have the input's type. */
const ofType = (data: string): Constraint<Scatter & { readonly dtype: string }> => ({
  number: "C6",
  code: "TC104",
  broken: ({ dtype }) => unless(dtype === data, `takes updates of the input's type, ${data}, not ${dtype}`),
});
