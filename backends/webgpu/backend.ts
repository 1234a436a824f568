/** A runner as a backend: its pipelines outlive a prepared kernel. */
import type { Backend } from "../backend.js";
import type { Runner } from "./runner.js";

export const webgpuBackend = (runner: Runner): Backend => ({
  name: "webgpu",
  prepare(kernel) {
    runner.wgsl(kernel);
    return {
      run: async (inputs) => ({ output: await runner.runBytes(kernel, inputs) }),
      release() {
        // The runner keeps its pipelines, bounded, for kernels that come again.
      },
    };
  },
});
