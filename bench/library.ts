/** The parts of tilec that the benchmarks call, so that one harness measures this build and another one. */
import type * as sim from "../backends/sim/index.js";
import type * as webgpu from "../backends/webgpu/index.js";
import type * as device from "../src/device/index.js";
import type * as tilec from "../src/index.js";

export type Compiler = Pick<typeof tilec, "compile" | "onnx" | "program" | "targets">;

export type SimLibrary = Compiler &
  Pick<typeof sim, "FastExecutor" | "simulate"> &
  Pick<typeof device, "spawnThread">;

export type CompileLibrary = Compiler & Pick<typeof webgpu, "defaultLimits" | "emitWgsl">;

export type GpuLibrary = Compiler & Pick<typeof webgpu, "createRunner">;
