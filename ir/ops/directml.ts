/**
 * DML_GATHER, DML_GATHER_ELEMENTS, DML_GATHER_ND and DML_GATHER_ND1 operator descriptors.
 *
 * Source: MicrosoftDocs/sdk-api, content/directml. All tensors share one DimensionCount and are
 * right-aligned: ones in front of what the counts name are padding. The pages' errata are decisions D8 to
 * D11: the size formulas hold, the misprints do not. Every size is at least 1. Out-of-range reads are
 * "clamped safely"; tilec clamps per axis.
 */
import type { NegativeIndex } from "../access.js";
import { outputShape } from "../operator.js";
import { at, formatShape, type DType, type Shape } from "../types.js";
import {
  type AttrSpec,
  checkDType,
  checkElements,
  checkTuple,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
  resolvedAs,
  wordAttr,
} from "./op-def.js";
import { axis, batchDims, oobOf, oobSpec } from "./attributes.js";

/** Feature levels of DirectML, oldest first. */
export const featureLevels = ["1.0", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1"] as const;
/** Name of a feature level of DirectML. */
export type FeatureLevel = (typeof featureLevels)[number];

/** Returns a UINT field of a descriptor: absent, it is DimensionCount. */
const count = <Key extends string, Field extends string>(key: Key, argument: Field) =>
  ({ key, argument, kind: "int", help: `DirectML ${argument}` }) as const satisfies AttrSpec;

/** Definition of the attribute `Axis` of DirectML operators. */
export const axisField = { ...axis, argument: "Axis" } as const satisfies AttrSpec;
/**
 * Definitions of two attributes of DirectML's ND operators: the number of effective dims of the data, and of
 * the indices. Effective dims are the last dims of an input; earlier dims have extent 1. The default is the
 * rank of the data (DimensionCount).
 */
export const ndCounts = {
  input_dimension_count: count("inputDimensionCount", "InputDimensionCount"),
  indices_dimension_count: count("indicesDimensionCount", "IndicesDimensionCount"),
} as const;
/** Definition of the attribute for the DirectML feature level; default 4.1, the latest with known rules. */
export const featureLevel = {
  key: "featureLevel",
  kind: "word",
  words: featureLevels,
  default: "4.1",
  later: true,
  help: "DirectML feature level, 1.0 to 4.1; a later one is taken as 4.1",
} as const satisfies AttrSpec;
const oob = oobSpec("clamp");

/** Ranks and element types that a DirectML operator accepts from feature level `since` on. */
export interface Support {
  readonly since: FeatureLevel;
  readonly ranks: readonly [number, number];
  readonly data: readonly DType[];
  readonly indices: readonly DType[];
}

const bits64: readonly DType[] = ["f64", "i64", "u64"];
const bits32: readonly DType[] = ["f32", "f16", "i32", "u32"];
const small: readonly DType[] = ["i16", "u16", "i8", "u8"];
const anyIndex: readonly DType[] = ["i64", "i32", "u64", "u32"];

/** Ranks and element types that DML_GATHER supports, newest feature level first. */
export const gatherSupport: readonly Support[] = [
  { since: "4.1", ranks: [1, 8], data: [...bits64, ...bits32, ...small], indices: anyIndex },
  { since: "3.0", ranks: [1, 8], data: [...bits32, ...small], indices: anyIndex },
  { since: "2.1", ranks: [4, 4], data: [...bits32, ...small], indices: ["u32"] },
  { since: "1.0", ranks: [4, 4], data: ["f32", "f16"], indices: ["u32"] },
];
/** Ranks and element types that DML_GATHER_ELEMENTS supports, newest feature level first. */
export const gatherElementsSupport: readonly Support[] = [
  { since: "4.1", ranks: [1, 8], data: [...bits64, ...bits32, ...small], indices: anyIndex },
  { since: "3.0", ranks: [1, 8], data: [...bits32, ...small], indices: anyIndex },
  { since: "2.1", ranks: [4, 4], data: [...bits32, ...small], indices: ["u32"] },
];
const gatherNdSupport = gatherElementsSupport;
const gatherNd1Support = gatherSupport.filter((row) => row.since === "4.1" || row.since === "3.0");

/**
 * Returns the place of a level among the known ones; a later one stands at the last, whose table holds for it
 * ("4.1 and above").
 */
const levelOf = (name: string): number => {
  const place = featureLevels.findIndex((level) => level === name);
  return place === -1 ? featureLevels.length - 1 : place;
};

/**
 * Returns the treatment of negative indices at the program's DirectML feature level. Throws a RuleError for
 * unsupported ranks, types or sizes of the inputs. `table`: supported ranks and types. `who`: name of the
 * operator.
 */
export function checkSupport(inputs: OpInputs, who: string, table: readonly Support[]): NegativeIndex {
  const level = wordAttr(inputs.attrs, "feature_level");
  const row = table.find((candidate) => levelOf(candidate.since) <= levelOf(level));
  if (row === undefined) {
    const first = at(table, table.length - 1).since;
    breakRule("TC105", inputs, `${who} exists since feature level ${first}, not in ${level}`);
  }
  const [r, q] = [inputs.data.shape.length, inputs.indices.shape.length];
  if (r !== q)
    breakRule("TC102", inputs, `${who} needs one DimensionCount for all tensors, not ${r} and ${q}`);
  const [lowest, highest] = row.ranks;
  if (r < lowest || r > highest) {
    const range = lowest === highest ? String(lowest) : `${lowest} to ${highest}`;
    breakRule("TC102", inputs, `${who} at feature level ${level} takes DimensionCount ${range}, not ${r}`);
  }
  checkDType(inputs, "data", row.data, `${who} at feature level ${level}`);
  checkDType(inputs, "indices", row.indices, `${who} at feature level ${level}`);
  for (const operand of ["data", "indices"] as const) {
    if (inputs[operand].shape.includes(0)) {
      breakRule(
        "TC103",
        inputs,
        `${who} takes no empty tensors, and ${operand} is ${formatShape(inputs[operand].shape)}`,
      );
    }
  }
  return levelOf(level) >= levelOf("3.0") ? "from-end" : "illegal";
}

/**
 * Returns the attribute `Axis` of a DirectML operator. Throws a RuleError (TC101) if `Axis` is negative or
 * not a dim of the data.
 */
export function checkAxis(inputs: OpInputs): number {
  const axis = intAttr(inputs.attrs, "axis") ?? 0;
  const rank = inputs.data.shape.length;
  if (axis < 0 || axis >= rank) {
    breakRule(
      "TC101",
      inputs,
      `Axis ${axis} is outside [0, ${rank - 1}]`,
      `choose Axis between 0 and ${rank - 1}`,
    );
  }
  return axis;
}

/**
 * Returns the last `count` extents of an operand. Throws a RuleError (TC103) if an earlier extent is not 1.
 * `name`: attribute that gives `count`, for the message.
 */
function meaningful(inputs: OpInputs, operand: "data" | "indices", count: number, name: string): Shape {
  const { shape } = inputs[operand];
  const padding = shape.slice(0, shape.length - count);
  if (padding.some((extent) => extent !== 1)) {
    breakRule(
      "TC103",
      inputs,
      `${name} ${count} ignores leading sizes ${formatShape(padding)}, which must be ones`,
    );
  }
  return shape.slice(shape.length - count);
}

/**
 * Returns the value of an attribute that counts dims; the rank of the data (DimensionCount) if the attribute
 * is absent. Throws a RuleError (TC105) if the value is outside [`lowest`, rank]. `name`: DirectML's name of
 * the attribute, for the message.
 */
function countAttr(inputs: OpInputs, attr: string, name: string, lowest: number): number {
  const dimensionCount = inputs.data.shape.length;
  const count = intAttr(inputs.attrs, attr) ?? dimensionCount;
  if (count < lowest || count > dimensionCount) {
    breakRule("TC105", inputs, `${name} ${count} is outside [${lowest}, ${dimensionCount}]`);
  }
  return count;
}

/** Returns a shape with leading dims of extent 1, up to `rank` dims. */
export const padded = (shape: Shape, rank: number): Shape => [
  ...new Array<number>(rank - shape.length).fill(1),
  ...shape,
];

/** Returns the effective shapes of data and indices of an ND operator; see {@link ndCounts}. */
export function ndShapes(inputs: OpInputs): { readonly data: Shape; readonly indices: Shape } {
  const r = countAttr(inputs, "input_dimension_count", "InputDimensionCount", 1);
  const q = countAttr(inputs, "indices_dimension_count", "IndicesDimensionCount", 1);
  return {
    data: meaningful(inputs, "data", r, "InputDimensionCount"),
    indices: meaningful(inputs, "indices", q, "IndicesDimensionCount"),
  };
}

/** Operator DML_GATHER: selects slices along an axis. */
export const directmlGather = defineOperator({
  name: "directml.gather",
  kind: "gather",
  attrs: {
    axis: axisField,
    index_dimensions: count("indexDimensions", "IndexDimensions"),
    feature_level: featureLevel,
    oob,
  },
  resolve(inputs) {
    const negative = checkSupport(inputs, "directml.gather", gatherSupport);
    const axis = checkAxis(inputs);
    const dimensionCount = inputs.data.shape.length;
    // The page prints [0, DimensionCount) and then uses DimensionCount itself (decision D9).
    const q = countAttr(inputs, "index_dimensions", "IndexDimensions", 0);
    const indices = meaningful(inputs, "indices", q, "IndexDimensions");
    // Leading ones of the input are cropped where the output would overflow DimensionCount.
    const cropped = Math.max(0, q - 1);
    const croppable = inputs.data.shape.slice(0, axis).findIndex((extent) => extent !== 1);
    if (cropped > (croppable === -1 ? axis : croppable)) {
      breakRule(
        "TC102",
        inputs,
        `the output of rank ${dimensionCount + q - 1} does not fit DimensionCount ${dimensionCount}: ` +
          `original rank + IndexDimensions - 1 must not exceed it`,
        "lower IndexDimensions, or pad every tensor with leading ones",
      );
    }
    const data = inputs.data.shape.slice(cropped);
    const inner = axis - cropped;
    const operator = { op: "gather", axis: inner, data, indices } as const;
    const output = padded(outputShape(operator), dimensionCount);
    return { operator, output, negative, oob: oobOf(inputs) };
  },
});

/** Operator DML_GATHER_ELEMENTS: selects elements along an axis. */
export const directmlGatherElements = defineOperator({
  name: "directml.gather_elements",
  kind: "gather_elements",
  attrs: { axis: axisField, feature_level: featureLevel, oob },
  resolve(inputs) {
    const negative = checkSupport(inputs, "directml.gather_elements", gatherElementsSupport);
    const axis = checkAxis(inputs);
    checkElements(inputs, axis, true, "directml.gather_elements");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    return resolvedAs({ op: "gather_elements", axis, data, indices }, { negative, oob: oobOf(inputs) });
  },
});

/**
 * Returns the resolved operator of DML_GATHER_ND or DML_GATHER_ND1. Throws a RuleError for invalid inputs or
 * attributes. The output shape follows the examples of DirectML's page (decision D10).
 */
function resolveNd(inputs: OpInputs, who: string, table: readonly Support[], batchDims: number) {
  const negative = checkSupport(inputs, who, table);
  const dimensionCount = inputs.data.shape.length;
  const { data, indices } = ndShapes(inputs);
  checkTuple(inputs, data, indices, batchDims);
  const operator = { op: "gather_nd", batchDims, data, indices } as const;
  const output = outputShape(operator);
  if (output.length > dimensionCount) {
    breakRule(
      "TC102",
      inputs,
      `the output of rank ${output.length} does not fit DimensionCount ${dimensionCount}`,
    );
  }
  return { operator, output: padded(output, dimensionCount), negative, oob: oobOf(inputs) };
}

/** Operator DML_GATHER_ND: selects elements or slices by index tuples. */
export const directmlGatherNd = defineOperator({
  name: "directml.gather_nd",
  kind: "gather_nd",
  attrs: {
    ...ndCounts,
    feature_level: featureLevel,
    oob,
  },
  resolve: (inputs) => resolveNd(inputs, "directml.gather_nd", gatherNdSupport, 0),
});

/** Operator DML_GATHER_ND1: selects elements or slices by index tuples, with leading batch dims. */
export const directmlGatherNd1 = defineOperator({
  name: "directml.gather_nd1",
  kind: "gather_nd",
  attrs: {
    ...ndCounts,
    batch_dimension_count: { ...batchDims, argument: "BatchDimensionCount" },
    feature_level: featureLevel,
    oob,
  },
  resolve: (inputs) =>
    resolveNd(
      inputs,
      "directml.gather_nd1",
      gatherNd1Support,
      intAttr(inputs.attrs, "batch_dimension_count") ?? 0,
    ),
});
