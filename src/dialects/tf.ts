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
 * Arguments of tf.gather: `axis` defaults to the first dim after `batchDims`. `oob` is `error` on
 * TensorFlow's CPU and `zero` on its GPU.
 */
export type TfGatherArguments = BuilderArguments<typeof tfGather>;
/**
 * Arguments of tf.gather_nd: `batchDims` defaults to 0. `oob` is `error` on TensorFlow's CPU and `zero` on
 * its GPU.
 */
export type TfGatherNdArguments = BuilderArguments<typeof tfGatherNd>;

/**
 * Builds tf.gather(params, indices, axis, batch_dims). Output shape: params[:axis] + indices[batchDims:] +
 * params[axis+1:].
 */
export const gather = builder(tfGather);

/**
 * Builds tf.gather_nd(params, indices, batch_dims). Output shape: indices[:-1] + params[batchDims +
 * indices[-1]:].
 */
export const gatherNd = builder(tfGatherNd);

/**
 * Arguments of the tf.tensor_scatter_nd operators: a tensor, tuples of indices, and updates of shape
 * indices[:-1] + tensor[indices[-1]:].
 */
export type TfTensorScatterNdArguments = BuilderArguments<typeof tfTensorScatterNdUpdate>;

/** Builds tf.tensor_scatter_nd_update(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdUpdate = builder(tfTensorScatterNdUpdate);

/** Builds tf.tensor_scatter_nd_add(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdAdd = builder(tfTensorScatterNdAdd);

/** Builds tf.tensor_scatter_nd_min(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdMin = builder(tfTensorScatterNdMin);

/** Builds tf.tensor_scatter_nd_max(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdMax = builder(tfTensorScatterNdMax);

/** Arguments of tf.scatter_nd: tuples of indices, updates, and `shape`, the shape of the output. */
export type TfScatterNdArguments = BuilderArguments<typeof tfScatterNd, "shape">;

/** Builds tf.scatter_nd(indices, updates, shape): adds updates to a tensor of zeros. */
export const scatterNd = builder(tfScatterNd, "shape");
