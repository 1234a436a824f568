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
 * Arguments of ONNX Gather. `axis` is in [-rank, rank - 1], default 0. `opset` is 1, 11, or 13 and up,
 * default 13. `oob` is the out-of-range policy, default `error` as in ONNX.
 */
export type OnnxGatherArguments = BuilderArguments<typeof onnxGather>;
/** Arguments of ONNX GatherElements: its inputs and attributes. */
export type OnnxGatherElementsArguments = BuilderArguments<typeof onnxGatherElements>;
/**
 * Arguments of ONNX GatherND. `batchDims` is less than both ranks, default 0. `opset` and `oob` are as in
 * {@link OnnxGatherArguments}.
 */
export type OnnxGatherNdArguments = BuilderArguments<typeof onnxGatherNd>;

/**
 * Arguments of com.microsoft's GatherBlockQuantized: its inputs and attributes. Without `zeroPoints`, the
 * default zero points of ONNX Runtime apply.
 */
export type OnnxGatherBlockQuantizedArguments = BuilderArguments<typeof onnxGatherBlockQuantized>;

/**
 * Arguments of ONNX ScatterElements. `axis` is in [-rank, rank - 1], default 0. `reduction` is none, add,
 * mul, min or max. `opset` is 11, 13, 16, or 18 and up, default 18.
 */
export type OnnxScatterElementsArguments = BuilderArguments<typeof onnxScatterElements>;
/** Arguments of ONNX Scatter of opsets 9 and 10, which ScatterElements replaced. */
export type OnnxScatterArguments = BuilderArguments<typeof onnxScatter>;
/**
 * Arguments of ONNX TensorScatter. `axis` is the cache dim of the tokens, default -2. `mode` is linear or
 * circular. Without `writeIndices`, each update begins at 0.
 */
export type OnnxTensorScatterArguments = BuilderArguments<typeof onnxTensorScatter>;
/**
 * Arguments of ONNX ScatterND. `reduction`, `opset` and `oob` are as in {@link OnnxScatterElementsArguments}.
 */
export type OnnxScatterNdArguments = BuilderArguments<typeof onnxScatterNd>;

/**
 * Builds ONNX Gather, which selects slices along an axis. Output shape: data[:axis] + indices +
 * data[axis+1:].
 */
export const gather = builder(onnxGather);

/** Builds ONNX GatherElements, which selects elements along an axis. Output shape: that of indices. */
export const gatherElements = builder(onnxGatherElements);

/**
 * Builds ONNX GatherND, which selects elements or slices by index tuples. Output shape: indices[:-1] +
 * data[batchDims + indices[-1]:].
 */
export const gatherNd = builder(onnxGatherNd);

/**
 * Builds com.microsoft's GatherBlockQuantized, which dequantizes the rows that it gathers. The output has the
 * type of the scales. Its shape counts the elements packed in the bytes of data.
 */
export const gatherBlockQuantized = builder(onnxGatherBlockQuantized);

/**
 * Builds ONNX ScatterElements, which copies data and writes each update to its index along an axis. Output
 * shape: that of data.
 */
export const scatterElements = builder(onnxScatterElements);

/**
 * Builds ONNX ScatterND, which copies data and writes each slice of updates to the position of its index
 * tuple. Output shape: that of data.
 */
export const scatterNd = builder(onnxScatterNd);

/**
 * Builds ONNX Scatter of opsets 9 and 10, which copies data and writes each update to its index along an
 * axis. Output shape: that of data.
 */
export const scatter = builder(onnxScatter);

/**
 * Builds ONNX TensorScatter, which copies a cache and writes the update of each batch entry from its write
 * index on. Output shape: that of pastCache.
 */
export const tensorScatter = builder(onnxTensorScatter);
