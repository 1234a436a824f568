/** tilec/pto: tile programs as PTO-ISA C++, text only. */
export { emitPto } from "./emit.js";
export type { PtoBuffer, PtoKernel, PtoParam } from "./kernel.js";
