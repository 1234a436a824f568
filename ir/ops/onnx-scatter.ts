/**
 * ONNX ScatterElements, ScatterND, Scatter (up to opset 10) and TensorScatter.
 *
 * Sources: onnx/onnx docs/Operators.md and Changelog.md. bfloat16 data arrived with opset 13, reductions add and mul with 16, min and max
 * with 18. ScatterND takes 64-bit indices alone; an index out of range is an error. The pages leave duplicates open: the last one stays.
 */
import type { Combine } from "../access.js";
import type { DType } from "../types.js";
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

const oob = writtenOobSpec("error");
const inputs = ["data", "indices", "updates"] as const;
const values = ["updates"] as const;

/** Refuses what no opset, or not this one, lists; returns how an update changes an element. */
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
