/** Builders with ONNX's arguments. Each throws a CompileError (TC1xx) where ONNX's rules are broken. */
import { onnxGatherBlockQuantized } from "../../ir/ops/block-quantized.js";
import { onnxGather, onnxGatherElements, onnxGatherNd } from "../../ir/ops/onnx.js";
import {
  onnxScatter,
  onnxScatterElements,
  onnxScatterNd,
  onnxTensorScatter,
} from "../../ir/ops/onnx-scatter.js";
import { builder, type BuilderArguments } from "./builder.js";

/**
 * Arguments of {@link gather}, ONNX Gather. `axis`: in [-rank, rank - 1], default 0. `opset`: 1, 11, or 13
 * and later, default 13. `oob`: policy for indices out of range, default `error`.
 */
export type OnnxGatherArguments = BuilderArguments<typeof onnxGather>;
/**
 * Arguments of {@link gatherElements}, ONNX GatherElements: input types, axis, opset, and policy for indices
 * out of range.
 */
export type OnnxGatherElementsArguments = BuilderArguments<typeof onnxGatherElements>;
/**
 * Arguments of {@link gatherNd}, ONNX GatherND. `batchDims`: less than the rank of each input, default 0.
 * {@link OnnxGatherArguments} describes `opset` and `oob`.
 */
export type OnnxGatherNdArguments = BuilderArguments<typeof onnxGatherNd>;

/**
 * Arguments of {@link gatherBlockQuantized}, the operator GatherBlockQuantized of com.microsoft. If
 * `zeroPoints` is absent, the zero points are the defaults of ONNX Runtime.
 */
export type OnnxGatherBlockQuantizedArguments = BuilderArguments<typeof onnxGatherBlockQuantized>;

/**
 * Arguments of {@link scatterElements}, ONNX ScatterElements. `axis`: default 0. `reduction`: none, add, mul,
 * min or max. `opset`: 11, 13, 16, or 18 and later, default 18. `oob`: policy for indices out of range,
 * default `error`.
 */
export type OnnxScatterElementsArguments = BuilderArguments<typeof onnxScatterElements>;
/** Arguments of {@link scatter}, the ONNX Scatter of opsets 9 and 10, which ScatterElements replaced. */
export type OnnxScatterArguments = BuilderArguments<typeof onnxScatter>;
/**
 * Arguments of {@link tensorScatter}, ONNX TensorScatter. `axis`: token dim of the cache, default -2. `mode`:
 * linear (default) or circular. Without `writeIndices`, updates start at position 0 of the token dim.
 */
export type OnnxTensorScatterArguments = BuilderArguments<typeof onnxTensorScatter>;
/**
 * Arguments of {@link scatterNd}, ONNX ScatterND. {@link OnnxScatterElementsArguments} describes `reduction`,
 * `opset` and `oob`.
 */
export type OnnxScatterNdArguments = BuilderArguments<typeof onnxScatterNd>;

/**
 * Builds the source program of ONNX Gather, which selects slices along an axis. Output shape:
 * data.shape[:axis] + indices.shape + data.shape[axis+1:].
 */
export const gather = builder(onnxGather);

/**
 * Builds the source program of ONNX GatherElements, which selects elements along an axis. The output has the
 * shape of `indices`.
 */
export const gatherElements = builder(onnxGatherElements);

/**
 * Builds the source program of ONNX GatherND, which selects elements or slices by index tuples in the last
 * dim of `indices`. Output shape: indices.shape[:-1] + data.shape[batchDims + indices.shape[-1]:].
 */
export const gatherNd = builder(onnxGatherNd);

/**
 * Builds the source program of GatherBlockQuantized (domain com.microsoft), which gathers quantized rows and
 * dequantizes the elements. The output has the element type of the scales.
 */
export const gatherBlockQuantized = builder(onnxGatherBlockQuantized);

/**
 * Builds the source program of ONNX ScatterElements, which copies `data` and writes each update at the index
 * along an axis. The output has the shape of `data`.
 */
export const scatterElements = builder(onnxScatterElements);

/**
 * Builds the source program of ONNX ScatterND, which copies `data` and writes each slice of `updates` at the
 * position of an index tuple. The output has the shape of `data`.
 */
export const scatterNd = builder(onnxScatterNd);

/**
 * Builds the source program of the ONNX Scatter of opsets 9 and 10, which copies `data` and writes each
 * update at the index along an axis. The output has the shape of `data`.
 */
export const scatter = builder(onnxScatter);

/**
 * Builds the source program of ONNX TensorScatter, which copies a cache and writes new tokens at consecutive
 * positions from a write index on. The output has the shape of `pastCache`.
 */
export const tensorScatter = builder(onnxTensorScatter);
