/** ONNX import: models, tensors, the gathers in them, and backend-test folders as cases. */
export {
  findGathers,
  fixedInputs,
  dynamicInputs,
  surveyModel,
  type OnnxFolded,
  type OnnxGather,
  type OnnxDynamic,
  type OnnxSurvey,
  type OnnxUncompiled,
} from "./gathers.js";
export type { Bindings } from "./bindings.js";
export { labelOf } from "./label-of.js";
export { comparison, type FoldCycles } from "./fold-cycles.js";
export type { FoldOptions } from "./fold-options.js";
export { foldPolicies, type FoldPolicy } from "./fold-policies.js";
export type {
  Dim,
  OnnxAttribute,
  OnnxFunction,
  OnnxGraph,
  OnnxModel,
  OnnxNode,
  OnnxTensor,
  OnnxTensorType,
  OnnxValue,
} from "./model.js";
export { isNodeTestFolder, readNodeTest, readNodeTestFolder } from "./node-test.js";
export { placementOf, type Placed, type PlacedProgram } from "./placement.js";
export { readModel } from "./read-model.js";
export { readTensor, readTensorFile } from "./read-tensor.js";
export type { OnnxUse } from "./uses.js";
