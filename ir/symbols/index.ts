/** Sizes that a program leaves open: symbols, binding them, and programs for all their sizes. */
export { bindSizes, bindSome, bindTile, formatSizes, unbound, withMost, type BindResult } from "./bind.js";
export { openFormOf, toldNames, toldValues } from "./open.js";
export * from "./symbols.js";
