/**
 * Twenty gathers whose schedules are measured: small enough that many kernels with their tensors fit in
 * memory at once.
 */
import { onnx, pypto } from "../src/index.js";
import type { Named } from "./gathers.js";

/** Twenty gathers, with names, whose schedules bench:sweep measures. */
export const sweeps: readonly Named[] = [
  ["embedding", onnx.gather({ data: ["f32", [8192, 512]], indices: ["i32", [2048]], axis: 0 })],
  ["embedding f16", onnx.gather({ data: ["f16", [8000, 1024]], indices: ["i64", [4, 256]], axis: 0 })],
  ["short rows", onnx.gather({ data: ["f32", [100_000, 4]], indices: ["i32", [300_000]], axis: 0 })],
  ["a line", onnx.gather({ data: ["f32", [16384]], indices: ["i32", [1_000_000]], axis: 0 })],
  ["a long line", onnx.gather({ data: ["f32", [2_000_000]], indices: ["i32", [500_000]], axis: 0 })],
  ["columns", onnx.gather({ data: ["f32", [2048, 1024]], indices: ["i32", [256]], axis: 1 })],
  ["few columns", onnx.gather({ data: ["f32", [4096, 512]], indices: ["i32", [7]], axis: 1 })],
  ["middle axis", onnx.gather({ data: ["f16", [32, 500, 48]], indices: ["i32", [900]], axis: 1 })],
  [
    "sorted rows",
    onnx.gatherElements({ data: ["f32", [2048, 512]], indices: ["i32", [2048, 512]], axis: 1 }),
  ],
  ["long rows", onnx.gatherElements({ data: ["f32", [64, 16384]], indices: ["i32", [64, 16384]], axis: 1 })],
  [
    "tall elements",
    onnx.gatherElements({ data: ["f32", [64, 16384]], indices: ["i32", [64, 16384]], axis: 0 }),
  ],
  [
    "deep elements",
    onnx.gatherElements({ data: ["f32", [1024, 1024]], indices: ["i32", [1024, 1024]], axis: 0 }),
  ],
  [
    "elements of rank 4",
    onnx.gatherElements({ data: ["f32", [8, 32, 64, 64]], indices: ["i32", [8, 32, 64, 64]], axis: 2 }),
  ],
  ["halves", onnx.gatherElements({ data: ["f16", [1024, 1024]], indices: ["i32", [1024, 1024]], axis: 1 })],
  ["bytes", onnx.gatherElements({ data: ["i8", [1024, 1024]], indices: ["i32", [1024, 1024]], axis: 1 })],
  [
    "wide indices",
    onnx.gatherElements({ data: ["f32", [1024, 1024]], indices: ["i64", [1024, 1024]], axis: 1 }),
  ],
  ["pairs", onnx.gatherNd({ data: ["f32", [256, 128, 32]], indices: ["i64", [16384, 2]] })],
  [
    "batched pairs",
    onnx.gatherNd({ data: ["f32", [16, 128, 96]], indices: ["i64", [16, 500, 1]], batchDims: 1 }),
  ],
  [
    "clamped columns",
    pypto.gather({ input: ["f32", [300, 4000]], index: ["i32", [300, 1000]], dim: 0, oob: "clamp" }),
  ],
  ["selected rows", pypto.indexSelect({ input: ["f32", [512, 513]], index: ["i32", [770]], dim: 0 })],
];
