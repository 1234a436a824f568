/**
 * tilec/backends: what a backend of one's own is made of: the interface, host memory, index values, the error
 * of a bad one.
 */
export {
  indexOutOfRange,
  indexReader,
  inputTensor,
  type Backend,
  type BackendKernel,
  type HostInputs,
  type HostTensor,
  type IndexReader,
  type PreparedKernel,
} from "../../backends/index.js";
