/**
 * TensorFlow's tf.scatter_nd, and tf.tensor_scatter_nd_update, _add, _min and _max.
 *
 * Source: tensorflow.org/api_docs/python/tf, the pages of these names. scatter_nd adds updates up, onto
 * zeros. No index counts from the end; one out of range is an error on the CPU. Of duplicates of an update
 * the last stays.
 */
import type { Combine } from "../access.js";
import { eitherOf } from "../counted.js";
import { formatShape, sameShape } from "../types.js";
import { oobOf } from "./attributes.js";
import {
  breakRule,
  checkDType,
  checkRank,
  checkTuple,
  defineOperator,
  intsAttr,
  type OpInputs,
  resolvedAs,
  shapesOf,
  type Resolved,
} from "./op-def.js";
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

/**
 * Returns the resolved operator of a scatter by index tuples into a copy of a tensor. Throws a RuleError for
 * invalid inputs. `who`: name of the operator.
 */
function resolveTensor(inputs: OpInputs, combine: Combine, who: string): Resolved {
  checkDType(inputs, "data", dataTypes, who);
  checkDType(inputs, "indices", indexTypes, who);
  checkRank(inputs, "data", 1, 8, who);
  checkRank(inputs, "indices", 1, 8, who);
  checkCombine(inputs, combine, inputs.data.dtype, who);
  const [data, indices] = [inputs.data.shape, inputs.indices.shape];
  checkTuple(inputs, data, indices, 0);
  checkUpdates(inputs, 2, tupleUpdates(data, indices), "updates", who);
  const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
  const scatter = tuplesScatter(data, indices, policy, combine);
  return resolvedAs(scatterOperator(scatter, shapesOf(inputs)), policy);
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

/**
 * Operator tf.tensor_scatter_nd_update: writes updates to elements or slices that index tuples select, in a
 * copy of the tensor.
 */
export const tfTensorScatterNdUpdate = tensorScatter("tf.tensor_scatter_nd_update", "set");
/**
 * Operator tf.tensor_scatter_nd_add: adds updates to elements or slices that index tuples select, in a copy
 * of the tensor.
 */
export const tfTensorScatterNdAdd = tensorScatter("tf.tensor_scatter_nd_add", "add");
/**
 * Operator tf.tensor_scatter_nd_min: replaces each element that index tuples select by the minimum of the
 * element and an update, in a copy of the tensor.
 */
export const tfTensorScatterNdMin = tensorScatter("tf.tensor_scatter_nd_min", "min");
/**
 * Operator tf.tensor_scatter_nd_max: replaces each element that index tuples select by the maximum of the
 * element and an update, in a copy of the tensor.
 */
export const tfTensorScatterNdMax = tensorScatter("tf.tensor_scatter_nd_max", "max");

/**
 * Operator tf.scatter_nd: adds updates to a tensor of zeros of a given shape, at elements or slices that
 * index tuples select.
 */
export const tfScatterNd = defineOperator({
  name: "tf.scatter_nd",
  inputs: ["indices", "updates"],
  values: ["updates"],
  writes: "copy",
  attrs: { shape: { key: "shape", kind: "ints", default: [], help: "shape of the output" }, oob },
  resolve(inputs) {
    const who = "tf.scatter_nd";
    const [indices, updates] = [inputs.data, inputs.indices];
    const { dtype } = updates;
    if (!indexTypes.includes(indices.dtype))
      breakRule(
        "TC104",
        inputs,
        `${who} takes indices of ${indexTypes.join(", ")}, not ${indices.dtype}`,
        `cast indices to ${eitherOf(indexTypes)}`,
      );
    checkCombine(inputs, "add", dtype, who);
    const output = intsAttr(inputs.attrs, "shape");
    if (output.length === 0 || output.some((extent) => extent < 0))
      breakRule("TC105", inputs, `${who} takes the shape of its output, of 1 dim or more`);
    if (indices.shape.length === 0) breakRule("TC102", inputs, `${who} takes indices of 1 dim or more`);
    checkTuple(inputs, output, indices.shape, 0);
    const expected = tupleUpdates(output, indices.shape);
    if (!sameShape(updates.shape, expected))
      breakRule(
        "TC103",
        inputs,
        `${who} takes updates of shape ${formatShape(expected)}, not ${formatShape(updates.shape)}`,
      );
    const policy = { negative: "illegal", oob: oobOf(inputs) } as const;
    const scatter = tuplesScatter(output, indices.shape, policy, "add", { indices: 0, updates: 1 });
    const operator = scatterOperator(scatter, shapesOf(inputs), output);
    return { ...resolvedAs(operator, policy), dtype };
  },
});
