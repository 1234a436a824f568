/**
 * A runner as a backend: its pipelines outlive a prepared kernel. A launch runs to its end on the device; a
 * run that is aborted does not wait for it, and its buffers are destroyed when it ends.
 */
import type { Backend } from "../backend.js";
import { untilAborted } from "../long-run.js";
import type { Runner } from "./runner.js";

/** Returns the backend `webgpu`, which runs kernels through a WebGPU runner. */
export const webgpuBackend = (runner: Runner): Backend => ({
  name: "webgpu",
  prepare(kernel) {
    runner.wgsl(kernel);
    return {
      run: (inputs, { signal } = {}) =>
        untilAborted(async () => ({ output: await runner.runBytes(kernel, inputs) }), signal),
      release() {
        // The runner keeps its pipelines, bounded, for kernels that come again.
      },
    };
  },
});
