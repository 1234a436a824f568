/**
 * Traffic, cycles and UB use of a kernel that the user's passes made. They are counted on the program that
 * runs if it differs from the program of its schedule.
 */
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

/**
 * Estimated cycles, memory traffic and unified buffer (UB) bytes of a kernel, as returned by {@link
 * runFigures}.
 */
export interface RunFigures {
  readonly tiling: Tiling;
  readonly clock: ClockResult;
  readonly traffic: Traffic;
  /** Bytes of unified buffer. */
  readonly ubBytes: number;
}

/**
 * Returns the tiling of a kernel: the kernel's access program `gather` with the schedule that the kernel's
 * tile program states. Undefined if that schedule is incomplete.
 */
export function tilingOfRun(kernel: Kernel, gather: AccessFunc): Tiling | undefined {
  const { schedule } = kernel.tile;
  return isResolved(schedule) ? new Tiling(gather, schedule, kernel.target) : undefined;
}

/**
 * Returns the estimated cycles, memory traffic and unified buffer (UB) bytes of a kernel. `tiling`: the
 * schedule in use.
 */
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
