/**
 * The terms of the clock: cycles of each kind of work, by the figures of a target. Nothing else multiplies a
 * count by a figure.
 */
import type { BoardFigures } from "../board-figures.js";
import { targetFacts, type Target } from "../target.js";
import type { Work, WorkPipe } from "./work.js";

/** Limits that may decide a price. */
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
/** Limit that decides a price. */
export type PriceLimit = (typeof priceLimits)[number];

/** Cycles of some work, and the limit that decides them. */
export interface Price {
  readonly cycles: number;
  readonly limit: PriceLimit;
}

/**
 * Returns the rate of one core's loads in bytes per cycle. `hits`: the fraction of the bytes found in L2, 0
 * to 1.
 */
export const loadRate = (hits: number, figures: BoardFigures): number =>
  1 / ((1 - hits) / figures.loadBytesPerCycle + hits / figures.l2LoadBytesPerCycle);

/**
 * Returns the price of transfers, without the waits for their completion. A DMA engine takes the larger of
 * issue, bursts and bytes. Elsewhere each run of memory waits for its first bytes, and `cores` share the
 * bandwidth. Workgroup memory is cleared before it is loaded. `hits`: the fraction of loaded bytes found in
 * L2, 0 to 1.
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
 * Returns the cycles of vector instructions. Gathers count by elements on a core with a DMA engine, by
 * repeats elsewhere.
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

/** Returns the cycles of the scalar unit. */
export const scalarCycles = (work: Work, target: Target): number =>
  work.scalars * target.scalarCycles +
  work.gmScalars * target.gmAccessCycles +
  work.rowIndices * target.rowIndexCycles;

/**
 * Returns the cycles of SIMT threads and of the calls of their functions. An access takes the larger of its
 * warp's cycles and its lines' cycles.
 */
export const threadCycles = (
  { calls, lineAccesses, warpAccesses, warpLines }: Work,
  { callCycles, simtWarpCycles, simtLineCycles }: BoardFigures,
): number =>
  calls * callCycles +
  lineAccesses * Math.max(simtWarpCycles, simtLineCycles) +
  Math.max(warpAccesses * simtWarpCycles, warpLines * simtLineCycles);

/** Returns the cycles of the waits between pipes within a statement. */
export const waitCycles = ({ waits, loadWaits }: Work, target: Target): number =>
  waits * target.syncCycles + loadWaits * target.loadLatencyCycles;

/**
 * Returns the cycles from the end of a pipe's last instruction until a statement that waits for it can
 * continue.
 */
export const latencyOf = (pipe: WorkPipe, figures: BoardFigures): number =>
  pipe === "MTE2" ? figures.loadLatencyCycles : pipe === "MTE3" ? figures.storeLatencyCycles : 0;
