/**
 * The terms of the clock: cycles of each kind of work, by the figures of a target. Nothing else multiplies a
 * count by a figure.
 */
import type { BoardFigures } from "../board-figures.js";
import { targetFacts, type Target } from "../target.js";
import type { Work, WorkPipe } from "./work.js";

/** Names of the limits that may determine the cycles of an amount of work. */
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
/** Limit that determines the cycles of an amount of work; see {@link priceLimits}. */
export type PriceLimit = (typeof priceLimits)[number];

/** Cost of an amount of work: cycles, and the limit that determines the cycles. */
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
 * Returns the cycles that one core's pipe takes for its transfers, and the limit that determines the number
 * of cycles, such as `issue` or `core rate`. The cycles exclude the wait until the transfers are complete.
 * `hits`: fraction of loaded bytes that L2 supplies, 0 to 1.
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

/** Returns the cycles of the vector instructions in an amount of work. */
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
 * Returns the cycles of the scalar unit for an amount of work: memory accesses, and index values that select
 * rows.
 */
export const scalarCycles = (work: Work, target: Target): number =>
  work.scalars * target.scalarCycles +
  work.gmScalars * target.gmAccessCycles +
  work.rowIndices * target.rowIndexCycles;

/** Returns the cycles of SIMT threads for an amount of work: memory accesses and calls of SIMT functions. */
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
 * Returns the latency of a hardware pipe, in cycles: the time from the end of an instruction until a waiting
 * statement on another pipe can continue. The cycles of the sync itself are not included. The result is 0 for
 * pipes other than MTE2 and MTE3.
 */
export const latencyOf = (pipe: WorkPipe, figures: BoardFigures): number =>
  pipe === "MTE2" ? figures.loadLatencyCycles : pipe === "MTE3" ? figures.storeLatencyCycles : 0;
