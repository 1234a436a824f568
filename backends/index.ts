/** The backends' shared host memory. Each backend has a door of its own in its folder. */
export type { Backend, BackendKernel, BackendRun, PreparedKernel, RunOptions } from "./backend.js";
export { printMoves, singleCopies, type Move, type MovePlan } from "./moves.js";
export {
  coordinates,
  indexOutOfRange,
  indexReader,
  tensorOf,
  unitsOf,
  type MappedInputs,
  type HostInputs,
  type HostTensor,
  type IndexReader,
} from "./memory.js";
export {
  fromHost,
  stringsOf,
  toHost,
  toHosts,
  type GatherData,
  type HostValue,
  type TensorData,
} from "./values.js";
