/** The backends' shared host memory. Each backend has a door of its own in its folder. */
export {
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
export { fromHost, toHost, type GatherData, type HostValue, type TensorData } from "./values.js";
