/**
 * PyPTO's `scatter_update(input, -2, index, src)`, `scatter_(input, dim, index, src)` and `scatter`.
 *
 * Sources: docs/zh/api/operation/ of hicann/pypto at 883e7df (2026-08-22), the pages of these names, and
 * framework/src/interface/operation/vector/indexing.cpp. `scatter_update` and `scatter_` write into their
 * input. PyPTO skips a negative slot of `scatter_update` and checks no other index; here a slot beyond the
 * cache is skipped too, and another index is an error.
 */
import { dimsFrom, indexOperand } from "../index-operand.js";
import { dim, div, index, mod } from "../linear.js";
import { at, formatType, maxElements, type DType } from "../types.js";
import { dimAxis, oobOf } from "./attributes.js";
import {
  type AttrSpec,
  axisOf,
  breakRule,
  checkDType,
  checkRank,
  checkSameRank,
  defineOperator,
  intAttr,
  type OpInputs,
  type Resolved,
  resolvedAs,
  shapesOf,
} from "./op-def.js";
import { checkUpdates, scatterOperator, writtenOobSpec, type Scatter } from "./scatter.js";
import { reduceOf, reduceSpec, scatterOrFill } from "./scatter-or-fill.js";
import { alphaSpec, scaled, slicesScatter } from "./slices-scatter.js";

/**
 * The page has no i8; models store quantized caches (models/deepseek_v32_exp), and the code checks no type.
 */
const cacheTypes: readonly DType[] = ["f32", "f16", "bf16", "i32", "i16", "i8"];

/**
 * Returns the scatter that writes each source row to the slot of a cache that an index selects. A slot is one
 * row of a rank-2 cache, or one token of a paged rank-4 cache. Throws a RuleError if the source has another
 * type than the cache (TC104) or a wrong shape (TC103).
 */
function slotScatter(inputs: OpInputs, who: string): Omit<Scatter, "combine"> {
  const [input, slots] = [inputs.data.shape, inputs.indices.shape];
  const [outer, inner] = [at(slots, 0), at(slots, 1)];
  const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
  const isPaged = input.length === 4;
  const src = isPaged ? [outer, inner, 1, at(input, 3)] : [outer * inner, at(input, 1)];
  checkUpdates(inputs, 2, src, "src", who);
  const from = { table: 2, at: dimsFrom(0, src.length) };
  if (!isPaged) {
    const per = Math.max(1, inner);
    const slot = [div(dim(0), per), mod(dim(0), per)];
    return {
      domain: src,
      indices: [indexOperand(policy, 1, slot, at(input, 0))],
      to: [index(0), dim(1)],
      from,
    };
  }
  const page = Math.max(1, at(input, 1));
  return {
    domain: src,
    indices: [indexOperand(policy, 1, dimsFrom(0, 2), at(input, 0) * at(input, 1))],
    to: [div(index(0), page), mod(index(0), page), dim(2), dim(3)],
    from,
  };
}

/** Operator pypto.scatter_update: writes source rows into the slots of a cache, in place. */
export const pyptoScatterUpdate = defineOperator({
  framework: "pypto",
  maxElements,
  name: "pypto.scatter_update",
  inputs: ["input", "index", "src"],
  values: ["src"],
  writes: "in place",
  attrs: { dim: { ...dimAxis, default: -2 }, oob: writtenOobSpec("skip") },
  resolve(inputs) {
    const who = "pypto.scatter_update";
    checkDType(inputs, "data", cacheTypes, who);
    checkDType(inputs, "indices", ["i16", "i32", "i64"], who);
    const { shape } = inputs.data;
    if (shape.length !== 2 && shape.length !== 4)
      breakRule("TC102", inputs, `${who} takes an input of 2 or 4 dims, not ${formatType(inputs.data)}`);
    if (shape.length === 4 && shape[2] !== 1)
      breakRule("TC103", inputs, `${who} takes pages [blocks, tokens, 1, d], not ${formatType(inputs.data)}`);
    checkRank(inputs, "indices", 2, 2, who);
    const along = intAttr(inputs.attrs, "dim") ?? -2;
    if (along !== -2) breakRule("TC101", inputs, `${who} takes dim -2, not ${along}`);
    const scatter = { ...slotScatter(inputs, who), combine: "set" } as const;
    const operator = scatterOperator(scatter, shapesOf(inputs));
    return resolvedAs(operator, { negative: "illegal", oob: oobOf(inputs) });
  },
});

const scatterTypes: readonly DType[] = ["f32", "f16", "bf16", "i8", "u8", "i16", "i32"];

const scatterAttrs = {
  dim: dimAxis,
  reduce: reduceSpec,
  src: {
    key: "src",
    argument: "value",
    kind: "number",
    help: "the number that is written, in the place of an input src",
  },
  oob: writtenOobSpec("error"),
} as const satisfies Readonly<Record<string, AttrSpec>>;

/**
 * Returns the resolved operator of `pypto.scatter` or `pypto.scatter_`. Throws a RuleError for invalid inputs
 * or attributes. `who`: name of the operator.
 */
function resolveScatter(inputs: OpInputs, who: string): Resolved {
  checkDType(inputs, "data", scatterTypes, who);
  checkDType(inputs, "indices", ["i32", "i64"], who);
  checkRank(inputs, "data", 1, 4, who);
  checkSameRank(inputs, who);
  const along = axisOf(inputs, "dim");
  const source = { attr: "src", either: "src as a tensor or as a number" };
  return scatterOrFill(inputs, along, reduceOf(inputs), source, who);
}

const scatters = <Name extends string, const Memory extends "in place" | "copy">(
  name: `pypto.${Name}`,
  writes: Memory,
) =>
  defineOperator({
    framework: "pypto",
    maxElements,
    name,
    inputs: ["input", "index", "src"],
    values: ["src"],
    optional: ["src"],
    writes,
    attrs: scatterAttrs,
    resolve: (inputs) => resolveScatter(inputs, name),
  });

/** Operator pypto.scatter_: writes a number or a tensor's elements along a dim, in place. */
export const pyptoScatterInPlace = scatters("pypto.scatter_", "in place");

/** Operator pypto.scatter: writes a number or a tensor's elements along a dim, into a copy of the input. */
export const pyptoScatter = scatters("pypto.scatter", "copy");

const addTypes: readonly DType[] = ["f32", "f16", "bf16", "i8", "i16", "i32"];
const addAttrs = {
  dim: dimAxis,
  alpha: alphaSpec,
  oob: writtenOobSpec("error"),
} as const satisfies Readonly<Record<string, AttrSpec>>;

/**
 * Returns the resolved operator of a PyPTO index_add. Throws a RuleError for invalid inputs or attributes.
 * `types`: accepted element types of the data. `who`: name of the operator. `sharesDim`: true if a PyPTO rule
 * profile may fix the tile's extent along the indexed dim.
 */
function resolveAdd(inputs: OpInputs, types: readonly DType[], who: string, sharesDim: boolean): Resolved {
  checkDType(inputs, "data", types, who);
  checkDType(inputs, "indices", ["i32", "i64"], who);
  checkRank(inputs, "data", 1, 5, who);
  const along = axisOf(inputs, "dim");
  const value = scaled(inputs, intAttr(inputs.attrs, "alpha") ?? 1, who);
  return slicesScatter(inputs, along, { combine: "add", value, sharesDim }, who);
}

const adds = <Name extends string, const Memory extends "in place" | "copy">(
  name: `pypto.${Name}`,
  writes: Memory,
  types: readonly DType[],
  sharesDim = false,
) =>
  defineOperator({
    framework: "pypto",
    maxElements,
    name,
    inputs: ["input", "index", "source"],
    values: ["source"],
    writes,
    attrs: addAttrs,
    resolve: (inputs) => resolveAdd(inputs, types, name, sharesDim),
  });

/**
 * Operator pypto.index_add_: adds slices of a source, times alpha, to indexed slices of the input, in place.
 */
export const pyptoIndexAddInPlace = adds("pypto.index_add_", "in place", addTypes);

/**
 * Operator pypto.index_add: adds slices of a source, times alpha, to indexed slices of a copy of the input.
 */
export const pyptoIndexAdd = adds("pypto.index_add", "copy", addTypes);

// The page leaves i8 to index_add.
const addTypesInUb = addTypes.filter((dtype) => dtype !== "i8");
/**
 * Operator pypto.index_add_ub: adds slices of a source, times alpha, to indexed slices of a copy of the
 * input. Elements of type i8 are not accepted.
 */
export const pyptoIndexAddUb = adds("pypto.index_add_ub", "copy", addTypesInUb, true);
