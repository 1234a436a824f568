/** Sizes that a program leaves open: symbols, binding them, and programs for all their sizes. */
export {
  bindSizes,
  bindTile,
  formatSizes,
  openFormOf,
  unbound,
  type BindResult,
  type OpenForm,
} from "./bind.js";
export { toldNames, toldValues } from "./open.js";
export * from "./symbols.js";
