/** wasm: tile programs as WebAssembly, and the executor that runs them. */
export { emitFor, emitWasm, hasTasks, type WasmKernel } from "./emit.js";
export { encodeModule } from "./encode.js";
export { FastExecutor, type FastOptions, type FastRun } from "./executor.js";
export { KeptExecutors, keptExecutors } from "./cached-executors.js";
export { movesOf } from "./moves.js";
export { planWasm, type WasmPlan } from "./plan.js";
export { printWasmModule } from "./print.js";
export { serveThread, type SpawnThread, type ThreadMessage } from "./thread.js";
