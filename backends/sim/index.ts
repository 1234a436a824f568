/** tilec/sim: runs a kernel on the tiled CPU simulation. */
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { fromHost, toHost, type GatherData, type TensorData } from "../values.js";
import { simulateChecked } from "./checked.js";
import type { SimReport } from "./report.js";

export { simulateChecked, type SimResult } from "./checked.js";
export {
  FastExecutor,
  serveThread,
  type FastOptions,
  type FastRun,
  type LongRunOptions,
  type SpawnThread,
  type ThreadMessage,
} from "./fast.js";
export { chromeTrace, estimateTiming, maxEvents, type Timing, type TimelineEvent } from "./timing.js";
export type { IndexLocality, OperandReport, SimReport } from "./report.js";

/** What a simulation needs of a kernel. */
export interface SimKernel {
  readonly tile: TileFunc;
  readonly target: Target;
}

/**
 * Runs a kernel on typed arrays and reports what it moved. Synchronous. Throws a RunError for an index out of range
 * (TC601) or a trap of the checked executor (TC602 to TC606).
 */
export function simulate(
  kernel: SimKernel,
  inputs: GatherData,
): { readonly outputs: { readonly output: TensorData }; readonly report: SimReport } {
  const { tile, target } = kernel;
  const data = toHost("data", tile.data.type, inputs.data);
  const indices = toHost("indices", tile.indices.type, inputs.indices);
  const { output, report } = simulateChecked(tile, { data, indices }, target);
  return { outputs: { output: fromHost(tile.output.type, output, data.strings) }, report };
}
