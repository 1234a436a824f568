/** Builders with TensorFlow's arguments. Each throws a CompileError (TC1xx) where TensorFlow's rules are broken. */
import { tfGather, tfGatherNd } from "../../ir/ops/tf.js";
import { builder, type BuilderArguments } from "./builder.js";

/** `axis`, by default the first behind `batchDims`; `oob`, on TensorFlow's CPU `error`, on its GPU `zero`. */
export type TfGatherArguments = BuilderArguments<typeof tfGather>;
/** `batchDims`, default 0; `oob` as for gather. */
export type TfGatherNdArguments = BuilderArguments<typeof tfGatherNd>;

/** tf.gather(params, indices, axis, batch_dims). Output shape: params[:axis] + indices[batchDims:] + params[axis+1:]. */
export const gather = builder(tfGather);

/** tf.gather_nd(params, indices, batch_dims). Output shape: indices[:-1] + params[batchDims + indices[-1]:]. */
export const gatherNd = builder(tfGatherNd);
