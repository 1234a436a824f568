/**
 * Builders with TensorFlow's arguments. Each throws a CompileError (TC1xx) where TensorFlow's rules are
 * broken.
 */
import { tfGather, tfGatherNd } from "../../ir/ops/tf.js";
import {
  tfScatterNd,
  tfTensorScatterNdAdd,
  tfTensorScatterNdMax,
  tfTensorScatterNdMin,
  tfTensorScatterNdUpdate,
} from "../../ir/ops/tf-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link gather}, tf.gather. `axis` defaults to `batchDims`. `oob`: policy for indices out of
 * range, `error` (default, as on a CPU) or `zero` (as on a GPU).
 */
export type TfGatherArguments = BuilderArguments<typeof tfGather>;
/**
 * Arguments of {@link gatherNd}, tf.gather_nd. `batchDims` defaults to 0. `oob`: policy for indices out of
 * range, `error` (default, as on a CPU) or `zero` (as on a GPU).
 */
export type TfGatherNdArguments = BuilderArguments<typeof tfGatherNd>;

/**
 * Builds the source program of tf.gather(params, indices, axis, batch_dims). Output shape:
 * params.shape[:axis] + indices.shape[batchDims:] + params.shape[axis+1:].
 */
export const gather = builder(tfGather);

/**
 * Builds the source program of tf.gather_nd(params, indices, batch_dims). Output shape: indices.shape[:-1] +
 * params.shape[batchDims + indices.shape[-1]:].
 */
export const gatherNd = builder(tfGatherNd);

/**
 * Arguments of the tf.tensor_scatter_nd operators: a tensor, index tuples in the last dim of `indices`, and
 * updates. The updates have shape indices.shape[:-1] + tensor.shape[indices.shape[-1]:].
 */
export type TfTensorScatterNdArguments = BuilderArguments<typeof tfTensorScatterNdUpdate>;

/**
 * Builds the source program of tf.tensor_scatter_nd_update(tensor, indices, updates), which replaces the
 * indexed slices in a copy of `tensor`.
 */
export const tensorScatterNdUpdate = builder(tfTensorScatterNdUpdate);

/**
 * Builds the source program of tf.tensor_scatter_nd_add(tensor, indices, updates), which adds updates to the
 * indexed slices of a copy of `tensor`.
 */
export const tensorScatterNdAdd = builder(tfTensorScatterNdAdd);

/**
 * Builds the source program of tf.tensor_scatter_nd_min(tensor, indices, updates), which takes the minimum of
 * updates and indexed slices in a copy of `tensor`.
 */
export const tensorScatterNdMin = builder(tfTensorScatterNdMin);

/**
 * Builds the source program of tf.tensor_scatter_nd_max(tensor, indices, updates), which takes the maximum of
 * updates and indexed slices in a copy of `tensor`.
 */
export const tensorScatterNdMax = builder(tfTensorScatterNdMax);

/**
 * Arguments of {@link scatterNd}, tf.scatter_nd: index tuples in the last dim of `indices`, updates, and the
 * output's `shape`.
 */
export type TfScatterNdArguments = BuilderArguments<typeof tfScatterNd, "shape">;

/**
 * Builds the source program of tf.scatter_nd(indices, updates, shape), which adds updates to a tensor of
 * zeros of the given shape.
 */
export const scatterNd = builder(tfScatterNd, "shape");
