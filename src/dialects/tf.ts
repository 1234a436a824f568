/** Builders with TensorFlow's arguments. Each throws a CompileError (TC1xx) where TensorFlow's rules are broken. */
import { tfGather, tfGatherNd } from "../../ir/ops/tf.js";
import {
  tfScatterNd,
  tfTensorScatterNdAdd,
  tfTensorScatterNdMax,
  tfTensorScatterNdMin,
  tfTensorScatterNdUpdate,
} from "../../ir/ops/tf-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/** `axis`, by default the first behind `batchDims`; `oob`, on TensorFlow's CPU `error`, on its GPU `zero`. */
export type TfGatherArguments = BuilderArguments<typeof tfGather>;
/** `batchDims`, default 0; `oob` as for gather. */
export type TfGatherNdArguments = BuilderArguments<typeof tfGatherNd>;

/** tf.gather(params, indices, axis, batch_dims). Output shape: params[:axis] + indices[batchDims:] + params[axis+1:]. */
export const gather = builder(tfGather);

/** tf.gather_nd(params, indices, batch_dims). Output shape: indices[:-1] + params[batchDims + indices[-1]:]. */
export const gatherNd = builder(tfGatherNd);

/** A tensor, tuples of indices and updates of the shape indices[:-1] + tensor[indices[-1]:]. */
export type TfTensorScatterNdArguments = BuilderArguments<typeof tfTensorScatterNdUpdate>;

/** tf.tensor_scatter_nd_update(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdUpdate = builder(tfTensorScatterNdUpdate);

/** tf.tensor_scatter_nd_add(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdAdd = builder(tfTensorScatterNdAdd);

/** tf.tensor_scatter_nd_min(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdMin = builder(tfTensorScatterNdMin);

/** tf.tensor_scatter_nd_max(tensor, indices, updates). Output shape: that of tensor. */
export const tensorScatterNdMax = builder(tfTensorScatterNdMax);

/** Tuples of indices and updates; `shape` is that of the output. */
export type TfScatterNdArguments = BuilderArguments<typeof tfScatterNd, "shape">;

/** tf.scatter_nd(indices, updates, shape): updates added up, onto zeros. */
export const scatterNd = builder(tfScatterNd, "shape");
