/**
 * Number of copies of an operand's tile in the unified buffer.
 *
 * Only a streamed operand has two copies: a loop moves its tile, so that the next tile can arrive while this
 * one is in use. A slab that is whole, or that its loops leave in place, keeps one. Where each task has a
 * unified buffer of its own, the loops over tasks move nothing within it. An output that the chunks of a
 * reduction write one after another keeps one copy, because each write switches to the other copy.
 */
import { isScatter } from "../access.js";
import { entryOf } from "../entry-of.js";
import { keyOf, type Operand } from "../func.js";
import type { Buffers, Copies, ResolvedSchedule } from "../schedule.js";
import { targetFacts } from "../target.js";
import type { Loop } from "./loops.js";
import type { TiledGather, TiledOperand } from "./tiled.js";

type Looped = Pick<TiledGather, "gather" | "target" | "operands"> & {
  readonly schedule: Pick<ResolvedSchedule, "buffers">;
  readonly loops: readonly Loop[];
};

/** Copies that a schedule asks for. */
const requestedFor = (buffers: Buffers, operand: Operand): Copies =>
  typeof buffers === "number" ? buffers : (entryOf(buffers, keyOf(operand)) ?? 1);

/** True if a schedule requests two copies (double buffering) of the tile of at least one operand. */
export const doubles = (buffers: Buffers): boolean =>
  typeof buffers === "number" ? buffers === 2 : Object.values(buffers).includes(2);

/**
 * True if an operand is the output and several iterations write each of its tiles. Only a loop over reduction
 * elements has this effect, because the output depends on every other loop.
 */
export const isWrittenInPieces = ({ loops }: Looped, { operand, dependsOn }: TiledOperand): boolean =>
  operand.role === "output" && loops.some(({ dim }) => !dependsOn.has(dim));

const isStreamed = (tiling: Looped, tiled: TiledOperand): boolean =>
  tiled.inUb &&
  // A scatter's points follow one another, and one copy of each tile serves them.
  !isScatter(tiling.gather.map) &&
  !isWrittenInPieces(tiling, tiled) &&
  isTransferred(tiling, tiled);

const isTransferred = ({ loops, target }: Looped, { dependsOn }: TiledOperand): boolean =>
  loops.some(
    (loop) => dependsOn.has(loop.dim) && (loop.mode === "serial" || !targetFacts[target.kind].privateUb),
  );

/**
 * Returns the operands whose tiles in the unified buffer (UB) a loop changes, so that a second copy lets the
 * next tile arrive early. An output that several iterations write, and the operands of a scatter, are left
 * out.
 */
export const streamedOperands = (tiling: Looped): readonly TiledOperand[] =>
  tiling.operands.filter((operand) => isStreamed(tiling, operand));

/**
 * Returns the number of copies of an operand's tile in the unified buffer (UB). It is 2 if the schedule
 * requests a second copy and a loop changes the tile, else 1.
 */
export const copiesOf = (tiling: Looped, operand: TiledOperand): Copies =>
  requestedFor(tiling.schedule.buffers, operand.operand) === 2 && isStreamed(tiling, operand) ? 2 : 1;

/**
 * Returns the shortest `buffers` entry of a schedule that requests two copies of the tiles of the operands
 * `doubled`.
 */
export function buffersOf(tiling: Looped, doubled: readonly TiledOperand[]): Buffers {
  if (doubled.length === 0) return 1;
  if (doubled.length === streamedOperands(tiling).length) return 2;
  return Object.fromEntries(doubled.map(({ operand }) => [keyOf(operand), 2]));
}

/**
 * Returns the operands for which a schedule requests two copies of the tile by name, although they can have
 * only one copy ({@link copiesOf}). An empty list if the schedule names no operands.
 */
export const keptSingle = (tiling: Looped): readonly TiledOperand[] =>
  typeof tiling.schedule.buffers === "number"
    ? []
    : tiling.operands.filter(
        (operand) =>
          requestedFor(tiling.schedule.buffers, operand.operand) === 2 && !isStreamed(tiling, operand),
      );
