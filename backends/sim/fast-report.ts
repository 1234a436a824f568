/** The report of a run on the fast executor, derived when it is first read. */
import { CompileError, error } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import type { SimReport } from "../report.js";
import type { FastExecutor, FastRun } from "../wasm/executor.js";
import { countTraffic } from "./count.js";
import { summarize } from "./summary.js";

/** Output of a fast run, and its report, derived when it is first read. */
export interface SimulatedBytes {
  /** The output's elements, row-major. */
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** What a program of a target makes of a run. */
export interface FastKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/**
 * The output as the caller's own, and a report from the indices that lie in the executor's memory. A kernel that has run again
 * by the time the report is first read has other indices there: a CompileError (TC702).
 */
export function ownOutput(
  { tile, target }: FastKernel,
  executor: FastExecutor,
  { output, copied }: FastRun,
): SimulatedBytes {
  const { runs, inputs } = executor;
  let derived: SimReport | undefined;
  return {
    // Made from an array, it is not zeroed first.
    output: new Uint8Array(output),
    get report() {
      if (derived === undefined && executor.runs !== runs) {
        throw new CompileError([
          error("TC702", "the kernel has run again since, and the indices of this run are gone", {
            hint: "read the report before the kernel's next run",
          }),
        ]);
      }
      derived ??= summarize(tile, target, inputs, countTraffic(tile, inputs, target), {
        executor: "fast",
        copiedBytes: copied.bytes,
      });
      return derived;
    },
  };
}
