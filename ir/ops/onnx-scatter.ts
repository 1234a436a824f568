/**
 * ONNX ScatterElements, ScatterND, Scatter (up to opset 10) and TensorScatter.
 *
 * Sources: onnx/onnx docs/Operators.md and Changelog.md. bfloat16 data arrived with opset 13, reductions add
 * and mul with 16, min and max with 18. ScatterND takes 64-bit indices alone; an index out of range is an
 * error. The pages leave duplicates open: the last one stays.
 */
import type { Combine, IndexOperand } from "../access.js";
import { add, constant, dim, index } from "../linear.js";
import { at, maxElements, type DType } from "../types.js";
import { axis, oobOf } from "./attributes.js";
import { dataTypesOf } from "./onnx.js";
import {
  type AttrSpec,
  axisInRange,
  checkDType,
  checkElements,
  checkRank,
  checkSameRank,
  checkTuple,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
  wordAttr,
} from "./op-def.js";
import {
  checkCombine,
  checkUpdates,
  dimsFrom,
  elementsScatter,
  scatterOperator,
  tuplesScatter,
  tupleUpdates,
  writtenOobSpec,
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

/**
 * Returns the combination of an update with the element that it writes, from the attribute `reduction`.
 * Throws a RuleError for an opset, reduction, type or rank that the operator does not accept.
 */
function checkScatter(given: OpInputs, who: string, indices: readonly DType[]): Combine {
  const version = intAttr(given.attrs, "opset") ?? 18;
  if (version < 11) breakRule("TC105", given, `${who} exists since opset 11, not in ${version}`);
  const word = wordAttr(given.attrs, "reduction") as keyof typeof reductions;
  const [since, combine] = reductions[word];
  if (version < since)
    breakRule(
      "TC105",
      given,
      `${who} has the reduction ${word} since opset ${since}, not in ${version}`,
      `opset = ${since}`,
    );
  checkDType(given, "data", dataTypesOf(version), `${who} of opset ${version}`);
  checkDType(given, "indices", indices, who);
  checkRank(given, "data", 1, 8, who);
  checkRank(given, "indices", 1, 8, who);
  checkCombine(given, combine, given.data.dtype, who);
  return combine;
}

/** Operator ONNX ScatterElements: writes updates to elements along an axis. */
export const onnxScatterElements = defineOperator({
  name: "onnx.scatter_elements",
  inputs,
  values,
  writes: "copy",
  attrs: { axis, reduction, opset, oob },
  resolve(given) {
    const who = "onnx.scatter_elements";
    const combine = checkScatter(given, who, ["i32", "i64"]);
    checkSameRank(given, who);
    const along = axisInRange(given, intAttr(given.attrs, "axis") ?? 0, given.data.shape.length);
    checkElements(given, along, false, who);
    const [data, indices] = [given.data.shape, given.indices.shape];
    checkUpdates(given, 2, indices, "updates", who);
    const policy = { negative: "from-end", oob: oobOf(given) } as const;
    const scatter = elementsScatter(data, indices, along, policy, combine);
    return { operator: scatterOperator(scatter, [data, indices, indices]), output: data, ...policy };
  },
});

/** Operator ONNX ScatterND: writes updates to elements or slices that index tuples select. */
export const onnxScatterNd = defineOperator({
  name: "onnx.scatter_nd",
  inputs,
  values,
  writes: "copy",
  attrs: { reduction, opset, oob },
  resolve(given) {
    const who = "onnx.scatter_nd";
    const combine = checkScatter(given, who, ["i64"]);
    const [data, indices] = [given.data.shape, given.indices.shape];
    checkTuple(given, data, indices, 0);
    const updates = tupleUpdates(data, indices);
    checkUpdates(given, 2, updates, "updates", who);
    const policy = { negative: "from-end", oob: oobOf(given) } as const;
    const scatter = tuplesScatter(data, indices, policy, combine);
    return { operator: scatterOperator(scatter, [data, indices, updates]), output: data, ...policy };
  },
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
  resolve(given) {
    const who = "onnx.scatter";
    const version = intAttr(given.attrs, "opset") ?? 9;
    if (version < 9 || version > 10)
      breakRule(
        "TC105",
        given,
        `${who} is of opsets 9 and 10, not of ${version}`,
        "onnx.scatter_elements took its place with opset 11",
      );
    checkDType(given, "data", dataTypesOf(version), who);
    checkDType(given, "indices", ["i32", "i64"], who);
    checkRank(given, "data", 1, 8, who);
    checkSameRank(given, who);
    const along = axisInRange(given, intAttr(given.attrs, "axis") ?? 0, given.data.shape.length);
    checkElements(given, along, false, who);
    const [data, indices] = [given.data.shape, given.indices.shape];
    checkUpdates(given, 2, indices, "updates", who);
    // The page of opset 9 says nothing of negative indices.
    const policy = { negative: "illegal", oob: oobOf(given) } as const;
    const scatter = elementsScatter(data, indices, along, policy, "set");
    return { operator: scatterOperator(scatter, [data, indices, indices]), output: data, ...policy };
  },
});

/**
 * Operator ONNX TensorScatter: writes an update into a cache along an axis, from a start position for each
 * batch entry.
 */
export const onnxTensorScatter = defineOperator({
  name: "onnx.tensor_scatter",
  inputs: ["past_cache", "update", "write_indices"],
  values: ["update"],
  optional: ["write_indices"],
  writes: "copy",
  attrs: {
    axis: { ...axis, default: -2 },
    mode: {
      key: "mode",
      kind: "word",
      words: ["linear", "circular"],
      default: "linear",
      help: "what an index out of range means, in the framework's word",
    },
  },
  resolve(given) {
    const who = "onnx.tensor_scatter";
    const [cache, update] = [given.data.shape, given.indices.shape];
    checkDType(given, "data", [...dataTypesOf(24), ...smallFloats], who);
    checkRank(given, "data", 2, 8, who);
    const along = axisInRange(given, intAttr(given.attrs, "axis") ?? -2, cache.length);
    if (along === 0) breakRule("TC101", given, `${who} takes an axis behind the batch dim, not 0`);
    const written = cache.map((extent, k) => (k === along ? Math.min(extent, update[k] ?? 0) : extent));
    checkUpdates(given, 1, written, "update", who);
    const [, , starts] = given.inputs;
    if (starts !== undefined && starts.dtype !== "i64")
      breakRule("TC104", given, `${who} takes write_indices of i64, not ${starts.dtype}`);
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
      given.inputs.map(({ shape }) => shape),
    );
    return { operator, output: cache, negative: "illegal", oob };
  },
});
