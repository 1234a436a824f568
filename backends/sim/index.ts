/** tilec/sim: runs a kernel on the tiled CPU simulation. */
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { fromHost, toHost, type GatherData, type HostValue, type TensorData } from "../values.js";
import { simulateChecked, simulateCheckedLong } from "./checked.js";
import { countTraffic } from "./count.js";
import { FastExecutor, type FastOptions } from "../wasm/executor.js";
import type { LongRunOptions } from "../long-run.js";
import type { Executor, SimReport } from "./report.js";
import { summarize } from "./summary.js";
import type { HostInputs } from "../memory.js";
import { emitWasm, printModule } from "../wasm/index.js";

export { simulateChecked, type SimResult } from "./checked.js";
export {
  FastExecutor,
  serveThread,
  type FastOptions,
  type FastRun,
  type SpawnThread,
  type ThreadMessage,
} from "../wasm/executor.js";
export type { LongRunOptions } from "../long-run.js";
export {
  executors,
  type Executor,
  type IndexLocality,
  type OperandReport,
  type SimReport,
} from "./report.js";

/** What a simulation needs of a kernel. */
export interface SimKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/** The fast executor's code for a tile program, in WebAssembly's text format. */
export const watOf = (tile: TileFunc): string => printModule(emitWasm(tile).module);

export interface SimulateOptions {
  /** Default `checked`. */
  readonly executor?: Executor;
}

export interface SimulateLongOptions extends SimulateOptions, LongRunOptions, FastOptions {}

export interface Simulated {
  readonly outputs: { readonly output: TensorData };
  readonly report: SimReport;
}

/**
 * Runs a kernel on typed arrays and reports what it moved. Synchronous, on one thread. Throws a RunError for an index
 * out of range (TC601) or a trap of the checked executor (TC602 to TC606), a CompileError (TC502) for tensors beyond
 * the 4 GiB of the fast executor.
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

export interface SimulatedBytes {
  readonly output: Uint8Array;
  readonly report: SimReport;
}

/** `simulate` on bytes. */
export function simulateBytes(
  { tile, target }: SimKernel,
  inputs: HostInputs,
  { executor = "checked" }: SimulateOptions = {},
): SimulatedBytes {
  if (executor === "checked") return simulateChecked(tile, inputs, target);
  const run = FastExecutor.create(tile).run(inputs);
  return fastReport(tile, target, inputs, run);
}

/** `simulateLong` on bytes. */
export async function simulateBytesLong(
  { tile, target }: SimKernel,
  inputs: HostInputs,
  { executor = "checked", ...options }: SimulateLongOptions = {},
): Promise<SimulatedBytes> {
  if (executor === "checked") return simulateCheckedLong(tile, inputs, target, options);
  const fast = await FastExecutor.open(tile, options);
  try {
    return fastReport(tile, target, inputs, await fast.runLong(inputs, options));
  } finally {
    fast.close();
  }
}

function fastReport(
  tile: TileFunc,
  target: Target,
  inputs: HostInputs,
  { output, copied }: ReturnType<FastExecutor["run"]>,
): SimulatedBytes {
  const counts = countTraffic(tile, inputs, target);
  const report = summarize(tile, target, inputs, counts, { executor: "fast", copiedBytes: copied.bytes });
  return { output, report };
}

const hostsOf = ({ tile }: SimKernel, inputs: GatherData): { data: HostValue; indices: HostValue } => ({
  data: toHost("data", tile.data.type, inputs.data),
  indices: toHost("indices", tile.indices.type, inputs.indices),
});

const presented = (
  { tile }: SimKernel,
  { data }: { readonly data: HostValue },
  { output, report }: SimulatedBytes,
): Simulated => ({ outputs: { output: fromHost(tile.output.type, output, data.strings) }, report });
