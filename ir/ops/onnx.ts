/**
 * ONNX Gather, GatherElements and GatherND.
 *
 * Sources: onnx/onnx docs/Operators.md and Changelog.md. bfloat16 data arrived with opset 13, negative
 * indices with opset 11; GatherND takes 64-bit indices alone; an index out of range is an error.
 */
import { outputShape } from "../operator.js";
import type { DType } from "../types.js";
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
  intAttr,
  type OpInputs,
  resolvedAs,
  unlessEmpty,
} from "./op-def.js";
import { axis, batchDims, oobOf, oobSpec } from "./attributes.js";

const opset = {
  key: "opset",
  kind: "int",
  default: 13,
  help: "ONNX opset, 1, 11 or 13 and up",
} as const satisfies AttrSpec;

/** Element types of data, with the opset that lists each first. */
const dataTypes: readonly (readonly [since: number, types: readonly DType[]])[] = [
  [1, ["bool", "i8", "u8", "i16", "u16", "f16"]],
  [13, ["bf16"]],
  [1, ["i32", "u32", "f32", "string", "i64", "u64", "f64", "c64", "c128"]],
];
/** Returns the element types that ONNX opset `version` lists for the data of gathers and scatters. */
export const dataTypesOf = (version: number): readonly DType[] =>
  dataTypes.flatMap(([since, types]) => (since <= version ? types : []));

/**
 * Returns the opset of an ONNX operator. Throws a RuleError (TC105) for an opset before `since`, the first
 * opset with the operator. `who`: name of the operator.
 */
export function checkOpset(inputs: OpInputs, who: string, since: number): number {
  const version = intAttr(inputs.attrs, "opset") ?? since;
  if (version < since) breakRule("TC105", inputs, `${who} exists since opset ${since}, not in ${version}`);
  return version;
}

/**
 * Returns the opset of an ONNX operator. Throws a RuleError for an opset before `since` (TC105), or for an
 * unsupported element type of data or indices (TC104). `who`: name of the operator.
 */
export function checkTypes(inputs: OpInputs, who: string, since: number, indices: readonly DType[]): number {
  const version = checkOpset(inputs, who, since);
  checkDType(inputs, "data", dataTypesOf(version), `${who} of opset ${version}`);
  checkDType(inputs, "indices", indices, who);
  return version;
}

/** Operator ONNX Gather: selects slices along an axis. */
export const onnxGather = defineOperator({
  name: "onnx.gather",
  kind: "gather",
  attrs: { axis, opset, oob: oobSpec("error") },
  resolve(inputs) {
    const version = checkTypes(inputs, "onnx.gather", 1, ["i32", "i64"]);
    checkRank(inputs, "data", 1, 8, "onnx.gather");
    const axis = axisOf(inputs);
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const negative = version < 11 ? "illegal" : "from-end";
    return resolvedAs({ op: "gather", axis, data, indices }, { negative, oob: oobOf(inputs) });
  },
});

/** Operator ONNX GatherElements: selects elements along an axis. */
export const onnxGatherElements = defineOperator({
  name: "onnx.gather_elements",
  kind: "gather_elements",
  attrs: { axis, opset, oob: oobSpec("error") },
  resolve(inputs) {
    checkTypes(inputs, "onnx.gather_elements", 11, ["i32", "i64"]);
    checkRank(inputs, "data", 1, 8, "onnx.gather_elements");
    checkSameRank(inputs, "onnx.gather_elements");
    const axis = axisOf(inputs);
    checkElements(inputs, axis, false, "onnx.gather_elements");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const policy = { negative: "from-end", oob: oobOf(inputs) } as const;
    return resolvedAs({ op: "gather_elements", axis, data, indices }, policy);
  },
});

/** Operator ONNX GatherND: selects elements or slices by index tuples. */
export const onnxGatherNd = defineOperator({
  name: "onnx.gather_nd",
  kind: "gather_nd",
  attrs: { batch_dims: batchDims, opset, oob: oobSpec("error") },
  resolve(inputs) {
    const version = checkTypes(inputs, "onnx.gather_nd", 11, ["i64"]);
    checkRank(inputs, "data", 1, 8, "onnx.gather_nd");
    checkRank(inputs, "indices", 1, 8, "onnx.gather_nd");
    const batchDims = intAttr(inputs.attrs, "batch_dims") ?? 0;
    if (version < 12 && batchDims !== 0) {
      breakRule("TC105", inputs, `batch_dims arrived with opset 12; opset ${version} has none`);
    }
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    checkTuple(inputs, data, indices, batchDims);
    const operator = { op: "gather_nd", batchDims, data, indices } as const;
    // onnxruntime looks at every index of Gather, and of GatherND at none where a slice has no elements.
    const oob = unlessEmpty(outputShape(operator), oobOf(inputs));
    return resolvedAs(operator, { negative: "from-end", oob });
  },
});
