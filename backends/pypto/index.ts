export { computedForPypto, emitPypto } from "./emit.js";
