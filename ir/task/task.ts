/** Work of a tile program in each iteration of its parallel loops: load, gather, store. */
import { derivedOnce } from "../derived-once.js";
import { checkArgument } from "../argument.js";
import { outputOf, type TileFunc } from "../func.js";
import type { GatherStmt, LoadStmt, Region, StoreStmt } from "../tile.js";
import { nestOf, type ParallelNest } from "./nest.js";
import { isGather, statementsOf, type Located } from "./statements.js";

/**
 * Parts of a tile program that {@link taskOfTile} finds: its parallel loops, its gather, the loads for the
 * gather and the store of its result. A hand-written program may have more loads and stores.
 */
export interface Task {
  /** The loops whose iterations are tasks, and what one of them runs. */
  readonly nest: ParallelNest;
  /** Absent where the program gathers nothing: its output has no elements. */
  readonly gather?: Located<GatherStmt>;
  /**
   * By the name of the UB buffer that the gather reads: its only load, in a body around the gather and before
   * it.
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
 * Returns the parallel loops, gather, loads and store of a tile program. The program need not be verified.
 * The result is cached by program.
 */
export function taskOfTile(func: TileFunc): Task {
  checkArgument("taskOfTile", "tile program", func);
  return tasks(func);
}

/**
 * Returns the parallel loops and the gather of a tile program, with the loads of the buffers that the gather
 * reads and the store of its tile. A load or store is left out unless it is the only load or store of its
 * buffer.
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
 * True if a store comes after a gather in the list of statements that contains the gather. For a gather of
 * reduction chunks, the store must come after the loop over the chunks.
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
 * Returns the region of the output, in global memory, that the gather's tile covers. The gather or a store
 * writes it. Undefined if there is no gather, or no store of its tile.
 */
export function outputRegion(func: TileFunc, { gather, store }: Task): Region | undefined {
  return gather?.stmt.to.buffer === outputOf(func).name ? gather.stmt.to : store?.stmt.to;
}

/**
 * Returns the name of the tensor that a gather reads through a region (`buffer`). `loaded`: the part of the
 * tensor that was loaded to the region's buffer in the unified buffer (UB). It is absent if the region is in
 * the tensor itself.
 */
export function tensorRegion(
  { loads }: Task,
  { buffer }: Region,
): { readonly buffer: string; readonly loaded?: Region } {
  const loaded = loads.get(buffer)?.stmt.from;
  return loaded === undefined ? { buffer } : { buffer: loaded.buffer, loaded };
}
