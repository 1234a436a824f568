/** tilec's subjects of bench:sim, of any build: each runs one workload on inputs it was given once. */
import { kernelOf } from "./kernels.js";
import type { SimLibrary } from "./library.js";
import type { Subject } from "./rows.js";
import type { Inputs, Workload } from "./workloads.js";

export async function tilec(
  library: SimLibrary,
  workload: Workload,
  inputs: Inputs,
  threads: number,
): Promise<Subject> {
  const { FastExecutor, spawnThread, targets } = library;
  const executor = await FastExecutor.open(kernelOf(library, workload, targets.cpu).tile, {
    threads,
    spawn: spawnThread,
  });
  // Its own memory: a run copies nothing.
  executor.inputs["data"]!.bytes.set(inputs.data);
  executor.inputs["indices"]!.bytes.set(inputs.indices);
  return {
    subject: "tilec",
    threads,
    run() {
      executor.run();
      return undefined;
    },
    output: () => executor.output,
    async close() {
      await executor.close();
    },
  };
}

/** The call that the README shows: from the caller's arrays to a new array, on the fast executor. */
export function tilecCall(library: SimLibrary, workload: Workload, inputs: Inputs): Subject {
  const { simulate, targets } = library;
  const kernel = kernelOf(library, workload, targets.cpu);
  let latest: ReturnType<typeof simulate> | undefined;
  return {
    subject: "tilec-call",
    threads: 1,
    run() {
      latest = simulate(kernel, { data: inputs.data, indices: inputs.indices }, { executor: "fast" });
      return undefined;
    },
    output() {
      const output = latest?.outputs.output;
      if (!ArrayBuffer.isView(output)) throw new Error("the call gave no array");
      return new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
    },
  };
}
