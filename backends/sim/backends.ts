/** The two executors as backends. */
import { verifyOnce } from "../../ir/verify/verify-once.js";
import type { Backend } from "../backend.js";
import { FastExecutor, type FastOptions } from "../wasm/executor.js";
import { simulateCheckedLong } from "./checked.js";
import { indicesNow, withReport } from "./fast-report.js";

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

/** Runs of one prepared kernel share its memory: they follow one another. */
export const fastBackend = (options: FastOptions = {}): Backend => ({
  name: "sim",
  async prepare(kernel) {
    verifyOnce(kernel.tile, kernel.target);
    const executor = await FastExecutor.open(kernel.tile, options);
    let latest: Promise<unknown> = Promise.resolve();
    return {
      run(inputs, runOptions = {}) {
        const run = latest.then(async () => {
          const ran = await executor.runLong(inputs, runOptions);
          const output = ran.output.slice();
          if (runOptions.report !== true) return { output };
          return withReport(kernel, indicesNow(kernel.tile, executor.inputs), output, ran);
        });
        latest = run.catch(() => undefined);
        return run;
      },
      release() {
        executor.close();
      },
    };
  },
});
