/**
 * Cost model of a walk. The unit is a byte that is copied into a memory of WebAssembly, about 0.12 ns. The
 * constants are fitted to the times of 330 calls, each measured with a walk and with copies. The calls have
 * 16 to 65,536 indices, rows of 4 to 1024 bytes, and data of up to 32 MiB. For 9 of these calls, the model
 * chooses the way that takes more than 10 % longer. Copies of named rows use the same constants, with units
 * of a byte.
 */
import { shortRowUnits } from "./move-rows.js";
import type { GatherWalk } from "./walk.js";

/** An index value that is resolved by the block, and one that a sum or other values lead to. */
const lineTime = 40;
const indexTime = 2048;
/** A row and a unit of it that a loop moves, and a call of the engine's that moves a row. */
const rowTime = 120;
const unitTime = 20;
const setTime = 800;

/** Estimated time of one WebAssembly call, as the number of bytes that are copied in the same time. */
export const callTime = 2 ** 17;

/**
 * Returns the estimated time to resolve and move `rows` rows, as the number of bytes that are copied in the
 * same time. `rowBytes`: bytes of a row. `unit`: bytes of a moved unit.
 */
export function walkTime(
  walk: GatherWalk,
  sizes: readonly number[],
  rows: number,
  rowBytes: number,
  unit: number,
): number {
  const { alone, inBlocks } = walk.valuesOf(sizes);
  const units = rowBytes / unit;
  const move = units <= shortRowUnits ? rowTime + unitTime * units : setTime + rowBytes;
  return indexTime * alone + lineTime * Math.max(rows, inBlocks) + rows * move;
}
