/** Builders with ONNX's arguments. Each throws a CompileError (TC1xx) where ONNX's rules are broken. */
import { onnxGatherBlockQuantized } from "../../ir/ops/block-quantized.js";
import { onnxGather, onnxGatherElements, onnxGatherNd } from "../../ir/ops/onnx.js";
import { builder, type BuilderArguments } from "./builder.js";

/** `axis` in [-rank, rank - 1], default 0; `opset` 1, 11 or 13 and up, default 13; `oob`, ONNX says `error`. */
export type OnnxGatherArguments = BuilderArguments<typeof onnxGather>;
/** Inputs and attributes of GatherElements. */
export type OnnxGatherElementsArguments = BuilderArguments<typeof onnxGatherElements>;
/** `batchDims` below both ranks, default 0; `opset` and `oob` as for gather. */
export type OnnxGatherNdArguments = BuilderArguments<typeof onnxGatherNd>;

/** Inputs and attributes of com.microsoft's GatherBlockQuantized; without `zeroPoints` those of ONNX Runtime. */
export type OnnxGatherBlockQuantizedArguments = BuilderArguments<typeof onnxGatherBlockQuantized>;

/** Output shape: data[:axis] + indices + data[axis+1:]. */
export const gather = builder(onnxGather);

/** Output shape: that of indices. */
export const gatherElements = builder(onnxGatherElements);

/** Output shape: indices[:-1] + data[batchDims + indices[-1]:]. */
export const gatherNd = builder(onnxGatherNd);

/** Rows dequantized as they are gathered; output of the scales' type, bytes of data as the elements that they hold. */
export const gatherBlockQuantized = builder(onnxGatherBlockQuantized);
