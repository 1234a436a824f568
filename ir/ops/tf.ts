/**
 * TensorFlow's tf.gather and tf.gather_nd.
 *
 * Source: tensorflow.org/api_docs/python/tf, the pages of these names. No index counts from the end; one out
 * of range is an error on the CPU and a 0 in the output on a GPU, which is policy `zero` here.
 */
import { readData } from "../access.js";
import { coordsAlong, indexOperand, type IndexPolicy } from "../index-operand.js";
import { dim } from "../linear.js";
import type { Operator } from "../operator.js";
import { at, formatShape, type DType, type Shape } from "../types.js";
import { batchDims, oobOf, oobSpec } from "./attributes.js";
import { mappedGather } from "./mapped-gather.js";
import {
  type AttrSpec,
  axisInRange,
  checkDType,
  checkRank,
  checkTuple,
  defineOperator,
  breakRule,
  intAttr,
  type OpInputs,
  resolvedAs,
  unlessEmpty,
} from "./op-def.js";

/**
 * Element types of data in TensorFlow's gathers and scatters that tilec supports, without quantized types.
 */
export const dataTypes: readonly DType[] = [
  ...(["bool", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32"] as const),
  ...(["f32", "string", "i64", "u64", "f64", "c64", "c128"] as const),
];
/** Element types of indices in TensorFlow's gathers and scatters. */
export const indexTypes: readonly DType[] = ["i32", "i64"];

function checkTypes(inputs: OpInputs, who: string): void {
  checkDType(inputs, "data", dataTypes, who);
  checkDType(inputs, "indices", indexTypes, who);
}

const oob = oobSpec("error");

/** Absent: the first dim behind the batch dims. */
const axis = {
  key: "axis",
  kind: "int",
  help: "axis or dim that the indices choose along; absent, the first behind the batch dims",
} as const satisfies AttrSpec;

/**
 * Returns the number of batch dims from the attribute `batch_dims`; the rank of the indices is added to a
 * negative value. Throws a RuleError (TC105) if `batch_dims` is outside [-rank, rank].
 */
function batchDimsOf(inputs: OpInputs, who: string): number {
  const given = intAttr(inputs.attrs, "batch_dims") ?? 0;
  const { length } = inputs.indices.shape;
  if (given < -length || given > length)
    breakRule(
      "TC105",
      inputs,
      `${who} takes batch_dims in [${-length}, ${length}] of its indices, not ${given}`,
    );
  return given < 0 ? given + length : given;
}

/**
 * Returns the operator of a gather along dim `along` of the data. `batch`: number of leading dims that data
 * and indices have in common.
 */
function gatherOperator(
  inputs: OpInputs,
  along: number,
  batch: number,
  policy: IndexPolicy,
  output: Shape,
): Operator {
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  if (batch === 0) return { op: "gather", axis: along, data, indices };
  const rank = indices.length - batch;
  const coords = indices.map((_, k) => dim(k < batch ? k : along + k - batch));
  return mappedGather([data, indices], output, {
    indices: [indexOperand(policy, 1, coords, at(data, along))],
    ...readData(coordsAlong(data, along, rank)),
  });
}

/**
 * Operator tf.gather: selects slices along an axis. Data and indices may have leading batch dims in common.
 */
export const tfGather = defineOperator({
  name: "tf.gather",
  kind: "gather",
  inputs: ["params", "indices"],
  attrs: { axis, batch_dims: batchDims, oob },
  resolve(inputs) {
    checkTypes(inputs, "tf.gather");
    checkRank(inputs, "data", 1, 8, "tf.gather");
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    const batch = batchDimsOf(inputs, "tf.gather");
    const along = axisInRange(inputs, intAttr(inputs.attrs, "axis") ?? batch, data.length);
    if (along < batch)
      breakRule("TC101", inputs, `tf.gather takes an axis of batch_dims, ${batch}, or more, not ${along}`);
    const differ = indices.slice(0, batch).findIndex((extent, k) => extent !== data[k]);
    if (differ !== -1) {
      const [ours, theirs] = [data.slice(0, batch), indices.slice(0, batch)].map(formatShape);
      breakRule(
        "TC103",
        inputs,
        `tf.gather takes one shape of batch dims, not ${ours ?? ""} and ${theirs ?? ""}`,
      );
    }
    // The kernel returns at once where its output has no elements.
    const output = [...data.slice(0, along), ...indices.slice(batch), ...data.slice(along + 1)];
    const policy = { negative: "illegal", oob: unlessEmpty(output, oobOf(inputs)) } as const;
    const operator = gatherOperator(inputs, along, batch, policy, output);
    return resolvedAs(operator, policy);
  },
});

/**
 * Operator tf.gather_nd: selects elements or slices by index tuples. Data and indices may have leading batch
 * dims in common.
 */
export const tfGatherNd = defineOperator({
  name: "tf.gather_nd",
  kind: "gather_nd",
  inputs: ["params", "indices"],
  attrs: { batch_dims: batchDims, oob },
  resolve(inputs) {
    checkTypes(inputs, "tf.gather_nd");
    checkRank(inputs, "data", 1, 8, "tf.gather_nd");
    checkRank(inputs, "indices", 1, 8, "tf.gather_nd");
    const batch = intAttr(inputs.attrs, "batch_dims") ?? 0;
    const [data, indices] = [inputs.data.shape, inputs.indices.shape];
    checkTuple(inputs, data, indices, batch);
    const operator = { op: "gather_nd", batchDims: batch, data, indices } as const;
    return resolvedAs(operator, { negative: "illegal", oob: oobOf(inputs) });
  },
});
