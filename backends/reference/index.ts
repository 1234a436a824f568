/** tilec/reference: what a gather means, by the operator's definition or by a program's own access map. */
export { referenceBackend } from "./backend.js";
export type { ReferenceProgram } from "./defined-map.js";
export { referenceOfMap } from "./reference-of-map.js";
export { reference } from "./reference.js";
