/**
 * Cycles of one core's pipes for tasks that are alike. The first tasks are simulated one by one; each other
 * task takes the mean of the last simulated ones.
 */
import { targetFacts, type Target } from "../target.js";
import type { Copies } from "../schedule.js";
import { latest, never, Recurrence, repeatRuns } from "./max-plus.js";
import { latencyOf } from "./terms.js";

/** Cycles of a statement on a full tile, and on the partial last tile of a task. */
export interface Took {
  readonly full: number;
  readonly rest: number;
}

/** Cycles of a load or a store, with the number of copies (1 or 2) of the tile. */
export interface MoveTime extends Took {
  readonly copies: Copies;
}

/** Cycles of the loads, the gather and the store of one task, with the number of tiles. */
export interface TaskMoves {
  /** Loads that run once for the task, before the tiles. */
  readonly head: readonly MoveTime[];
  /** Loads that run for each tile. */
  readonly loads: readonly MoveTime[];
  readonly gather: Took;
  readonly store: MoveTime | undefined;
  /** Number of tiles of the task; a fraction if the last tile is partial. */
  readonly tiles: number;
  /** True if a loop of the task goes over its tiles. */
  readonly looped: boolean;
  /** True if the gather runs on the pipe of the loads. */
  readonly fetches: boolean;
}

/**
 * Runs of a body that are followed one by one; of the last of them, the number after which two copies have
 * taken turns.
 */
const followed = 6;
const steps = 2;

/**
 * Indices into the times of the recurrence. The first three are the times at which the pipes are free. The
 * others are earlier times, for which two copies wait. `gathered` and `gatheredTask`: gathers, when the
 * previous tile and task began. `stored`: stores, when the previous gather began.
 */
const [loading, gathering, storing, gathered, gatheredTask, stored] = [0, 1, 2, 3, 4, 5];
const recurrence = new Recurrence(1);

/**
 * Returns the cycles until a core has finished `tasks` equal tasks with overlapping hardware pipes. `start`:
 * cycle at which the first gather can begin.
 */
export function pipelined(task: TaskMoves, tasks: number, start: number, target: Target): number {
  const { head, loads, gather, store, fetches } = task;
  const sync = Math.ceil(target.syncCycles);
  /** Until who waits for a load, a store or a gather goes on. */
  const afterLoad = sync + Math.ceil(latencyOf("MTE2", target));
  const afterStore = sync + Math.ceil(latencyOf("MTE3", target));
  const afterGather = fetches ? afterLoad : sync;
  const shared = !targetFacts[target.kind].privateUb;
  const carried = shared || task.looped;
  const ready = [0, start, 0, never, never, never];
  function load(moves: readonly MoveTime[], size: keyof Took, waits: boolean, earlier: number): void {
    for (const move of moves) {
      if (waits && !fetches) recurrence.wait(ready, loading, move.copies === 2 ? earlier : gathering, sync);
      recurrence.delay(ready, loading, move[size]);
    }
    recurrence.record(ready, gathering, earlier);
    if (moves.length > 0 && !fetches) recurrence.wait(ready, gathering, loading, afterLoad);
  }
  function tile(size: keyof Took): void {
    load(loads, size, carried, gathered);
    if (fetches) recurrence.wait(ready, gathering, loading, 0);
    if (store !== undefined && carried) {
      if (store.copies === 2) recurrence.waitForEarlier(ready, gathering, storing, stored, afterStore);
      else recurrence.wait(ready, gathering, storing, afterStore);
    }
    recurrence.delay(ready, gathering, gather[size]);
    if (fetches) recurrence.wait(ready, loading, gathering, 0);
    if (store === undefined) return;
    recurrence.wait(ready, storing, gathering, afterGather);
    recurrence.delay(ready, storing, store[size]);
  }

  const full = Math.floor(task.tiles);
  repeatRuns(ready, tasks, followed, steps, () => {
    load(head, "full", shared, gatheredTask);
    repeatRuns(ready, full, followed, steps, () => {
      tile("full");
    });
    if (task.tiles > full) tile("rest");
  });
  return latest(ready);
}

/** Returns the cycles of one task on a machine whose hardware pipes do not overlap. */
export function oneByOne({ head, loads, gather, store, tiles }: TaskMoves): number {
  const full = Math.floor(tiles);
  const sum = (moves: readonly Took[], size: keyof Took): number =>
    moves.reduce((cycles, move) => cycles + move[size], 0);
  const each = store === undefined ? [...loads, gather] : [...loads, gather, store];
  return sum(head, "full") + full * sum(each, "full") + (tiles > full ? sum(each, "rest") : 0);
}
