/** A kernel for each way in which a gather becomes PTO-ISA, each with tails, several tasks on each core, and a second copy. */
import type { GatherClass, Schedule, SourceFunc } from "../../ir/index.js";
import { numpy, onnx, pypto } from "../../src/index.js";

export interface ExampleKernel {
  readonly class: GatherClass;
  readonly func: SourceFunc;
  readonly schedule: Schedule;
}

const columns = pypto.gather({
  input: ["f32", [300, 40]],
  index: ["i32", [300, 40]],
  dim: 0,
  oob: "clamp",
});

export const exampleKernels: Readonly<Record<string, ExampleKernel>> = {
  flat: {
    class: "flat",
    func: columns,
    schedule: { tile: [300, 16], buffers: 2, cores: 2 },
  },
  "flat-zero": {
    class: "flat",
    func: onnx.gatherElements({ data: ["f16", [20, 40]], indices: ["i32", [12, 40]], axis: 0, oob: "zero" }),
    schedule: { tile: [5, 16], buffers: 2, cores: 2 },
  },
  "flat-error": {
    class: "flat",
    func: onnx.gather({ data: ["f32", [10, 64]], indices: ["i32", [40]], axis: 1 }),
    schedule: { tile: [4, 16], buffers: 1, cores: 2 },
  },
  "flat-strips": {
    class: "flat",
    func: onnx.gatherElements({ data: ["f64", [20, 12]], indices: ["i64", [27, 12]], axis: 0 }),
    schedule: { tile: [27, 12], buffers: 1, ubBytes: 15_000, cores: 2 },
  },
  "flat-tuples": {
    class: "flat",
    func: onnx.gatherNd({ data: ["f32", [30, 9]], indices: ["i64", [100, 2]] }),
    schedule: { tile: [48], buffers: 2, cores: 2 },
  },
  "flat-bytes": {
    class: "flat",
    func: onnx.gatherElements({ data: ["u8", [20, 40]], indices: ["i32", [12, 40]], axis: 0, oob: "clamp" }),
    schedule: { tile: [12, 8], buffers: 2, cores: 2 },
  },
  "flat-indices": {
    class: "flat",
    func: numpy.takeAlongAxis({ arr: ["f32", [20, 40]], indices: ["u16", [12, 40]], axis: 0, oob: "zero" }),
    schedule: { tile: [12, 16], buffers: 2, cores: 2 },
  },
  "row-copy": {
    class: "row-copy",
    func: onnx.gather({ data: ["f64", [20, 12]], indices: ["i32", [50]], axis: 0 }),
    schedule: { tile: [16, 5], buffers: 2, cores: 2, lowering: "row-copy" },
  },
  "row-fetch": {
    class: "row-fetch",
    func: onnx.gather({ data: ["f16", [40, 6, 20]], indices: ["i64", [30]], axis: 0, oob: "zero" }),
    schedule: { tile: [4, 6, 16], buffers: 2, cores: 2, residency: "gm" },
  },
  mgather: {
    class: "mgather",
    func: onnx.gather({ data: ["f32", [5000, 300]], indices: ["i32", [70]], axis: 0, oob: "clamp" }),
    schedule: { tile: [16, 128], buffers: 2, cores: 2, residency: "gm", lowering: "mgather" },
  },
  scalar: {
    class: "scalar",
    func: onnx.gatherElements({ data: ["f64", [9, 9]], indices: ["i32", [40, 9]], axis: 0, oob: "wrap" }),
    schedule: { tile: [7, 5], buffers: 2, cores: 2 },
  },
};
