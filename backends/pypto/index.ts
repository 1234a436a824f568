export { emitPypto } from "./emit.js";
