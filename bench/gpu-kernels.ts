/**
 * Kernels whose counts a test limits and `bench:isa` compiles for GPUs: one of each form that the WGSL
 * backend emits.
 */
import { deviceLimits, targets, type Func, type Schedule } from "../ir/index.js";
import { compile, onnx, torch, type Kernel } from "../src/index.js";
import { emitWgsl, type WgslKernel } from "../backends/webgpu/index.js";
import { parsed } from "../test/support/parsed.js";

/**
 * Kernel for tests and benchmarks of emitted WGSL: a name, a program, and the schedule entries to compile the
 * program with.
 */
export interface GpuKernel {
  readonly name: string;
  readonly func: Func;
  readonly schedule: Schedule;
}

const elements = (
  dtype: "f32" | "u8",
  index: "i32" | "i64",
  axis: 0 | 1,
  shape: readonly [number, number],
): Func => onnx.gatherElements({ data: [dtype, shape], indices: [index, shape], axis });

const columns = (): Func => onnx.gather({ data: ["f32", [4096, 1024]], indices: ["i32", [256]], axis: 1 });

const pairs = (index: "i32" | "i64"): Func =>
  parsed(`func @pairs(%data: tensor<256x256x64xf32>, %indices: tensor<65536x2x${index}>) -> tensor<65536x64xf32> {
  %y = access.gather %data, %indices (d0, d1) -> (from_end(%indices[d0, 0]), from_end(%indices[d0, 1]), d1) {oob = error}
  return %y
}
`);

const pages = parsed(`func @paged(%kv: tensor<512x16x256xf16>, %bt: tensor<256xi32>) -> tensor<4096x256xf16> {
  %y = access.gather %kv, %bt (d0, d1) -> (%bt[d0 div 16], d0 mod 16, d1) {oob = error}
  return %y
}
`);

const quantized = onnx.gatherBlockQuantized({
  data: ["u8", [151936, 448]],
  indices: ["i64", [512]],
  scales: ["f32", [151936, 28]],
  blockSize: 32,
});

const segments = torch.embeddingBag({
  weight: ["f32", [30000, 128]],
  input: ["i64", [16384]],
  offsets: ["i64", [1024]],
  mode: "sum",
  longestBag: 1024,
});

/** Kernels for every kind of WGSL code that the backend emits. Kernels that copy rows come first. */
export const gpuKernels: readonly GpuKernel[] = [
  {
    name: "rows-f32",
    func: onnx.gather({ data: ["f32", [50257, 768]], indices: ["i32", [4096]], axis: 0 }),
    schedule: {},
  },
  {
    name: "rows-f16-i64",
    func: onnx.gather({ data: ["f16", [50257, 512]], indices: ["i64", [4096]], axis: 0 }),
    schedule: {},
  },
  { name: "pages-f16", func: pages, schedule: {} },
  {
    name: "pairs-i32",
    func: pairs("i32"),
    schedule: {},
  },
  {
    name: "pairs-i64",
    func: pairs("i64"),
    schedule: {},
  },
  {
    name: "rows-of-5",
    func: onnx.gather({ data: ["f32", [100000, 5]], indices: ["i32", [65536]], axis: 0 }),
    schedule: {},
  },
  { name: "elements-axis-0", func: elements("f32", "i32", 0, [1024, 4096]), schedule: {} },
  { name: "elements-gm", func: elements("f32", "i32", 1, [4096, 1024]), schedule: { residency: "gm" } },
  { name: "elements-ub", func: elements("f32", "i32", 1, [4096, 1024]), schedule: { residency: "ub" } },
  { name: "elements-i64", func: elements("f32", "i64", 1, [4096, 1024]), schedule: {} },
  { name: "elements-u8-gm", func: elements("u8", "i32", 1, [4096, 1024]), schedule: { residency: "gm" } },
  { name: "elements-u8-ub", func: elements("u8", "i32", 1, [4096, 1024]), schedule: { residency: "ub" } },
  { name: "900-by-300", func: elements("f32", "i32", 1, [900, 300]), schedule: {} },
  { name: "columns", func: columns(), schedule: {} },
  { name: "columns-gm", func: columns(), schedule: { residency: "gm" } },
  { name: "quantized-f32", func: quantized, schedule: {} },
  { name: "segments-f32", func: segments, schedule: {} },
];

/** Compiles a program for the `webgpu` target, and returns the kernel and the emitted WGSL. */
export function compileGpuKernel({ func, schedule }: GpuKernel): {
  readonly kernel: Kernel;
  readonly wgsl: WgslKernel;
} {
  const target = targets.webgpu;
  const kernel = compile(func, { ...schedule, target });
  return { kernel, wgsl: emitWgsl(kernel.tile, { limits: deviceLimits(target), target }) };
}
