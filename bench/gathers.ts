/** Gathers as the benchmarks of schedules take them: the ten workloads, and ten others. */
import { onnx, pypto, type SourceFunc } from "../src/index.js";
import { describe, workloads, type Workload } from "./workloads.js";

/** Pair of the name of a gather in benchmark tables and the gather as a source-level function. */
export type Named = readonly [name: string, func: SourceFunc];

/**
 * Converts a benchmark workload to an ONNX operator with the workload's types and axis. For `gather_nd`, the
 * index type becomes i64.
 */
function sourceOf(w: Workload): SourceFunc {
  const data = [w.dtype, w.data] as const;
  const indices = [w.indexType, w.indices] as const;
  switch (w.op) {
    case "gather":
      return onnx.gather({ data, indices, axis: w.axis });
    case "gather_elements":
      return onnx.gatherElements({ data, indices, axis: w.axis });
    case "gather_nd":
      return onnx.gatherNd({ data, indices: ["i64", w.indices] });
  }
}

const others: readonly Named[] = [
  ["KV pages", onnx.gather({ data: ["bf16", [2048, 16, 8, 128]], indices: ["i32", [64, 32]], axis: 0 })],
  [
    "long elements",
    onnx.gatherElements({ data: ["f32", [32768, 1024]], indices: ["i32", [32768, 1024]], axis: 1 }),
  ],
  [
    "tall elements",
    onnx.gatherElements({ data: ["f32", [64, 16384]], indices: ["i32", [64, 16384]], axis: 0 }),
  ],
  [
    "clamped columns",
    pypto.gather({ input: ["f32", [300, 4000]], index: ["i32", [300, 4000]], dim: 0, oob: "clamp" }),
  ],
  ["a line", onnx.gather({ data: ["f32", [16384]], indices: ["i32", [1_000_000]], axis: 0 })],
  ["embedding f16", onnx.gather({ data: ["f16", [32000, 4096]], indices: ["i64", [8, 512]], axis: 0 })],
  ["68 tasks", onnx.gather({ data: ["f32", [1000, 1088]], indices: ["i32", [4099]], axis: 0 })],
  ["selected rows", pypto.indexSelect({ input: ["f32", [512, 513]], index: ["i32", [77]], dim: 0 })],
  [
    "batched pairs",
    onnx.gatherNd({ data: ["f32", [16, 128, 96]], indices: ["i64", [16, 500, 1]], batchDims: 1 }),
  ],
  [
    "middle axis",
    onnx.gather({ data: ["f16", [32, 500, 48]], indices: ["i32", [900]], axis: 1, oob: "clamp" }),
  ],
];

/** Twenty gathers for the benchmarks of schedules, {@link workloads} included. */
export const gathers: readonly Named[] = [
  ...workloads.map((w) => [describe(w), sourceOf(w)] as const),
  ...others,
];
