/**
 * What a walk takes, in bytes that are copied into a memory of WebAssembly in the same time: about 0.12 ns each. Fitted to the times of 330
 * calls both ways: 16 to 65,536 indices, rows of 4 to 1024 bytes, data of up to 32 MiB. For 9 of them it chooses the way that takes more
 * than 10 % longer. Copies of named rows are weighed by the same times, in units of a byte.
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

/** A call of WebAssembly. */
export const callTime = 2 ** 17;

/** A walk over an output of some sizes, whose rows a loop moves by units of so many bytes. */
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
