/**
 * TensorFlow's tf.tensor_scatter_nd_update, _add, _min and _max.
 *
 * Source: tensorflow.org/api_docs/python/tf, the pages of these names. No index counts from the end; one out of range is an error on the CPU. Of duplicates of an update the last stays.
 */
import type { Combine } from "../access.js";
import { oobOf } from "./attributes.js";
import { checkDType, checkRank, checkTuple, defineOperator, type OpInputs, type Resolved } from "./op-def.js";
import {
  checkCombine,
  checkUpdates,
  scatterOperator,
  tuplesScatter,
  tupleUpdates,
  writtenOobSpec,
} from "./scatter.js";
import { dataTypes, indexTypes } from "./tf.js";

const oob = writtenOobSpec("error");

/** Returns a scatter by tuples into a copy of a tensor. */
function resolveTensor(inputs: OpInputs, combine: Combine, who: string): Resolved {
  checkDType(inputs, "data", dataTypes, who);
  checkDType(inputs, "indices", indexTypes, who);
  checkRank(inputs, "data", 1, 8, who);
  checkRank(inputs, "indices", 1, 8, who);
  checkCombine(inputs, combine, inputs.data.dtype, who);
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  checkTuple(inputs, data, indices, 0);
  const updates = tupleUpdates(data, indices);
  checkUpdates(inputs, 2, updates, "updates", who);
  const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
  const scatter = tuplesScatter(data, indices, policy, combine);
  return { operator: scatterOperator(scatter, [data, indices, updates]), output: data, ...policy };
}

const tensorScatter = <Name extends string>(name: `tf.${Name}`, combine: Combine) =>
  defineOperator({
    name,
    inputs: ["tensor", "indices", "updates"] as const,
    values: ["updates"],
    writes: "copy",
    attrs: { oob },
    resolve: (inputs: OpInputs) => resolveTensor(inputs, combine, name),
  });

export const tfTensorScatterNdUpdate = tensorScatter("tf.tensor_scatter_nd_update", "set");
export const tfTensorScatterNdAdd = tensorScatter("tf.tensor_scatter_nd_add", "add");
export const tfTensorScatterNdMin = tensorScatter("tf.tensor_scatter_nd_min", "min");
export const tfTensorScatterNdMax = tensorScatter("tf.tensor_scatter_nd_max", "max");
