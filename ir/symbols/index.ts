/** Sizes that a program leaves open: symbols, binding them, and programs for all their sizes. */
export {
  bindSizes,
  bindSome,
  bindTile,
  formatSizes,
  unbound,
  withMaxSizes,
  type BindResult,
} from "./bind.js";
export { dynamicFormOf, runtimeParamNames, runtimeParamValues } from "./dynamic.js";
export * from "./symbols.js";
