/**
 * Shared parts of the backends: the interface, host memory, and checks of arguments. Each of these has its
 * own entry point in its folder.
 */
export type { Backend, BackendKernel, BackendRun, PreparedKernel } from "./backend.js";
export { printMoves, singleCopies, type MovePlan } from "./moves.js";
export {
  amount,
  anyList,
  anyObject,
  byName,
  callable,
  checkFields,
  choice,
  filledText,
  finite,
  isObject,
  isRecord,
  kindOf,
  lacking,
  leaf,
  listOf,
  oneOf,
  problemsOf,
  record,
  refusal,
  shownValue,
  shownKey,
  takes,
  text,
  integer,
  yesOrNo,
  type Field,
  type FieldOptions,
  type Fields,
  type Schema,
} from "./fields.js";
export { BoundedCache } from "./cache.js";
export { indexInputs, indexTables } from "./index-inputs.js";
export { checkRunnable, checkKernel } from "./check-kernel.js";
export { bodyField, dtypeField, mapField, nameField } from "./ir-fields.js";
export {
  allocateArray,
  coordinates,
  indexReader,
  packedBits,
  putPackedBits,
  inputTensor,
  type HostInputs,
  type HostTensor,
  type IndexReader,
} from "./memory.js";
export { resolvedIndices, indexOutOfRange } from "./resolved-indices.js";
export {
  checkTensors,
  fromHost,
  outputData,
  maxStrings,
  packedValue,
  shareStrings,
  stringsOf,
  toHost,
  toHosts,
  type GatherData,
  type HostValue,
  type TensorData,
} from "./values.js";
