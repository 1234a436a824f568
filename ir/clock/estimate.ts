/**
 * The clock's number, roughly and at a small cost: from the work of one whole tile and the trips of the loops. It cuts a search
 * down to the few schedules that are worth their exact cycles; nothing reports it.
 */
import { targetFacts } from "../target.js";
import { ubStrides, type Pipe } from "../tile.js";
import { copiesOf, operandRowBytes, type Tiling } from "../tiling/index.js";
import { at, dtypeBytes } from "../types.js";
import { cyclesOfWork, gatherWork, sharedCycles, transferWork, type Held, type Work } from "./statement.js";

/** Estimated cycles of schedules with the tile and residency of this one: they differ in view, order and buffers alone. */
export function estimator(tiling: Tiling): (variant: Tiling) => number {
  const { target, operands, tile, gather, lowering } = tiling;
  const held = operands.map((operand): Held => {
    const { type } = operand.operand;
    if (!operand.inUb) return { type };
    const { dtype } = type;
    return {
      type,
      inTile: ubStrides({ dtype, shape: operand.tile, rowBytes: operandRowBytes(tiling, operand) }),
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
  const [head, load, store]: [Moves, Moves, Moves] = [nothing(), nothing(), nothing()];
  let padded = gather.padded * tiles;
  transfers.forEach((work, k) => {
    if (work === undefined) return;
    const last = k === operands.length - 1;
    const operand = at(operands, k);
    const runs = last ? tiles : runsIn(operand.follows);
    const cycles = cyclesOfWork(work, last ? "MTE3" : "MTE2", target, cores);
    const copies = copiesOf(variant, operand) === 2 ? "double" : "single";
    padded += work.padded * runs;
    if (last) store[copies] = cycles;
    else if (runs < tiles) head[copies] += runs * cycles;
    else load[copies] += cycles;
  });
  const gathering = cyclesOfWork(gather, pipe, target, cores);
  const task = taskCycles({ head, load, gathering, store, tiles }, variant, pipe);
  const first = target.scalarCycles * lowering.once.scalars + target.stepCycles * lowering.once.steps;
  const done = Math.max(first + most * task.each + task.fill, sharedCycles(most * padded, target, cores));
  return done + tasks * target.taskCycles;
}

/** Cycles of what is moved through one copy of its tile, and through two. */
interface Moves {
  single: number;
  double: number;
}

const nothing = (): Moves => ({ single: 0, double: 0 });

interface TaskParts {
  /** Loads that stand before the tiles of a task, over all of it. */
  readonly head: Moves;
  /** Of one tile. */
  readonly load: Moves;
  readonly gathering: number;
  readonly store: Moves;
  /** Tiles of a task. */
  readonly tiles: number;
}

/** Cycles between one task and the next, and those that only the first one adds. */
function taskCycles({ head, load, gathering, store, tiles }: TaskParts, { target }: Tiling, pipe: Pipe) {
  const wait = target.syncCycles;
  const [loads, stores] = [load.single + load.double, store.single + store.double];
  const sum = loads + gathering + stores;
  const [onLoads, onGathers] = pipe === "MTE2" ? [loads + gathering, 0] : [loads, gathering];
  // Tasks with a unified buffer of their own wait for nothing of the one before.
  const free = targetFacts[target.kind].privateUb;
  if (!target.overlaps) return { each: head.single + head.double + tiles * sum, fill: 0 };
  // Through one copy the next load runs beside the store, both wait for the gather, and it for them.
  const beside = pipe === "MTE2" ? loads + store.single : Math.max(load.single, store.single);
  const chained = !free && (store.single > 0 || (load.single > 0 && pipe !== "MTE2"));
  const round = Math.max(
    onGathers,
    stores,
    free ? 0 : (sum + 3 * wait) / 2,
    chained ? gathering + beside + 2 * wait : 0,
  );
  const before = free ? 0 : head.single;
  const behind = head.single + head.double - before;
  return {
    each: before + Math.max(behind + tiles * onLoads, tiles * round),
    fill: chained
      ? Math.min(loads, stores)
      : (tiles * onLoads < tiles * round ? behind : 0) + sum - Math.max(onLoads, onGathers, stores),
  };
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
