/** The two executors as backends. */
import { defined } from "../../ir/defined.js";
import type { TileFunc } from "../../ir/func.js";
import { verifyOnce } from "../../ir/verify/verify-once.js";
import type { Backend } from "../backend.js";
import { FastExecutor, type FastOptions } from "../wasm/executor.js";
import { simulateCheckedLong } from "./checked.js";
import { runCopiedLong } from "./copied-call.js";
import { callDirectLong, planOfCalls } from "./direct-call.js";
import { keptExecutors } from "../wasm/cached-executors.js";
import { LateBytes, fastOutput } from "./fast-report.js";

/** Backend `sim`: simulates a tile program and checks every memory access. */
export const checkedBackend: Backend = {
  name: "sim",
  prepare({ tile, target }) {
    verifyOnce(tile, target);
    return {
      async run(inputs, options = {}) {
        const { output, report } = await simulateCheckedLong(tile, inputs, target, options);
        return options.report === true ? { output, report } : { output };
      },
      release() {
        // It holds nothing.
      },
    };
  },
};

/**
 * Opens an executor of a tile program. Resolves to the executor and a function that releases the executor.
 * Rejects with a CompileError: TC502 for tensors that are too large, TC702 for invalid options.
 */
export async function openExecutor(
  tile: TileFunc,
  options: FastOptions,
): Promise<{ readonly executor: FastExecutor; readonly release: () => void }> {
  if ((options.threads ?? 1) === 1) {
    const executor = keptExecutors.take(tile);
    return {
      executor,
      release() {
        keptExecutors.giveBack(tile, executor);
      },
    };
  }
  const { threads, spawn } = options;
  const executor = await FastExecutor.open(tile, {
    ...defined({ threads, spawn }),
  });
  return {
    executor,
    release() {
      void executor.close();
    },
  };
}

/**
 * Returns a backend that runs tile programs on the fast executor: directly on the caller's arrays if
 * possible, else as WebAssembly on copies. WebAssembly runs of one kernel are sequential.
 */
export const fastBackend = (options: FastOptions = {}): Backend => ({
  name: "sim",
  async prepare(kernel) {
    verifyOnce(kernel.tile, kernel.target);
    const direct = planOfCalls(kernel, options);
    if (direct !== undefined) {
      return {
        async run(inputs, runOptions = {}) {
          const result = await callDirectLong(kernel, direct, inputs, runOptions);
          return runOptions.report === true ? new LateBytes(result) : { output: result.output };
        },
        release() {
          // It holds nothing.
        },
      };
    }
    const { executor, release } = await openExecutor(kernel.tile, options);
    let latest: Promise<unknown> = Promise.resolve();
    return {
      run(inputs, runOptions = {}) {
        const run = latest.then(async () => {
          const result = await runCopiedLong(kernel.tile, executor, inputs, runOptions);
          return runOptions.report === true
            ? new LateBytes(fastOutput(kernel, executor, result, Infinity))
            : { output: new Uint8Array(result.output) };
        });
        latest = run.catch(() => undefined);
        return run;
      },
      release() {
        void latest.then(release);
      },
    };
  },
});
