/** The parts of tilec that the benchmarks call, so that one harness measures this build and another one. */
import type * as sim from "../backends/sim/index.js";
import type * as webgpu from "../backends/webgpu/index.js";
import type * as device from "../src/device/index.js";
import type * as tilec from "../src/index.js";

/** Part of the tilec API with which benchmarks compile a workload. */
export type Compiler = Pick<typeof tilec, "compile" | "onnx" | "program" | "targets">;

/**
 * Part of the tilec API that bench:sim uses: the compiler, the simulator and the fast executor (WebAssembly).
 */
export type SimLibrary = Compiler &
  Pick<typeof sim, "FastExecutor" | "simulate"> &
  Pick<typeof device, "spawnThread">;

/** Part of the tilec API that bench:compile uses: the compiler and the WGSL emitter. */
export type CompileLibrary = Compiler & Pick<typeof webgpu, "defaultLimits" | "emitWgsl">;

/**
 * Part of the tilec API that bench:webgpu uses: the compiler and the function that creates a WebGPU runner.
 */
export type GpuLibrary = Compiler & Pick<typeof webgpu, "createRunner">;
