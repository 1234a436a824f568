/** The options of a simulation, and what each takes. */
import { CompileError, error } from "../../ir/diagnostic.js";
import { callable, isObject, oneOf, type Fields } from "../fields.js";
import type { LongRunOptions } from "../long-run.js";
import { threadsField, type FastOptions } from "../wasm/executor.js";
import { executors, type Executor } from "../report.js";

/** Options of a simulation: the executor that runs the program. */
export interface SimulateOptions {
  /** Default `checked`. */
  readonly executor?: Executor;
}

/** Options of `simulateLong`: the executor, the threads, an abort signal, and a callback for progress. */
export interface SimulateLongOptions extends SimulateOptions, LongRunOptions, FastOptions {}

/** Validation rules for the options of `simulate`, by option name. */
export const simulateFields: Fields<SimulateOptions> = { executor: oneOf(executors) };

/** Validation rules for the options of `simulateLong`, by option name. */
export const simulateLongFields: Fields<SimulateLongOptions> = {
  ...simulateFields,
  threads: threadsField,
  spawn: callable,
  signal: {
    code: "TC702",
    takes: "an AbortSignal",
    holds: (value) => isObject(value) && typeof value["aborted"] === "boolean",
  },
  onProgress: callable,
};

/** Throws a CompileError (TC702) if `threads` is given, because the checked executor has one thread. */
export function refuseThreads({ threads }: SimulateLongOptions): void {
  if (threads === undefined) return;
  const hint = 'executor: "fast" has threads';
  throw new CompileError([error("TC702", "the checked executor has one thread", { hint })]);
}
