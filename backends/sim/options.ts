/** The options of a simulation, and what each takes. */
import { callable, isObject, oneOf, wholeNumber, type Fields } from "../fields.js";
import type { LongRunOptions } from "../long-run.js";
import type { FastOptions } from "../wasm/executor.js";
import { executors, type Executor } from "../report.js";

export interface SimulateOptions {
  /** Default `checked`. */
  readonly executor?: Executor;
}

export interface SimulateLongOptions extends SimulateOptions, LongRunOptions, FastOptions {}

export const simulateFields: Fields<SimulateOptions> = { executor: oneOf(executors) };

export const simulateLongFields: Fields<SimulateLongOptions> = {
  ...simulateFields,
  threads: wholeNumber(1),
  spawn: callable,
  signal: {
    code: "TC702",
    takes: "an AbortSignal",
    holds: (value) => isObject(value) && typeof value["aborted"] === "boolean",
  },
  onProgress: callable,
};
