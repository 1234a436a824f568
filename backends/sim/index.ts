/** tilec/sim: runs a kernel on the tiled CPU simulation. */
import { openFormOf } from "../../ir/symbols/open.js";
import { throwIfErrors } from "../../ir/diagnostic.js";
import { outputOf, type TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { verifyOnce } from "../../ir/verify/verify-once.js";
import { checkRunnable } from "../check-kernel.js";
import { checkFields } from "../fields.js";
import type { HostInputs } from "../memory.js";
import type { SimReport } from "../report.js";
import { fromHost, stringsOf, toHosts, type GatherData, type HostValue, type TensorData } from "../values.js";
import type { MovePlan } from "../moves.js";
import { directPlanOf } from "../direct/plan.js";
import { emitFor, keptExecutors, movesOf, planWasm, printModule } from "../wasm/index.js";
import { simulateChecked, simulateCheckedLong } from "./checked.js";
import { countTraffic } from "./count.js";
import { summarize } from "./summary.js";
import { openExecutor } from "./backends.js";
import { callDirect, callDirectLong, planOfCalls } from "./direct-call.js";
import { ownOutput, type SimulatedBytes } from "./fast-report.js";
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

/** What a simulation needs of a kernel. */
export interface SimKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/** The fast executor's code for a tile program, in WebAssembly's text format. */
export const watOf = (tile: TileFunc): string => printModule(emitFor(tile).kernel.module);

/**
 * What that code does with each statement, decided before it was written, and whether a call on one thread copies its inputs for it or
 * reads them in place and does without it.
 */
export function wasmMoves(tile: TileFunc): MovePlan {
  const plan = movesOf(planWasm(openFormOf(tile)?.program ?? tile));
  const inputs = directPlanOf(tile) === undefined ? "copied" : "in place";
  return { ...plan, figures: { ...plan.figures, inputs } };
}

/** Output, as the typed array of its element type, and report of a run. */
export interface Simulated {
  readonly outputs: { readonly output: TensorData };
  /**
   * Of the fast executor: derived when it is first read. Of a run on more than 256 KiB of indices, throws a CompileError
   * (TC702) when the kernel has run again by then, or sixteen others have.
   */
  readonly report: SimReport;
}

/**
 * Runs a kernel on typed arrays and reports what it moved. Synchronous, on one thread. Throws a RunError for an index
 * out of range (TC601) or a trap of the checked executor (TC602 to TC606), a CompileError for tensors beyond the 4 GiB
 * of the fast executor (TC502) and for arguments that it does not take (TC702).
 */
export function simulate(kernel: SimKernel, inputs: GatherData, options: SimulateOptions = {}): Simulated {
  const hosts = hostsOf(kernel, inputs);
  return presented(kernel, hosts, simulateBytes(kernel, hosts, options));
}

/** The same for long work: reports progress, can be aborted, and with `threads` and `spawn` uses several threads. */
export async function simulateLong(
  kernel: SimKernel,
  inputs: GatherData,
  options: SimulateLongOptions = {},
): Promise<Simulated> {
  const hosts = hostsOf(kernel, inputs);
  return presented(kernel, hosts, await simulateBytesLong(kernel, hosts, options));
}

/** `simulate` on bytes. */
export function simulateBytes(
  kernel: SimKernel,
  inputs: HostInputs,
  options: SimulateOptions = {},
): SimulatedBytes {
  throwIfErrors(checkFields("simulate", options, simulateFields));
  checkRunnable(kernel);
  const { executor = "checked" } = options;
  const { tile, target } = kernel;
  verifyOnce(tile, target);
  if (executor === "checked") return simulateChecked(tile, inputs, target);
  const direct = planOfCalls(kernel);
  if (direct !== undefined) return callDirect(kernel, direct, inputs);
  const fast = keptExecutors.take(tile);
  try {
    return ownOutput(kernel, fast, fast.run(inputs));
  } finally {
    keptExecutors.giveBack(tile, fast);
  }
}

/** `simulateLong` on bytes. */
export async function simulateBytesLong(
  kernel: SimKernel,
  inputs: HostInputs,
  options: SimulateLongOptions = {},
): Promise<SimulatedBytes> {
  throwIfErrors(checkFields("simulateLong", options, simulateLongFields));
  checkRunnable(kernel);
  const { executor = "checked" } = options;
  const { tile, target } = kernel;
  verifyOnce(tile, target);
  if (executor === "checked") {
    refuseThreads(options);
    return simulateCheckedLong(tile, inputs, target, options);
  }
  const direct = planOfCalls(kernel, options);
  if (direct !== undefined) return callDirectLong(kernel, direct, inputs, options);
  const { executor: fast, release } = await openExecutor(tile, options);
  try {
    return ownOutput(kernel, fast, await fast.runLong(inputs, options));
  } finally {
    release();
  }
}

/** The report of a run on these indices, without the run: no element is moved. */
export function countedReport(
  { tile, target }: SimKernel,
  inputs: HostInputs,
): Omit<SimReport, "executor" | "copiedBytes"> {
  verifyOnce(tile, target);
  const counts = countTraffic(tile, inputs, target);
  return summarize(tile, target, inputs, counts, { executor: "fast", copiedBytes: 0 });
}

type Hosts = Readonly<Record<string, HostValue>>;

function hostsOf(kernel: SimKernel, inputs: GatherData): Hosts {
  checkRunnable(kernel);
  return toHosts(kernel.tile, inputs);
}

function presented({ tile }: SimKernel, hosts: Hosts, run: SimulatedBytes): Simulated {
  return {
    outputs: { output: fromHost(outputOf(tile).type, run.output, stringsOf(hosts)) },
    get report() {
      return run.report;
    },
  };
}
