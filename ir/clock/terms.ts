/**
 * The terms of the clock: cycles of each kind of work, by the figures of a target. Nothing else multiplies a
 * count by a figure.
 */
import type { BoardFigures } from "../board-figures.js";
import { targetFacts, type Target } from "../target.js";
import type { Work, WorkPipe } from "./work.js";

/** Names of the limits that may determine the cycles of some work. */
export const priceLimits = [
  "issue",
  "bytes",
  "core rate",
  "memory",
  "L2",
  "latency",
  "vector",
  "scalar",
  "simt",
  "launch",
] as const;
/** Limit that determines the cycles of some work; see {@link priceLimits}. */
export type PriceLimit = (typeof priceLimits)[number];

/** Cost of some work: its cycles, and the limit that determines them. */
export interface Price {
  readonly cycles: number;
  readonly limit: PriceLimit;
}

/**
 * Returns the rate at which one core loads, in bytes per cycle. `hits`: fraction of the bytes that L2
 * supplies, 0 to 1.
 */
export const loadRate = (hits: number, figures: BoardFigures): number =>
  1 / ((1 - hits) / figures.loadBytesPerCycle + hits / figures.l2LoadBytesPerCycle);

/**
 * Returns the cycles of transfers and their limit, without waits for completion. With a DMA engine, the
 * cycles are the largest of those for issue, bursts and bytes. Without one, they are the sum of issue cycles,
 * bytes at a bandwidth shared by `cores`, and clearing of workgroup memory. `hits`: fraction of loaded bytes
 * that L2 supplies, 0 to 1.
 */
export function transferPrice(
  { instructions, bursts, padded, cleared }: Pick<Work, "instructions" | "bursts" | "padded" | "cleared">,
  pipe: WorkPipe,
  target: Target,
  cores: number,
  hits: number,
): Price {
  const store = pipe === "MTE3";
  const issue = instructions * (store ? target.storeIssueCycles : target.loadIssueCycles);
  if (!targetFacts[target.kind].dmaEngine) {
    const rate = store ? target.storeBytesPerCycle : target.loadBytesPerCycle;
    const bytes = Math.max(padded / rate, (padded * cores) / target.gmReadBytesPerCycle);
    return {
      cycles: issue + bytes + cleared / target.clearBytesPerCycle,
      limit: issue > bytes ? "issue" : "bytes",
    };
  }
  const bytes = padded / (store ? target.storeBytesPerCycle : loadRate(hits, target));
  const split = bursts > instructions ? bursts * target.burstCycles : 0;
  if (bytes >= issue && bytes >= split) return { cycles: bytes, limit: store ? "bytes" : "core rate" };
  return issue >= split ? { cycles: issue, limit: "issue" } : { cycles: split, limit: "bytes" };
}

/**
 * Returns the cycles of the vector instructions in some work. Gathers are counted in elements on a core with
 * a DMA engine, and in instruction repeats elsewhere.
 */
export const vectorCycles = (work: Work, target: Target): number =>
  work.rows * target.gatherRowCycles +
  (targetFacts[target.kind].dmaEngine
    ? work.gathered / target.gatherElementsPerCycle
    : work.repeats * target.gatherRepeatCycles) +
  work.steps * target.stepCycles +
  (work.stepRepeats + work.conflictRepeats * target.bankConflictFactor) * target.stepRepeatCycles +
  work.copies * target.copyStartupCycles +
  work.copied / target.copyBytesPerCycle;

/**
 * Returns the cycles of the scalar unit in some work. It accesses the unified buffer and global memory, and
 * it processes each index value that selects a row to load or store.
 */
export const scalarCycles = (work: Work, target: Target): number =>
  work.scalars * target.scalarCycles +
  work.gmScalars * target.gmAccessCycles +
  work.rowIndices * target.rowIndexCycles;

/**
 * Returns the cycles of the accesses of SIMT threads and of the calls of SIMT functions. An access takes the
 * larger of its warp's cycles and its cache lines' cycles.
 */
export const threadCycles = (
  { calls, lineAccesses, warpAccesses, warpLines }: Work,
  { callCycles, simtWarpCycles, simtLineCycles }: BoardFigures,
): number =>
  calls * callCycles +
  lineAccesses * Math.max(simtWarpCycles, simtLineCycles) +
  Math.max(warpAccesses * simtWarpCycles, warpLines * simtLineCycles);

/** Returns the cycles of the waits between hardware pipes within a statement. */
export const waitCycles = ({ waits, loadWaits }: Work, target: Target): number =>
  waits * target.syncCycles + loadWaits * target.loadLatencyCycles;

/**
 * Returns the cycles from the end of a pipe's last instruction until a waiting statement on another pipe can
 * continue, without the sync itself. The result is 0 for pipes other than MTE2 and MTE3.
 */
export const latencyOf = (pipe: WorkPipe, figures: BoardFigures): number =>
  pipe === "MTE2" ? figures.loadLatencyCycles : pipe === "MTE3" ? figures.storeLatencyCycles : 0;
