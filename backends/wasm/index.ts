/** wasm: tile programs as WebAssembly, for the simulation's fast executor. */
export { emitWasm, type WasmKernel } from "./emit.js";
export { encodeModule } from "./encode.js";
export { controlBytes, pagesFor, type WasmLayout } from "./layout.js";
export { pageBytes } from "./instructions.js";
export { printModule } from "./print.js";
