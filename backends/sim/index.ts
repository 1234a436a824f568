/** tilec/sim: runs a kernel on the tiled CPU simulation. */
import { checkArgument } from "../../ir/argument.js";
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { throwIfErrors } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { verifyOnce } from "../../ir/verify/verify-once.js";
import { checkRunnable } from "../check-kernel.js";
import { checkFields } from "../fields.js";
import type { HostInputs } from "../memory.js";
import type { SimReport } from "../report.js";
import { outputData, toHosts, type GatherData, type HostValue, type TensorData } from "../values.js";
import type { MovePlan } from "../moves.js";
import { namedInputs } from "../direct/named-inputs.js";
import { directPlanOf } from "../direct/plan.js";
import { emitFor, keptExecutors, movesOf, planWasm, printWasmModule } from "../wasm/index.js";
import { simulateChecked, simulateCheckedLong } from "./checked.js";
import { countTraffic } from "./count.js";
import { summarize } from "./summary.js";
import { openExecutor } from "./backends.js";
import { runCopied, runCopiedLong } from "./copied-call.js";
import { callDirect, callDirectLong, planOfCalls, takesLarge } from "./direct-call.js";
import { LateBytes, fastOutput, type LateRun, type SimulatedBytes } from "./fast-report.js";
import { LateReport } from "./late-report.js";
import {
  refuseThreads,
  simulateFields,
  simulateLongFields,
  type SimulateLongOptions,
  type SimulateOptions,
} from "./options.js";

export { checkedBackend, fastBackend } from "./backends.js";
export { simulateChecked, type SimResult } from "./checked.js";
export type { SimulatedBytes } from "./fast-report.js";
export {
  FastExecutor,
  serveThread,
  type FastOptions,
  type FastRun,
  type SpawnThread,
  type ThreadMessage,
} from "../wasm/index.js";
export type { LongRunOptions } from "../long-run.js";
export type { SimulateLongOptions, SimulateOptions } from "./options.js";
export { chromeTrace } from "./chrome-trace.js";
export {
  maxEvents,
  maxLifetimes,
  walkOf as estimateTiming,
  type Lifetime,
  type TimelineEvent,
  type Walked as Timing,
} from "../../ir/clock/index.js";
export {
  executors,
  type Executor,
  type IndexLocality,
  type OperandReport,
  type SimReport,
} from "../report.js";

/** Kernel to simulate: a tile program and the target of the compilation. */
export interface SimKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/**
 * Returns the fast executor's code for a tile program, in WebAssembly's text format. Throws a CompileError:
 * TC702 for an invalid program, TC502 or TC505 for a program without WebAssembly code.
 */
export function watOf(tile: TileFunc): string {
  checkArgument("watOf", "tile program", tile);
  return printWasmModule(emitFor(tile).kernel.module);
}

/**
 * Returns a printable plan of the code that {@link watOf} prints: the method by which each statement moves
 * data. `figures.inputs`: the inputs that a one-thread call copies (all, selected rows, or none).
 */
export function wasmMoves(tile: TileFunc): MovePlan {
  checkArgument("wasmMoves", "tile program", tile);
  const plan = movesOf(planWasm(dynamicFormOf(tile)?.program ?? tile));
  return { ...plan, figures: { ...plan.figures, inputs: inputsOfCalls(tile) } };
}

function inputsOfCalls(tile: TileFunc): string {
  if (directPlanOf(tile) !== undefined) return "in place";
  return namedInputs(tile).length > 0 ? "named rows" : "copied";
}

/** Result of {@link simulate}: the output as a typed array, and a report. */
export interface Simulated {
  readonly outputs: { readonly output: TensorData };
  /**
   * Report of the run. Under the fast executor, it is derived when it is first read. After a run on more than
   * 256 KiB of indices, the read may come too late. It throws a CompileError (TC702) if the kernel has run
   * again by then, or if sixteen others have.
   */
  readonly report: SimReport;
}

/**
 * Simulates a kernel on typed arrays and returns the output with a report of traffic and cycles. Throws a
 * RunError (TC601 to TC606) for an invalid operation. Throws a CompileError for invalid arguments (TC702),
 * and for an input of more than 4 GiB (TC502). Only the data of a gather may be larger, if the fast executor
 * reads it without a copy.
 */
export function simulate(kernel: SimKernel, inputs: GatherData, options: SimulateOptions = {}): Simulated {
  const hosts = hostsOf(kernel, inputs, options);
  return presented(kernel, inputs, hosts, runLate(kernel, hosts, options));
}

/**
 * Simulates a kernel on typed arrays in time slices, optionally on several threads. Rejects with the errors
 * of {@link simulate} and with the signal's reason.
 */
export async function simulateLong(
  kernel: SimKernel,
  inputs: GatherData,
  options: SimulateLongOptions = {},
): Promise<Simulated> {
  const hosts = hostsOf(kernel, inputs, options);
  return presented(kernel, inputs, hosts, await runLong(kernel, hosts, options));
}

/**
 * Simulates a kernel on byte arrays and returns the output's bytes and a report. Throws the errors of {@link
 * simulate}.
 */
export function simulateBytes(
  kernel: SimKernel,
  inputs: HostInputs,
  options: SimulateOptions = {},
): SimulatedBytes {
  checkRunnable(kernel);
  return new LateBytes(runLate(kernel, inputs, options));
}

/**
 * Verifies and executes a kernel on one thread, on the executor that `options` names. Returns the output and
 * a function that derives the report. Throws a CompileError (TC702) for invalid options.
 */
function runLate(kernel: SimKernel, inputs: HostInputs, options: SimulateOptions): LateRun {
  throwIfErrors(checkFields("simulate", options, simulateFields));
  const { executor = "checked" } = options;
  const { tile, target } = kernel;
  verifyOnce(tile, target);
  if (executor === "checked") return eager(simulateChecked(tile, inputs, target));
  const direct = planOfCalls(kernel);
  if (direct !== undefined) return callDirect(kernel, direct, inputs);
  const fast = keptExecutors.take(tile);
  try {
    return fastOutput(kernel, fast, runCopied(tile, fast, inputs));
  } finally {
    keptExecutors.giveBack(tile, fast);
  }
}

/**
 * Verifies and executes a kernel in time slices, on the executor that `options` names. Resolves to the output
 * and a function that derives the report. Rejects with a CompileError (TC702) for invalid options.
 */
async function runLong(
  kernel: SimKernel,
  inputs: HostInputs,
  options: SimulateLongOptions,
): Promise<LateRun> {
  throwIfErrors(checkFields("simulateLong", options, simulateLongFields));
  const { executor = "checked" } = options;
  const { tile, target } = kernel;
  verifyOnce(tile, target);
  if (executor === "checked") {
    refuseThreads(options);
    return eager(await simulateCheckedLong(tile, inputs, target, options));
  }
  const direct = planOfCalls(kernel, options);
  if (direct !== undefined) return callDirectLong(kernel, direct, inputs, options);
  const { executor: fast, release } = await openExecutor(tile, options);
  try {
    return fastOutput(kernel, fast, await runCopiedLong(tile, fast, inputs, options));
  } finally {
    release();
  }
}

const eager = ({ output, report }: SimulatedBytes): LateRun => ({ output, derive: () => report });

/**
 * Returns the report that an execution on the inputs would give, derived from the index values without
 * computing the output.
 */
export function countedReport(
  kernel: SimKernel,
  inputs: HostInputs,
): Omit<SimReport, "executor" | "copiedBytes"> {
  checkArgument("countedReport", "kernel", kernel);
  const { tile, target } = kernel;
  verifyOnce(tile, target);
  const counts = countTraffic(tile, inputs, target);
  return summarize(tile, target, inputs, counts, { executor: "fast", copiedBytes: 0 });
}

type Hosts = Readonly<Record<string, HostValue>>;

/**
 * Converts the inputs of a call to host tensors. Throws a CompileError for invalid inputs, among them an
 * input of more than 4 GiB. Only the data of a gather may be larger, if the fast executor reads it without a
 * copy.
 */
function hostsOf(kernel: SimKernel, inputs: GatherData, options: SimulateLongOptions): Hosts {
  checkRunnable(kernel);
  const { tile, target } = kernel;
  return toHosts(tile, inputs, (operand) => {
    throwIfErrors(checkFields("simulate", options, simulateLongFields));
    if (options.executor !== "fast") return false;
    verifyOnce(tile, target);
    const plan = planOfCalls(kernel, options);
    return plan !== undefined && takesLarge(plan, operand);
  });
}

const presented = ({ tile }: SimKernel, inputs: GatherData, hosts: Hosts, run: LateRun): Simulated =>
  new Presented(outputData(tile, inputs, hosts, run.output), run);

class Presented extends LateReport implements Simulated {
  readonly outputs: Simulated["outputs"];

  constructor(output: TensorData, { derive }: LateRun) {
    super(derive);
    this.outputs = { output };
  }
}
