/** The backends' shared host memory. Each backend has a door of its own in its folder. */
export {
  allocate,
  coordinates,
  indexOutOfRange,
  indexReader,
  outOfRange,
  resolveIndex,
  unitsOf,
  zeroFill,
  type HostInputs,
  type HostTensor,
  type IndexReader,
} from "./memory.js";
export {
  callable,
  checkFields,
  checkKernel,
  isObject,
  oneOf,
  shown,
  wholeNumber,
  yesOrNo,
  type Field,
  type FieldOptions,
  type Fields,
} from "./fields.js";
export {
  fromHost,
  maxStrings,
  toHost,
  toHosts,
  type GatherData,
  type HostValue,
  type TensorData,
} from "./values.js";
