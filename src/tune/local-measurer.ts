/**
 * The fast executor on the calling thread as what measures: in a browser, and inside the thread that
 * `tilec/node` can end. A run under way cannot be stopped here.
 */
import { checkApiArgument } from "../api/argument-kinds.js";
import { checkArgument } from "../../ir/argument.js";
import { FastExecutor, type SpawnThread } from "../../backends/sim/index.js";
import { defined, CompileError, RunError, type TileFunc } from "../../ir/index.js";
import type { MeasuredTask, Measurer } from "./measurer.js";
import type { MeasureOptions, Measurement } from "./search-ms.js";
import { poisonByte, timed, type TimedSubject } from "./timed.js";

/** Options of {@link localMeasurer}, which runs candidates in this process. */
export interface LocalOptions {
  /** Name of the machine in records. */
  readonly device?: string;
  /**
   * Number of threads of the fast executor; default 1. More than one thread requires `spawn`, which starts a
   * thread. The `terminate` method of a thread may return a promise.
   */
  readonly threads?: number;
  readonly spawn?: SpawnThread;
}

/**
 * Returns a measurer that runs candidates in the calling process with the fast executor. The inputs are
 * copied once, into memory that all candidates use in turn.
 */
export function localMeasurer(
  task: Pick<MeasuredTask, "inputs" | "expected">,
  options: LocalOptions = {},
): Measurer {
  checkApiArgument("localMeasurer", "measured task", task);
  checkArgument("localMeasurer", "object", options);
  const { device = "this machine", threads = 1, spawn } = options;
  const { inputs, expected } = task;
  let latest: FastExecutor | undefined;
  const executorOf = async (tile: TileFunc): Promise<FastExecutor> => {
    const before = latest;
    const memory = defined({ before });
    // Until the next one has it: one that does not start may have it already.
    latest = undefined;
    const executor =
      threads === 1 || spawn === undefined
        ? FastExecutor.create(tile, memory)
        : await FastExecutor.open(tile, { ...memory, threads, spawn });
    if (before === undefined) {
      for (const [name, tensor] of Object.entries(inputs)) executor.inputs[name]?.bytes.set(tensor.bytes);
    }
    latest = executor;
    return executor;
  };
  return {
    device,
    async measure(tile: TileFunc, options: MeasureOptions): Promise<Measurement> {
      try {
        const executor = await executorOf(tile);
        try {
          return await timed(subjectOf(executor), expected, options);
        } finally {
          await executor.close();
        }
      } catch (thrown) {
        return failedMeasurement(thrown);
      }
    },
    close() {
      latest = undefined;
    },
  };
}

const subjectOf = (executor: FastExecutor): TimedSubject => ({
  run() {
    executor.run();
  },
  poison() {
    executor.output.fill(poisonByte);
  },
  output: () => executor.output,
});

/**
 * Returns a measurement with status `error` and the code and message of the thrown CompileError or RunError.
 * Throws any other error.
 */
export function failedMeasurement(thrown: unknown): Measurement {
  if (thrown instanceof CompileError || thrown instanceof RunError) {
    const [first] = thrown.diagnostics;
    if (first !== undefined) return { status: "error", code: first.code, reason: first.message };
  }
  throw thrown;
}
