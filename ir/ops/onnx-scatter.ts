/**
 * ONNX ScatterElements, ScatterND, Scatter (up to opset 10) and TensorScatter.
 *
 * Sources: onnx/onnx docs/Operators.md and Changelog.md. bfloat16 data arrived with opset 13, reductions add
 * and mul with 16, min and max with 18. ScatterND takes 64-bit indices alone; an index out of range is an
 * error. The pages leave duplicates open: the last one stays.
 */
import type { Combine, IndexOperand, NegativeIndex } from "../access.js";
import { dimsFrom, type IndexPolicy } from "../index-operand.js";
import { add, constant, dim, index } from "../linear.js";
import { at, maxElements, type DType } from "../types.js";
import { axis, modeSpec, oobOf } from "./attributes.js";
import { checkOpset, checkTypes, dataTypesOf } from "./onnx.js";
import {
  type AttrSpec,
  axisOf,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  checkTuple,
  defineOperator,
  breakRule,
  type OpInputs,
  resolvedAs,
  shapesOf,
  type Resolved,
  wordAttr,
} from "./op-def.js";
import {
  checkCombine,
  checkUpdates,
  elementsScatter,
  scatterOperator,
  tuplesScatter,
  writtenOobSpec,
  type Scatter,
} from "./scatter.js";

const opset = {
  key: "opset",
  kind: "int",
  default: 18,
  help: "ONNX opset, 11, 13, 16 or 18 and up",
} as const satisfies AttrSpec;

/** Reductions, with the opset that lists each first. */
const reductions = {
  none: [11, "set"],
  add: [16, "add"],
  mul: [16, "mul"],
  min: [18, "min"],
  max: [18, "max"],
} as const satisfies Readonly<Record<string, readonly [since: number, combine: Combine]>>;

const reduction = {
  key: "reduction",
  kind: "word",
  words: ["none", "add", "mul", "min", "max"],
  default: "none",
  help: "what becomes of an element that an update names",
} as const satisfies AttrSpec;

/** Types of TensorScatter that the other operators do not list. */
const smallFloats: readonly DType[] = ["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"];

const oob = writtenOobSpec("error");
const inputs = ["data", "indices", "updates"] as const;
const values = ["updates"] as const;

/** Rules in which ONNX's three scatters with indices and updates differ. */
interface Rules {
  readonly name: "onnx.scatter_elements" | "onnx.scatter_nd" | "onnx.scatter";
  /** The first opset that has the operator, and the last one; `instead` took its place. */
  readonly since: number;
  readonly until?: { readonly last: number; readonly instead: string };
  readonly indices: readonly DType[];
  readonly negative: NegativeIndex;
}

/**
 * Returns the operation that combines an update with the old element, from the attribute `reduction`. Throws
 * a RuleError (TC105) for a reduction that the opset does not have.
 */
function combineOf(given: OpInputs, who: string, version: number): Combine {
  const word = wordAttr(given.attrs, "reduction");
  if (word === "") return "set";
  const [since, combine] = reductions[word as keyof typeof reductions];
  if (version < since)
    breakRule(
      "TC105",
      given,
      `${who} has the reduction ${word} since opset ${since}, not in ${version}`,
      `opset = ${since}`,
    );
  return combine;
}

/**
 * Returns the scatter of an ONNX operator that writes updates along the attribute `axis`. Throws a RuleError
 * for an axis out of range, or for shapes of data and indices that do not match.
 */
function alongAxis(given: OpInputs, who: string, policy: IndexPolicy, combine: Combine): Scatter {
  const [data, indices] = [given.data.shape, given.indices.shape];
  checkSameRank(given, who);
  const along = axisOf(given);
  checkElements(given, along, false, who);
  return elementsScatter(data, indices, along, policy, combine);
}

/**
 * Returns the scatter by index tuples. Throws a RuleError (TC103) if an index tuple has more coordinates than
 * the data has dims.
 */
function byTuples(given: OpInputs, _: string, policy: IndexPolicy, combine: Combine): Scatter {
  const [data, indices] = [given.data.shape, given.indices.shape];
  checkTuple(given, data, indices, 0);
  return tuplesScatter(data, indices, policy, combine);
}

/**
 * Returns the function that applies the rules of a scatter with indices and updates. `scatterOf` makes the
 * scatter. Updates have the shape of its domain.
 */
const resolveBy =
  ({ name, since, until, indices, negative }: Rules, scatterOf: typeof alongAxis) =>
  (given: OpInputs): Resolved => {
    const version = checkTypes(given, name, since, indices);
    if (until !== undefined && version > until.last)
      breakRule(
        "TC105",
        given,
        `${name} exists in opsets ${since} to ${until.last}, not in ${version}`,
        `use ${until.instead}, which replaces it from opset ${until.last + 1} on`,
      );
    const combine = combineOf(given, name, version);
    checkRank(given, "data", 1, 8, name);
    checkRank(given, "indices", 1, 8, name);
    checkCombine(given, combine, given.data.dtype, name);
    const policy = { negative, oob: oobOf(given) } as const;
    const scatter = scatterOf(given, name, policy, combine);
    checkUpdates(given, 2, scatter.domain, "updates", name);
    return resolvedAs(scatterOperator(scatter, shapesOf(given)), policy);
  };

/** Operator ONNX ScatterElements: writes updates to elements along an axis. */
export const onnxScatterElements = defineOperator({
  name: "onnx.scatter_elements",
  inputs,
  values,
  writes: "copy",
  attrs: { axis, reduction, opset, oob },
  resolve: resolveBy(
    { name: "onnx.scatter_elements", since: 11, indices: ["i32", "i64"], negative: "from-end" },
    alongAxis,
  ),
});

/** Operator ONNX ScatterND: writes updates to elements or slices that index tuples select. */
export const onnxScatterNd = defineOperator({
  name: "onnx.scatter_nd",
  inputs,
  values,
  writes: "copy",
  attrs: { reduction, opset, oob },
  resolve: resolveBy(
    { name: "onnx.scatter_nd", since: 11, indices: ["i64"], negative: "from-end" },
    byTuples,
  ),
});

/** Operator ONNX Scatter of opsets 9 and 10: writes updates to elements along an axis. */
export const onnxScatter = defineOperator({
  name: "onnx.scatter",
  inputs,
  values,
  writes: "copy",
  attrs: {
    axis,
    opset: { key: "opset", kind: "int", default: 9, help: "ONNX opset, 9 or 10" },
    oob,
  },
  resolve: resolveBy(
    {
      name: "onnx.scatter",
      since: 9,
      until: { last: 10, instead: "onnx.scatter_elements" },
      indices: ["i32", "i64"],
      negative: "illegal",
    },
    alongAxis,
  ),
});

/**
 * Operator ONNX TensorScatter: writes an update into a cache along an axis, from a separate start position
 * for each batch entry.
 */
export const onnxTensorScatter = defineOperator({
  name: "onnx.tensor_scatter",
  inputs: ["past_cache", "update", "write_indices"],
  values: ["update"],
  optional: ["write_indices"],
  writes: "copy",
  attrs: {
    axis: { ...axis, default: -2 },
    mode: modeSpec(["linear", "circular"], "linear"),
    opset: { key: "opset", kind: "int", default: 24, help: "ONNX opset, 24 and up" },
  },
  resolve(given) {
    const who = "onnx.tensor_scatter";
    const [cache, update] = [given.data.shape, given.indices.shape];
    const version = checkOpset(given, who, 24);
    checkDType(given, "data", [...dataTypesOf(version), ...smallFloats], who);
    checkRank(given, "data", 2, 8, who);
    const along = axisOf(given);
    if (along === 0) breakRule("TC101", given, `${who} takes an axis after the batch dim, 1 or more, not 0`);
    const written = cache.map((extent, k) => (k === along ? Math.min(extent, update[k] ?? 0) : extent));
    checkUpdates(given, 1, written, "update", who);
    const [, , starts] = given.inputs;
    if (starts !== undefined && starts.dtype !== "i64")
      breakRule(
        "TC104",
        given,
        `${who} takes write_indices of i64, not ${starts.dtype}`,
        "cast write_indices to i64",
      );
    if (starts !== undefined && (starts.shape.length !== 1 || starts.shape[0] !== cache[0]))
      breakRule("TC103", given, `${who} takes one write index for each of the ${at(cache, 0)} in the batch`);
    const isCircular = wordAttr(given.attrs, "mode") === "circular";
    const extent = at(cache, along);
    const point = dimsFrom(0, update.length);
    // Without write indices every update begins at 0.
    const first: readonly IndexOperand[] =
      starts === undefined
        ? []
        : [{ value: { table: 2, at: [dim(0)] }, outOfRange: "error", extent: maxElements - 1 }];
    const sum = add(starts === undefined ? constant(0) : index(0), dim(along));
    const oob = isCircular ? "wrap" : "error";
    const place: readonly IndexOperand[] = [...first, { value: sum, outOfRange: oob, extent }];
    const to = point.map((coord, k) => (k === along ? index(place.length - 1) : coord));
    const operator = scatterOperator(
      { domain: update, indices: place, to, from: { table: 1, at: point }, combine: "set" },
      shapesOf(given),
    );
    return resolvedAs(operator, { negative: "illegal", oob });
  },
});
