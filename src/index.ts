/**
 * tilec: gathers from ONNX, DirectML and PyPTO, tiled, legal or explained, the same bits from every backend.
 *
 *   const op = gatherElements({ data: ["f32", [4096, 1024]], indices: ["i32", [4096, 1024]], axis: 1 });
 *   const kernel = compile(op, { target: targets.ascendA2, tile: [8, 1024] });
 */
export {
  CompileError,
  InternalError,
  RunError,
  targets,
  type DType,
  type Diagnostic,
  type Footprint,
  type Func,
  type OutOfBounds,
  type Profile,
  type Schedule,
  type Shape,
  type SourceFunc,
  type Target,
  type TensorType,
} from "../ir/index.js";
export { parseModule, printModule, renderDiagnostic } from "../ir/index.js";
export { fromHost, toHost, type TensorData } from "../backends/index.js";
export { compile, tryCompile, type CompileOptions, type CompileResult, type Kernel } from "./api/compile.js";
export * from "./dialects/onnx.js";
export * as directml from "./dialects/directml.js";
export * as onnx from "./dialects/onnx.js";
export * as jax from "./dialects/jax.js";
export * as moe from "./dialects/moe.js";
export * as numpy from "./dialects/numpy.js";
export * as pypto from "./dialects/pypto.js";
export * as stablehlo from "./dialects/stablehlo.js";
export * as tf from "./dialects/tf.js";
export * as torch from "./dialects/torch.js";
export { explain, type Explanation, type Infeasible } from "./api/explain.js";
export { legalTiles, type LegalOptions, type LegalTile, type LegalTiles } from "./api/legal-tiles.js";
export { program, tryProgram, type ProgramDescription } from "./api/program.js";
export {
  backendNames,
  firstDifference,
  runOn,
  type BackendChoice,
  type BackendName,
  type BackendOptions,
  type BackendRun,
} from "./api/backends.js";
export { run } from "./api/run.js";
export { meets, type Met } from "./api/meets.js";
export type { Config } from "./api/config.js";
export type { TuneOptions } from "./tune/options.js";
export type { TuneResult } from "./tune/result.js";
export { tune } from "./tune/tune.js";
