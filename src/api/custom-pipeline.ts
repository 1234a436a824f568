/** What a kernel that passes of the user's made moves and takes: by the program that runs, where it is not the one of its schedule. */
import { indexInputs } from "../../backends/index.js";
import { countedReport } from "../../backends/sim/index.js";
import {
  cyclesOf,
  entryOf,
  invariant,
  isResolved,
  keyOf,
  printFunc,
  Tiling,
  type AccessFunc,
  type ClockResult,
  type Traffic,
} from "../../ir/index.js";
import { clockOf, decided, lowered } from "../../passes/index.js";
import { randomValue } from "../testing/random.js";
import type { Kernel } from "./compile.js";

/** Figures of a kernel under the schedule that ran. */
export interface RunFigures {
  readonly tiling: Tiling;
  readonly clock: ClockResult;
  readonly traffic: Traffic;
  /** Bytes of unified buffer. */
  readonly ubBytes: number;
}

/** The schedule of the program that runs, which a pass may have changed since it was chosen. */
export function tilingOfRun(kernel: Kernel, gather: AccessFunc): Tiling | undefined {
  const { schedule } = kernel.tile;
  return isResolved(schedule) ? new Tiling(gather, schedule, kernel.target) : undefined;
}

/** The program that runs is the one of its schedule, or it is counted, with rows that random indices pick. */
export function runFigures(kernel: Kernel, tiling: Tiling): RunFigures {
  const { tile, target } = kernel;
  if (printFunc(tile) === printFunc(lowered(tiling))) {
    const { traffic, footprint } = decided(tiling);
    return { tiling, clock: clockOf(tiling), traffic, ubBytes: footprint.planned };
  }
  const inputs = Object.fromEntries(
    indexInputs(tile).map((operand) => [keyOf(operand), randomValue(operand, tile, 1)]),
  );
  const report = countedReport(kernel, inputs);
  const { operands, bytesRead, bytesWritten, compulsoryBytes, tasks, gathers, ubPeak } = report;
  const traffic: Traffic = {
    operands: tile.operands.map((operand) => {
      const key = keyOf(operand);
      const counted = entryOf(operands, key);
      invariant(counted !== undefined, `${key} is counted`);
      const { bytes, compulsory, transfers, bursts } = counted;
      const burst = bursts === 0 ? 0 : Math.round(bytes / bursts);
      return { operand: key, role: operand.role, bytes, compulsory, transfers, burst };
    }),
    bytes: bytesRead + bytesWritten,
    compulsory: compulsoryBytes,
    tasks,
    tiles: gathers,
    loops: tiling.loops,
  };
  return { tiling, clock: cyclesOf(tile, target), traffic, ubBytes: ubPeak };
}
