/** A workload as an ONNX model of one node. */
import { onnxTypes, singleNodeModel } from "../test/support/onnx-bytes.js";
import type { Workload } from "./workloads.js";

const names = { gather: "Gather", gather_elements: "GatherElements", gather_nd: "GatherND" } as const;

/** ONNX model with one gather node, as bytes. `wide` is true if the indices have 64 bits. */
export interface OnnxModel {
  readonly model: Uint8Array;
  /** True if the model takes 64-bit indices: for workloads of i64 indices, and for GatherND. */
  readonly wide: boolean;
}

/** Builds an ONNX model with one gather node for a benchmark workload. */
export function onnxModel(workload: Workload): OnnxModel {
  const wide = workload.indexType === "i64" || workload.op === "gather_nd";
  const model = singleNodeModel({
    op: names[workload.op],
    opset: 13,
    ...(workload.op === "gather_nd" ? {} : { attribute: ["axis", workload.axis] as const }),
    data: { type: onnxTypes[workload.dtype], shape: workload.data },
    indices: { type: wide ? onnxTypes.i64 : onnxTypes.i32, shape: workload.indices },
    outputShape: workload.output,
  });
  return { model, wide };
}
