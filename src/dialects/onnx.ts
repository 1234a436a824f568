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

/** `axis` in [-rank, rank - 1], default 0; `opset` 1, 11 or 13 and up, default 13; `oob`, ONNX says `error`. */
export type OnnxGatherArguments = BuilderArguments<typeof onnxGather>;
/** Inputs and attributes of GatherElements. */
export type OnnxGatherElementsArguments = BuilderArguments<typeof onnxGatherElements>;
/** `batchDims` below both ranks, default 0; `opset` and `oob` as for gather. */
export type OnnxGatherNdArguments = BuilderArguments<typeof onnxGatherNd>;

/** Inputs and attributes of com.microsoft's GatherBlockQuantized; without `zeroPoints` those of ONNX Runtime. */
export type OnnxGatherBlockQuantizedArguments = BuilderArguments<typeof onnxGatherBlockQuantized>;

/** `axis` as for gather; `reduction` none, add, mul, min or max; `opset` 11, 13, 16 or 18 and up, default 18. */
export type OnnxScatterElementsArguments = BuilderArguments<typeof onnxScatterElements>;
/** Scatter of opsets 9 and 10; scatterElements took its place. */
export type OnnxScatterArguments = BuilderArguments<typeof onnxScatter>;
/** `axis` of the cache's tokens, default -2; `mode` linear or circular; without `writeIndices` each update begins at 0. */
export type OnnxTensorScatterArguments = BuilderArguments<typeof onnxTensorScatter>;
/** `reduction`, `opset` and `oob` as for scatterElements. */
export type OnnxScatterNdArguments = BuilderArguments<typeof onnxScatterNd>;

/** Output shape: data[:axis] + indices + data[axis+1:]. */
export const gather = builder(onnxGather);

/** Output shape: that of indices. */
export const gatherElements = builder(onnxGatherElements);

/** Output shape: indices[:-1] + data[batchDims + indices[-1]:]. */
export const gatherNd = builder(onnxGatherNd);

/** Rows dequantized as they are gathered; output of the scales' type, bytes of data as the elements that they hold. */
export const gatherBlockQuantized = builder(onnxGatherBlockQuantized);

/** Copies data and writes each update where its index along the axis says. Output shape: that of data. */
export const scatterElements = builder(onnxScatterElements);

/** Copies data and writes each slice of updates where its tuple says. Output shape: that of data. */
export const scatterNd = builder(onnxScatterNd);

/** Copies data and writes each update where its index along the axis says, by the rules of opset 9. */
export const scatter = builder(onnxScatter);

/** Copies a cache and writes each batch's update from its write index on. Output shape: that of pastCache. */
export const tensorScatter = builder(onnxTensorScatter);
