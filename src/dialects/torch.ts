/** Builders with PyTorch's arguments. Each throws a CompileError (TC1xx) where PyTorch's rules are broken. */
import { torchEmbeddingBag } from "../../ir/ops/embedding-bag.js";
import { torchEmbedding, torchGather, torchIndexSelect, torchTakeAlongDim } from "../../ir/ops/torch.js";
import { torchIndexAdd, torchIndexCopy, torchScatter, torchScatterAdd } from "../../ir/ops/torch-scatter.js";
import { torchIndexPut } from "../../ir/ops/subscript-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/** Arguments of torch.gather: `dim` is in [-rank, rank - 1]. `oob` is `error` in PyTorch. */
export type TorchGatherArguments = BuilderArguments<typeof torchGather, "dim">;
/**
 * Arguments of torch.index_select: `index` has one dim, and `dim` is in [-rank, rank - 1]. `oob` is `error`
 * in PyTorch.
 */
export type TorchIndexSelectArguments = BuilderArguments<typeof torchIndexSelect, "dim">;
/**
 * Arguments of torch.take_along_dim: `input` and `indices` are broadcast against each other in all dims
 * except `dim`. Without `dim`, both are flattened. `oob` is `error` in PyTorch.
 */
export type TorchTakeAlongDimArguments = BuilderArguments<typeof torchTakeAlongDim>;
/**
 * Arguments of torch.nn.functional.embedding: `paddingIdx` is a row of weight that training does not update.
 * It does not change the output.
 */
export type TorchEmbeddingArguments = BuilderArguments<typeof torchEmbedding>;
/**
 * Arguments of torch.nn.functional.embedding_bag: `input` has one dim and comes with `offsets`, or has two
 * dims and each row is a bag. `perSampleWeights`, of weight's type, require mode `sum`. Row `paddingIdx` of
 * weight is left out of the bags. With `includeLastOffset` 1, the last offset is the end of the last bag.
 * `longestBag` is the largest number of rows in a bag.
 */
export type TorchEmbeddingBagArguments = BuilderArguments<typeof torchEmbeddingBag>;

/** Builds torch.gather(input, dim, index). Output shape: that of index. */
export const gather = builder(torchGather, "dim");

/** Builds torch.index_select(input, dim, index). Output shape: input[:dim] + index + input[dim+1:]. */
export const indexSelect = builder(torchIndexSelect, "dim");

/**
 * Builds torch.take_along_dim(input, indices, dim). Output shape: the broadcast shape of both, with the
 * extent of indices along `dim`.
 */
export const takeAlongDim = builder(torchTakeAlongDim);

/** Builds torch.nn.functional.embedding(input, weight, padding_idx). Output shape: input + weight[1:]. */
export const embedding = builder(torchEmbedding);

/**
 * Builds torch.nn.functional.embedding_bag(input, weight, offsets, mode=mode). Output shape: [number of bags,
 * columns of weight].
 */
export const embeddingBag = builder(torchEmbeddingBag);

/**
 * Arguments of torch.scatter: updates are `src`, or a number `value` in its place. `reduce` is none, add or
 * multiply.
 */
export type TorchScatterArguments = BuilderArguments<typeof torchScatter, "dim">;
/** Arguments of torch.scatter_add: those of torch.scatter without `value` and `reduce`. */
export type TorchScatterAddArguments = BuilderArguments<typeof torchScatterAdd, "dim">;
/** Arguments of torch.index_copy: `source` has as many slices along `dim` as `index` has entries. */
export type TorchIndexCopyArguments = BuilderArguments<typeof torchIndexCopy, "dim">;
/**
 * Arguments of torch.index_add: `source` has as many slices along `dim` as `index` has entries. `alpha`
 * (default 1) multiplies `source`.
 */
export type TorchIndexAddArguments = BuilderArguments<typeof torchIndexAdd, "dim">;

/** Builds torch.scatter(input, dim, index, src). Output shape: that of input. */
export const scatter = builder(torchScatter, "dim");

/** Builds torch.scatter_add(input, dim, index, src). Output shape: that of input. */
export const scatterAdd = builder(torchScatterAdd, "dim");

/** Builds torch.index_copy(input, dim, index, source). Output shape: that of input. */
export const indexCopy = builder(torchIndexCopy, "dim");

/** Builds torch.index_add(input, dim, index, source, alpha=alpha). Output shape: that of input. */
export const indexAdd = builder(torchIndexAdd, "dim");

/**
 * `indices0`, `indices1`, …: one for each leading dim, broadcast together; `accumulate` 1 adds, default 0.
 */
export type TorchIndexPutArguments = BuilderArguments<typeof torchIndexPut>;

/** torch.index_put(input, indices, values, accumulate). Output shape: that of input. */
export const indexPut = builder(torchIndexPut);
