export { computedForPypto, emitPypto, typeNames } from "./emit.js";
