/**
 * How many copies of an operand's tile the unified buffer holds.
 *
 * Only what is streamed has two: an operand whose tile a loop moves, so that the next tile can come while this one is in
 * use. A slab that is whole, or that its loops leave where it is, keeps one. Where each task has a unified buffer of its
 * own, the loops of tasks move nothing within it. An output that the parts of a sum write one after another keeps one, since
 * each write turns to the other copy.
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

/** Whether a schedule asks for a second copy of anything. */
export const doubles = (buffers: Buffers): boolean =>
  typeof buffers === "number" ? buffers === 2 : Object.values(buffers).includes(2);

/** Whether several iterations write one tile: the output follows every loop but that of a sum's terms. */
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

/** Operands that a second copy is of use to. */
export const streamedOperands = (tiling: Looped): readonly TiledOperand[] =>
  tiling.operands.filter((operand) => isStreamed(tiling, operand));

export const copiesOf = (tiling: Looped, operand: TiledOperand): Copies =>
  requestedFor(tiling.schedule.buffers, operand.operand) === 2 && isStreamed(tiling, operand) ? 2 : 1;

/** What asks for two copies of these streamed operands, in its shortest form. */
export function buffersOf(tiling: Looped, doubled: readonly TiledOperand[]): Buffers {
  if (doubled.length === 0) return 1;
  if (doubled.length === streamedOperands(tiling).length) return 2;
  return Object.fromEntries(doubled.map(({ operand }) => [keyOf(operand), 2]));
}

/** Operands of which a schedule asks for a second copy by name, and that keep one. */
export const keptSingle = (tiling: Looped): readonly TiledOperand[] =>
  typeof tiling.schedule.buffers === "number"
    ? []
    : tiling.operands.filter(
        (operand) =>
          requestedFor(tiling.schedule.buffers, operand.operand) === 2 && !isStreamed(tiling, operand),
      );
