/**
 * The clock's number, roughly and at a small cost: from the work of one whole tile and the trips of the loops. It cuts a search
 * down to the few schedules that are worth their exact cycles; nothing reports it.
 */
import { targetFacts } from "../target.js";
import { ubStrides, type Pipe } from "../tile.js";
import { rowBytes, type Tiling } from "../tiling/index.js";
import { at, dtypeBytes } from "../types.js";
import { cyclesOfWork, gatherWork, sharedCycles, transferWork, type Held, type Work } from "./statement.js";

/** Estimated cycles of schedules with the tile and residency of this one: they differ in view, order and buffers alone. */
export function estimator(tiling: Tiling): (variant: Tiling) => number {
  const { target, operands, tile, gather, lowering } = tiling;
  const held = operands.map(({ operand, tile: own, inUb }): Held => {
    const { type } = operand;
    if (!inUb) return { type };
    const { dtype } = type;
    return {
      type,
      inTile: ubStrides({ dtype, shape: own, rowBytes: rowBytes(own, dtype, target.blockBytes) }),
    };
  });
  const works = operands.map(({ tile: own, inUb }, k) =>
    inUb ? transferWork(at(held, k), own, target) : undefined,
  );
  const output = at(held, held.length - 1);
  const own = gatherWork({ map: gather.map, inputs: held.slice(0, -1), output, lowering }, tile, target);
  const wide = gather.operands.some(({ role, type }) => role === "indices" && dtypeBytes[type.dtype] === 8);
  const pipe: Pipe = at(operands, 0).inUb ? (wide ? "S" : "V") : "MTE2";
  return (variant) => estimated(variant, works, own, pipe);
}

function estimated(
  variant: Tiling,
  transfers: readonly (Work | undefined)[],
  gather: Work,
  pipe: Pipe,
): number {
  const { operands, target, schedule, lowering } = variant;
  const trips = tripsOf(variant);
  const tasks = trips.reduce((product, loop) => (loop.parallel ? product * loop.whole : product), 1);
  const cores = Math.max(1, Math.min(schedule.cores, tasks));
  const most = Math.ceil(tasks / cores);
  const serial = trips.filter((loop) => !loop.parallel);
  /** Runs in a task of a statement that stays in the loops up to the last one of these dims. */
  const runsIn = (follows: ReadonlySet<number>): number => {
    const last = serial.findLastIndex((loop) => follows.has(loop.dim));
    return serial.slice(0, last + 1).reduce((product, loop) => product * loop.mean, 1);
  };
  const tiles = serial.reduce((product, loop) => product * loop.mean, 1);
  let [head, load, store, padded] = [0, 0, 0, gather.padded * tiles];
  transfers.forEach((work, k) => {
    if (work === undefined) return;
    const last = k === operands.length - 1;
    const runs = last ? tiles : runsIn(at(operands, k).follows);
    const cycles = cyclesOfWork(work, last ? "MTE3" : "MTE2", target, cores);
    padded += work.padded * runs;
    if (last) store = cycles;
    else if (runs < tiles) head += runs * cycles;
    else load += cycles;
  });
  const gathering = cyclesOfWork(gather, pipe, target, cores);
  const task = taskCycles({ head, load, gathering, store, tiles }, variant, pipe);
  const first = target.scalarCycles * lowering.once.scalars + target.stepCycles * lowering.once.steps;
  const done = Math.max(first + most * task.each + task.fill, sharedCycles(most * padded, target, cores));
  return done + tasks * target.taskCycles;
}

interface TaskParts {
  /** Loads that stand before the tiles of a task, over all of it. */
  readonly head: number;
  /** Of one tile. */
  readonly load: number;
  readonly gathering: number;
  readonly store: number;
  /** Tiles of a task. */
  readonly tiles: number;
}

/** Cycles between one task and the next, and those that only the first one adds. */
function taskCycles(
  { head, load, gathering, store, tiles }: TaskParts,
  { schedule, target }: Tiling,
  pipe: Pipe,
) {
  const wait = target.syncCycles;
  const sum = load + gathering + store;
  // Tasks with a unified buffer of their own wait for nothing of the one before.
  const free = targetFacts[target.kind].privateUb;
  if (!target.overlaps) return { each: head + tiles * sum, fill: 0 };
  const [onLoads, onGathers] = pipe === "MTE2" ? [load + gathering, 0] : [load, gathering];
  if (free || schedule.buffers === 2) {
    const round = Math.max(onGathers, store, free ? 0 : (sum + 3 * wait) / 2);
    return {
      each: Math.max(head + tiles * onLoads, tiles * round),
      fill: (tiles * onLoads < tiles * round ? head : 0) + sum - Math.max(onLoads, onGathers, store),
    };
  }
  // The next load runs beside the store, and both are waited for.
  const round = pipe === "MTE2" ? sum : gathering + Math.max(load, store);
  return { each: head + tiles * (round + 2 * wait), fill: Math.min(load, store) };
}

/** Iterations of each loop: in the longest view, and as so many whole tiles as there are elements for. */
function tripsOf({ loops, schedule, extents, tile }: Tiling) {
  return loops.map(({ dim, kind, mode }) => {
    const extent = at(extents, dim);
    const view = Math.min(at(schedule.view, dim), extent);
    const entry = at(tile, dim);
    const [span, step] = kind === "view" ? [extent, view] : [view, entry];
    return { dim, parallel: mode === "parallel", whole: Math.ceil(span / step), mean: span / step };
  });
}
