/** Builders with PyTorch's arguments. Each throws a CompileError (TC1xx) where PyTorch's rules are broken. */
import { torchEmbeddingBag } from "../../ir/ops/embedding-bag.js";
import { torchEmbedding, torchGather, torchIndexSelect, torchTakeAlongDim } from "../../ir/ops/torch.js";
import { torchIndexAdd, torchIndexCopy, torchScatter, torchScatterAdd } from "../../ir/ops/torch-scatter.js";
import { torchIndexPut } from "../../ir/ops/subscript-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/** `dim` in [-rank, rank - 1]; `oob`, which PyTorch says is `error`. */
export type TorchGatherArguments = BuilderArguments<typeof torchGather, "dim">;
/** As for gather; `index` has one dim. */
export type TorchIndexSelectArguments = BuilderArguments<typeof torchIndexSelect, "dim">;
/** As for gather; off `dim`, `input` and `indices` are broadcast against each other. `dim`: absent, both count as flat. */
export type TorchTakeAlongDimArguments = BuilderArguments<typeof torchTakeAlongDim>;
/** `paddingIdx`: a row of weight that training leaves alone; what is read is the same with and without it. */
export type TorchEmbeddingArguments = BuilderArguments<typeof torchEmbedding>;
/**
 * `input` of one dim with `offsets`, or of two, whose rows are bags. `perSampleWeights`, of weight's type, are for mode `sum`. `paddingIdx`:
 * the row that is left out. `includeLastOffset` 1: the last offset is where the last bag ends. `longestBag`: rows of a bag at most.
 */
export type TorchEmbeddingBagArguments = BuilderArguments<typeof torchEmbeddingBag>;

/** torch.gather(input, dim, index). Output shape: that of index. */
export const gather = builder(torchGather, "dim");

/** torch.index_select(input, dim, index). Output shape: input[:dim] + index + input[dim+1:]. */
export const indexSelect = builder(torchIndexSelect, "dim");

/** torch.take_along_dim(input, indices, dim). Output shape: both broadcast together, the length of indices along dim. */
export const takeAlongDim = builder(torchTakeAlongDim);

/** torch.nn.functional.embedding(input, weight, padding_idx). Output shape: input + weight[1:]. */
export const embedding = builder(torchEmbedding);

/** torch.nn.functional.embedding_bag(input, weight, offsets, mode=mode). Output shape: a row of weight for each bag. */
export const embeddingBag = builder(torchEmbeddingBag);

/** `src`, or a number `value` in its place; `reduce` none, add or multiply. */
export type TorchScatterArguments = BuilderArguments<typeof torchScatter, "dim">;
/** As for scatter, without a number or a reduction. */
export type TorchScatterAddArguments = BuilderArguments<typeof torchScatterAdd, "dim">;
/** `source` has as many slices along `dim` as `index` has entries. */
export type TorchIndexCopyArguments = BuilderArguments<typeof torchIndexCopy, "dim">;
/** As for indexCopy; `alpha` is the factor of what is added, default 1. */
export type TorchIndexAddArguments = BuilderArguments<typeof torchIndexAdd, "dim">;

/** torch.scatter(input, dim, index, src). Output shape: that of input. */
export const scatter = builder(torchScatter, "dim");

/** torch.scatter_add(input, dim, index, src). Output shape: that of input. */
export const scatterAdd = builder(torchScatterAdd, "dim");

/** torch.index_copy(input, dim, index, source). Output shape: that of input. */
export const indexCopy = builder(torchIndexCopy, "dim");

/** torch.index_add(input, dim, index, source, alpha=alpha). Output shape: that of input. */
export const indexAdd = builder(torchIndexAdd, "dim");

/** `indices0`, `indices1`, …: one for each leading dim, broadcast together; `accumulate` 1 adds, default 0. */
export type TorchIndexPutArguments = BuilderArguments<typeof torchIndexPut>;

/** torch.index_put(input, indices, values, accumulate). Output shape: that of input. */
export const indexPut = builder(torchIndexPut);
