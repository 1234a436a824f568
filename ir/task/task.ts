/** Work of a tile program in each iteration of its parallel loops: load, gather, store. */
import { derivedOnce } from "../derived-once.js";
import { checkArgument } from "../argument.js";
import { outputOf, type TileFunc } from "../func.js";
import type { GatherStmt, LoadStmt, Region, StoreStmt } from "../tile.js";
import { nestOf, type ParallelNest } from "./nest.js";
import { isGather, statementsOf, type Located } from "./statements.js";

/**
 * Parts of a tile program, as returned by {@link taskOfTile}: parallel loops, gather, loads for the gather,
 * and store of the gather's result. For a scatter, only the parallel loops.
 */
export interface Task {
  /** Parallel loops whose iterations are tasks, and the statements of a task. */
  readonly nest: ParallelNest;
  /** Absent for a scatter, and for a gather whose output has no elements. */
  readonly gather?: Located<GatherStmt>;
  /**
   * Loads of the UB buffers that the gather reads, by buffer name. A load is the only one of the buffer, and
   * precedes the gather in an enclosing body.
   */
  readonly loads: ReadonlyMap<string, Located<LoadStmt>>;
  /**
   * The only store of the gather's tile, in the gather's own body and behind it. Absent where there is none
   * of that kind.
   */
  readonly store?: Located<StoreStmt>;
}

const tasks = derivedOnce(newTask);

/**
 * Returns the parallel loops, gather, loads and store of a tile program. For a scatter, returns only the
 * parallel loops, with an empty map of loads. The program need not be verified.
 */
export function taskOfTile(func: TileFunc): Task {
  checkArgument("taskOfTile", "tile program", func);
  return tasks(func);
}

/**
 * Returns the parallel loops, gather, loads and store of a tile program; only the parallel loops if there is
 * no gather. A load or store is omitted if a second statement loads to, or stores from, the same buffer, or
 * if it is not in the place that {@link Task} states.
 */
function newTask(func: TileFunc): Task {
  const all = statementsOf(func);
  const nest = nestOf(func);
  const loads = new Map<string, Located<LoadStmt>>();
  const gather = all.find(isGather);
  if (gather === undefined) return { nest, loads };
  const { from, to } = gather.stmt;
  const filling = all.filter(isLoad);
  for (const { buffer } of from) {
    const load = only(filling.filter(({ stmt }) => stmt.to === buffer));
    if (load !== undefined && feeds(load, gather)) loads.set(buffer, load);
  }
  const store = only(all.filter(isStore).filter(({ stmt }) => stmt.from === to.buffer));
  const takes = store !== undefined && isAfter(store, gather);
  return takes ? { nest, gather, loads, store } : { nest, gather, loads };
}

/**
 * True if a store follows a gather in program order. For a gather that combines chunks of reduction elements
 * in a loop, the store must follow the loop.
 */
function isAfter(store: Located, gather: Located<GatherStmt>): boolean {
  if (store.body === gather.body) return store.place > gather.place;
  const reduction = gather.loops.at(-1);
  return (
    gather.stmt.chunk !== undefined &&
    reduction !== undefined &&
    store.loops.length === gather.loops.length - 1 &&
    store.body.includes(reduction) &&
    store.place > store.body.indexOf(reduction)
  );
}

const only = <T>(list: readonly T[]): T | undefined => (list.length === 1 ? list[0] : undefined);

const isLoad = (located: Located): located is Located<LoadStmt> => located.stmt.op === "load";
const isStore = (located: Located): located is Located<StoreStmt> => located.stmt.op === "store";

/** True if a load is in a body around the gather, before the gather. */
const feeds = (load: Located, gather: Located): boolean =>
  load.loops.every((loop, k) => gather.loops[k] === loop) &&
  load.place < load.body.indexOf(gather.loops[load.loops.length] ?? gather.stmt);

/**
 * Returns the region of the output, in global memory, to which the gather's tile is written. Undefined for a
 * program without a gather or store.
 */
export function outputRegion(func: TileFunc, { gather, store }: Task): Region | undefined {
  return gather?.stmt.to.buffer === outputOf(func).name ? gather.stmt.to : store?.stmt.to;
}

/**
 * Returns the name of the tensor that a gather reads through a region (result field `buffer`). Result field
 * `loaded`: part of the tensor that was loaded to the unified buffer (UB); absent if the region is in global
 * memory.
 */
export function tensorRegion(
  { loads }: Task,
  { buffer }: Region,
): { readonly buffer: string; readonly loaded?: Region } {
  const loaded = loads.get(buffer)?.stmt.from;
  return loaded === undefined ? { buffer } : { buffer: loaded.buffer, loaded };
}
