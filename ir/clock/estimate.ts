/**
 * The clock's number, roughly and at a small cost: from the work of one whole tile and the trips of the loops. It cuts a search
 * down to the few schedules that are worth their exact cycles; nothing reports it.
 */
import { gatheredTable } from "../access.js";
import { targetFacts } from "../target.js";
import { ubStrides, type Pipe } from "../tile.js";
import { copiesOf, operandRowBytes, type Tiling } from "../tiling/index.js";
import { hasWideIndices } from "../regions.js";
import { at } from "../types.js";
import { cyclesOfWork, gatherWork, sharedCycles, transferWork, type Held, type Work } from "./statement.js";

/** Estimated cycles of schedules with the tile and residency of this one: they differ in view, order and buffers alone. */
export function estimator(tiling: Tiling): (variant: Tiling) => number {
  const { target, operands, tile, gather, lowering } = tiling;
  const held: Held[] = [];
  const transfers: (Work | undefined)[] = [];
  for (const operand of operands) {
    const { type } = operand.operand;
    const rowBytes = operand.inUb ? operandRowBytes(tiling, operand) : 0;
    const own: Held = operand.inUb
      ? { type, inTile: ubStrides({ dtype: type.dtype, shape: operand.tile, rowBytes }) }
      : { type };
    held.push(own);
    transfers.push(operand.inUb ? transferWork(own, operand.tile, target) : undefined);
  }
  const output = at(held, held.length - 1);
  const own = gatherWork({ map: gather.map, inputs: held.slice(0, -1), output, lowering }, tile, target);
  const pipe = at(operands, gatheredTable).inUb ? (hasWideIndices(gather) ? "S" : "V") : "MTE2";
  return (variant) => estimated(variant, transfers, own, pipe);
}

function estimated(
  variant: Tiling,
  transfers: readonly (Work | undefined)[],
  gather: Work,
  pipe: Pipe,
): number {
  const { operands, target, schedule, lowering } = variant;
  const { tasks, serial, tiles } = tripsOf(variant);
  const cores = Math.max(1, Math.min(schedule.cores, tasks));
  const most = Math.ceil(tasks / cores);
  /** Runs in a task of a statement that stays in the loops up to the last one of these dims. */
  const runsIn = (follows: ReadonlySet<number>): number => {
    let [runs, product] = [1, 1];
    for (const { dim, mean } of serial) {
      product *= mean;
      if (follows.has(dim)) runs = product;
    }
    return runs;
  };
  const [head, load, store]: [Moves, Moves, Moves] = [nothing(), nothing(), nothing()];
  let padded = gather.padded * tiles;
  for (let k = 0; k < transfers.length; k++) {
    const work = transfers[k];
    if (work === undefined) continue;
    const last = k === operands.length - 1;
    const operand = at(operands, k);
    const runs = last ? tiles : runsIn(operand.follows);
    const cycles = cyclesOfWork(work, last ? "MTE3" : "MTE2", target, cores);
    const copies = copiesOf(variant, operand) === 2 ? "double" : "single";
    padded += work.padded * runs;
    if (last) store[copies] = cycles;
    else if (runs < tiles) head[copies] += runs * cycles;
    else load[copies] += cycles;
  }
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

/** Iterations of the parallel loops together, and of the serial ones in the longest view: as so many whole tiles as there are elements for. */
function tripsOf({ loops, schedule, extents, tile }: Tiling) {
  const serial: { readonly dim: number; readonly mean: number }[] = [];
  let [tasks, tiles] = [1, 1];
  for (const { dim, kind, mode } of loops) {
    const extent = at(extents, dim);
    const view = Math.min(at(schedule.view, dim), extent);
    const mean = kind === "view" ? extent / view : view / at(tile, dim);
    if (mode === "parallel") tasks *= Math.ceil(mean);
    else {
      tiles *= mean;
      serial.push({ dim, mean });
    }
  }
  return { tasks, serial, tiles };
}
