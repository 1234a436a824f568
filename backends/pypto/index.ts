export { emitPypto, emitPyptoValue } from "./emit.js";
export { typeNames } from "./type-names.js";
export { emitPyptoScatter } from "./scatter.js";
