/**
 * PyTorch's scatter, scatter_add, index_copy and index_add.
 *
 * Source: docs.pytorch.org/docs/stable, the pages of these names. No index counts from the end, and one out
 * of range is an error. What an index names twice without a reduction is open there: the last one stays.
 */
import type { Combine } from "../access.js";
import type { DType } from "../types.js";
import { dimAxis } from "./attributes.js";
import {
  axisOf,
  checkDType,
  checkRank,
  checkSameRank,
  defineOperator,
  intAttr,
  type OpInputs,
  type Resolved,
} from "./op-def.js";
import { writtenOobSpec } from "./scatter.js";
import { reduceOf, reduceSpec, scatterOrFill } from "./scatter-or-fill.js";
import { alphaSpec, scaled, slicesScatter, unchanged } from "./slices-scatter.js";
import { tensorTypes } from "./torch.js";

const oob = writtenOobSpec("error");
const scatterInputs = ["input", "index", "src"] as const;
const rowInputs = ["input", "index", "source"] as const;

function checkTypes(inputs: OpInputs, who: string, indices: readonly DType[]): number {
  checkDType(inputs, "data", tensorTypes, who);
  checkDType(inputs, "indices", indices, who);
  checkRank(inputs, "data", 1, 8, who);
  return axisOf(inputs, "dim");
}

/** Returns the resolved operator of torch.scatter or torch.scatter_add. `who`: name of the operator. */
function resolveScatter(inputs: OpInputs, combine: Combine, who: string): Resolved {
  const along = checkTypes(inputs, who, ["i64"]);
  checkSameRank(inputs, who);
  const source = { attr: "value", either: "src, a tensor, or value, a number" };
  return scatterOrFill(inputs, along, combine, source, who);
}

/**
 * Operator torch.scatter: writes a number or a tensor's elements along a dim, into a copy of the input. With
 * `reduce`, elements are added or multiplied.
 */
export const torchScatter = defineOperator({
  name: "torch.scatter",
  inputs: scatterInputs,
  values: ["src"],
  optional: ["src"],
  writes: "copy",
  attrs: {
    dim: dimAxis,
    reduce: reduceSpec,
    value: { key: "value", kind: "number", help: "the number that is written, in the place of an input src" },
    oob,
  },
  resolve: (inputs) => resolveScatter(inputs, reduceOf(inputs), "torch.scatter"),
});

/** Operator torch.scatter_add: adds a tensor's elements along a dim, into a copy of the input. */
export const torchScatterAdd = defineOperator({
  name: "torch.scatter_add",
  inputs: scatterInputs,
  values: ["src"],
  writes: "copy",
  attrs: { dim: dimAxis, oob },
  resolve: (inputs) => resolveScatter(inputs, "add", "torch.scatter_add"),
});

/** Operator torch.index_copy: copies slices of a source to indexed slices of a copy of the input. */
export const torchIndexCopy = defineOperator({
  name: "torch.index_copy",
  inputs: rowInputs,
  values: ["source"],
  writes: "copy",
  attrs: { dim: dimAxis, oob },
  resolve(inputs) {
    const along = checkTypes(inputs, "torch.index_copy", ["i64"]);
    return slicesScatter(inputs, along, { combine: "set", value: unchanged }, "torch.index_copy");
  },
});

/**
 * Operator torch.index_add: adds slices of a source, times alpha, to indexed slices of a copy of the input.
 */
export const torchIndexAdd = defineOperator({
  name: "torch.index_add",
  inputs: rowInputs,
  values: ["source"],
  writes: "copy",
  attrs: { dim: dimAxis, alpha: alphaSpec, oob },
  resolve(inputs) {
    const who = "torch.index_add";
    const along = checkTypes(inputs, who, ["i32", "i64"]);
    const value = scaled(inputs, intAttr(inputs.attrs, "alpha") ?? 1, who);
    return slicesScatter(inputs, along, { combine: "add", value }, who);
  },
});
