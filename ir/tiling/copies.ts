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
 * True if an operand is the output and several iterations write each tile of the output, as in a loop over
 * chunks of a reduction.
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
 * Returns the operands for which double buffering is useful: a loop changes the tile in the unified buffer
 * (UB). Outputs that several iterations write, and operands of a scatter, are omitted.
 */
export const streamedOperands = (tiling: Looped): readonly TiledOperand[] =>
  tiling.operands.filter((operand) => isStreamed(tiling, operand));

/**
 * Returns the number of copies (1 or 2) of an operand's tile in the unified buffer (UB). Two copies need a
 * request in the schedule and a loop that changes the tile.
 */
export const copiesOf = (tiling: Looped, operand: TiledOperand): Copies =>
  requestedFor(tiling.schedule.buffers, operand.operand) === 2 && isStreamed(tiling, operand) ? 2 : 1;

/**
 * Returns the shortest `buffers` schedule entry that requests two copies of the tiles of the operands
 * `doubled`.
 */
export function buffersOf(tiling: Looped, doubled: readonly TiledOperand[]): Buffers {
  if (doubled.length === 0) return 1;
  if (doubled.length === streamedOperands(tiling).length) return 2;
  return Object.fromEntries(doubled.map(({ operand }) => [keyOf(operand), 2]));
}

/**
 * Returns the operands that have only one copy of the tile although the schedule entry `buffers` requests two
 * copies for their key. The list is empty if `buffers` is one number for all operands.
 */
export const keptSingle = (tiling: Looped): readonly TiledOperand[] =>
  typeof tiling.schedule.buffers === "number"
    ? []
    : tiling.operands.filter(
        (operand) =>
          requestedFor(tiling.schedule.buffers, operand.operand) === 2 && !isStreamed(tiling, operand),
      );
