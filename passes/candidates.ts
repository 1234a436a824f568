/**
 * The schedules worth weighing for a gather: along each output dim a number of tile entries that grows with the logarithm of
 * its extent, and for each tile the views, orders and buffers that the user left open.
 */
import { followedBy, gatheredTable } from "../ir/access.js";
import { inputOf } from "../ir/func.js";
import { targetFacts } from "../ir/target.js";
import {
  buffersOf,
  pinnedDims,
  replaced,
  smallest,
  streamedOperands,
  volume,
  type Tiling,
} from "../ir/tiling/index.js";
import { at, dtypeBytes } from "../ir/types.js";

/** The schedules that are worth weighing from one starting point. */
export interface Candidates {
  /** The smallest tile, with every pinned dim as its rule wants it. */
  readonly start: Tiling;
  /** Output dims that a tile may cut, outermost first. */
  readonly free: readonly number[];
  /** Tile entries along each of them, ascending; the last is all that a view leaves. */
  readonly entries: ReadonlyMap<number, readonly number[]>;
}

/** What a tiling leaves open, as schedules to weigh; what the user pinned stays. */
export function candidates(tiling: Tiling): Candidates {
  const { gather, schedule, extents } = tiling;
  const start = smallest(tiling).with({ view: schedule.view });
  const pins = pinnedDims(gather, schedule);
  const limits = limitsOf(tiling);
  const free = extents.map((_, d) => d).filter((d) => !pins.includes(d) && at(limits, d) > 1);
  return { start, free, entries: new Map(free.map((d) => [d, entriesOf(d, at(limits, d), tiling)])) };
}

/** What a tile covers at most along each dim. */
export const limitsOf = ({ extents, schedule }: Tiling): number[] =>
  extents.map((extent, d) => Math.max(1, Math.min(extent, at(schedule.view, d))));

/** Whole blocks along the last dim, by what they hold of the data. */
const someBlocks = [1, 2, 3, 4, 6, 8];

function entriesOf(d: number, limit: number, { gather, schedule, target, extents }: Tiling): number[] {
  const entries = new Set([limit]);
  for (let n = 1; n < limit; n *= 2) {
    entries.add(n);
    if (3 * n < limit) entries.add(3 * n);
  }
  if (d === extents.length - 1) {
    const lanes = Math.max(1, target.blockBytes / dtypeBytes[inputOf(gather, gatheredTable).type.dtype]);
    for (const blocks of someBlocks) if (blocks * lanes < limit) entries.add(blocks * lanes);
  }
  // As many tiles as cores, or a few times as many, and a few tiles.
  for (const rounds of [1, 2, 3, 4]) {
    entries.add(Math.ceil(limit / (rounds * schedule.cores)));
    entries.add(Math.ceil(limit / (rounds + 1)));
  }
  return [...entries].sort((a, b) => a - b);
}

/** Whether a tile is within so many bytes of UB, which are at most the budget, and no longer than a task in place should be. */
export function fits(tiling: Tiling, room: number): boolean {
  const { schedule, target, footprint } = tiling;
  if (schedule.residency === "gm" && volume(tiling.tile) > target.directElements) return false;
  return Math.max(footprint.bytes, footprint.planned) <= room;
}

/** Bytes of UB that a chosen tile may take: within the target's safe size, where the smallest tile leaves that choice. */
export function roomOf(start: Tiling): number {
  const { target } = start;
  const { ubBytes } = start.schedule;
  const safe = ubBytes === target.ubBytes ? target.ubSafeBytes : ubBytes;
  return fits(start, safe) ? safe : ubBytes;
}

/** The schedules of one tile within so many bytes of UB: every view, order and buffers that the user left open. */
export const variants = (tiling: Tiling, room: number): Tiling[] =>
  [tiling, ...splitView(tiling), ...reordered(tiling)]
    .flatMap((viewed) => [viewed, ...doubled(viewed, room)])
    .filter((variant) => fits(variant, room));

/**
 * Two copies of all that is streamed; where these do not fit, or leave the gather another lowering, also of some of it. Two
 * cost at most their syncs more than one, so with fewer there is nothing to win elsewhere.
 */
function doubled(tiling: Tiling, room: number): Tiling[] {
  const { gather, target } = tiling;
  if (gather.schedule.buffers !== undefined || !targetFacts[target.kind].doubleBuffers) return [];
  const streamed = streamedOperands(tiling);
  if (streamed.length === 0) return [];
  const all = tiling.with({ buffers: 2 });
  if (fits(all, room) && all.lowering.class === tiling.lowering.class) return [all];
  const some = streamed
    .reduce<(typeof streamed)[]>((sets, operand) => [...sets, ...sets.map((set) => [...set, operand])], [[]])
    .filter((set) => set.length > 0 && set.length < streamed.length);
  return [all, ...some.map((set) => tiling.with({ buffers: buffersOf(tiling, set) }))];
}

/** The output's own order of loops: where no view may split those of indices alone, they become tasks in it. */
function reordered(tiling: Tiling): Tiling[] {
  const { gather, schedule } = tiling;
  const natural = schedule.order.map((_, d) => d);
  const open = gather.schedule.order === undefined && gather.schedule.view !== undefined;
  if (!open || schedule.residency === "gm" || natural.join() === schedule.order.join()) return [];
  return [tiling.with({ order: natural })];
}

/** A view that splits the loops of indices alone until every core has a task. */
function splitView(tiling: Tiling): Tiling[] {
  const { gather, schedule, tile, loops } = tiling;
  if (gather.schedule.view !== undefined || schedule.residency === "gm") return [];
  const limits = limitsOf(tiling);
  const trips = (d: number): number => Math.ceil(at(limits, d) / at(tile, d));
  const parallel = loops.reduce(
    (tasks, loop) => (loop.mode === "parallel" ? tasks * trips(loop.dim) : tasks),
    1,
  );
  if (parallel >= schedule.cores) return [];
  const follows = followedBy(gather.map, gatheredTable);
  const reused = loops.find((loop) => loop.mode === "serial" && !follows.has(loop.dim));
  if (reused === undefined) return [];
  const { dim } = reused;
  const parts = Math.min(trips(dim), Math.ceil(schedule.cores / parallel));
  const entry = Math.ceil(trips(dim) / parts) * at(tile, dim);
  return entry < at(limits, dim) ? [tiling.with({ view: replaced(schedule.view, dim, entry) })] : [];
}
