/** Builders with PyTorch's arguments. Each throws a CompileError (TC1xx) where PyTorch's rules are broken. */
import { torchEmbeddingBag } from "../../ir/ops/embedding-bag.js";
import { torchEmbedding, torchGather, torchIndexSelect, torchTakeAlongDim } from "../../ir/ops/torch.js";
import { torchIndexAdd, torchIndexCopy, torchScatter, torchScatterAdd } from "../../ir/ops/torch-scatter.js";
import { torchIndexPut } from "../../ir/ops/subscript-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link gather}, torch.gather. `dim`: in [-rank, rank - 1]. `oob`: policy for indices out of
 * range; the default is `error`, as in PyTorch.
 */
export type TorchGatherArguments = BuilderArguments<typeof torchGather, "dim">;
/**
 * Arguments of {@link indexSelect}, torch.index_select. `index` has one dim; `dim` is in [-rank, rank - 1].
 * `oob`: policy for indices out of range; the default is `error`, as in PyTorch.
 */
export type TorchIndexSelectArguments = BuilderArguments<typeof torchIndexSelect, "dim">;
/**
 * Arguments of {@link takeAlongDim}, torch.take_along_dim. Without `dim`, `input` and `indices` are
 * flattened. `oob`: policy for indices out of range; the default is `error`, as in PyTorch.
 */
export type TorchTakeAlongDimArguments = BuilderArguments<typeof torchTakeAlongDim>;
/**
 * Arguments of {@link embedding}, torch.nn.functional.embedding. `paddingIdx`: row of `weight` that training
 * does not update; no effect on the output.
 */
export type TorchEmbeddingArguments = BuilderArguments<typeof torchEmbedding>;
/**
 * Arguments of {@link embeddingBag}, torch.nn.functional.embedding_bag. `input` has two dims, with one bag
 * per row, or has one dim and comes with `offsets`. `longestBag`: largest number of rows in a bag. Row
 * `paddingIdx` of `weight` is left out of all bags.
 */
export type TorchEmbeddingBagArguments = BuilderArguments<typeof torchEmbeddingBag>;

/** Builds the source program of torch.gather(input, dim, index). The output has the shape of `index`. */
export const gather = builder(torchGather, "dim");

/**
 * Builds the source program of torch.index_select(input, dim, index). Output shape: input.shape[:dim] +
 * index.shape + input.shape[dim+1:].
 */
export const indexSelect = builder(torchIndexSelect, "dim");

/**
 * Builds the source program of torch.take_along_dim(input, indices, dim). The output has the broadcast shape
 * of the two inputs, with the extent of `indices` along `dim`.
 */
export const takeAlongDim = builder(torchTakeAlongDim);

/**
 * Builds the source program of torch.nn.functional.embedding(input, weight, padding_idx), which selects rows
 * of `weight`. Output shape: input.shape + weight.shape[1:].
 */
export const embedding = builder(torchEmbedding);

/**
 * Builds the source program of torch.nn.functional.embedding_bag(input, weight, offsets, mode=mode), which
 * combines the rows of each bag. Output shape: [number of bags, columns of weight].
 */
export const embeddingBag = builder(torchEmbeddingBag);

/**
 * Arguments of {@link scatter}, torch.scatter. The update is the tensor `src` or the number `value`.
 * `reduce`: none (default), add or multiply.
 */
export type TorchScatterArguments = BuilderArguments<typeof torchScatter, "dim">;
/** Arguments of {@link scatterAdd}, torch.scatter_add: `input`, `dim`, `index`, and the updates `src`. */
export type TorchScatterAddArguments = BuilderArguments<typeof torchScatterAdd, "dim">;
/**
 * Arguments of {@link indexCopy}, torch.index_copy. `source` has one slice along `dim` for each element of
 * `index`.
 */
export type TorchIndexCopyArguments = BuilderArguments<typeof torchIndexCopy, "dim">;
/**
 * Arguments of {@link indexAdd}, torch.index_add. `source`: one slice along `dim` for each element of
 * `index`. `alpha`: number by which `source` is multiplied, default 1.
 */
export type TorchIndexAddArguments = BuilderArguments<typeof torchIndexAdd, "dim">;

/**
 * Builds the source program of torch.scatter(input, dim, index, src), which writes updates into a copy of
 * `input`.
 */
export const scatter = builder(torchScatter, "dim");

/**
 * Builds the source program of torch.scatter_add(input, dim, index, src), which adds updates to a copy of
 * `input`.
 */
export const scatterAdd = builder(torchScatterAdd, "dim");

/**
 * Builds the source program of torch.index_copy(input, dim, index, source), which writes slices of `source`
 * into a copy of `input`.
 */
export const indexCopy = builder(torchIndexCopy, "dim");

/**
 * Builds the source program of torch.index_add(input, dim, index, source, alpha=alpha), which adds slices of
 * `source` to a copy of `input`.
 */
export const indexAdd = builder(torchIndexAdd, "dim");

/**
 * Arguments of {@link indexPut}, torch.index_put. `indices0`, `indices1`, …: index tensors for the leading
 * dims of `input`, broadcast together. `accumulate`: 1 to add values, 0 (default) to replace elements.
 */
export type TorchIndexPutArguments = BuilderArguments<typeof torchIndexPut>;

/**
 * Builds the source program of torch.index_put(input, indices, values, accumulate), which writes values into
 * a copy of `input`.
 */
export const indexPut = builder(torchIndexPut);
