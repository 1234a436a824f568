/** How long the pipes of one core take over tasks that are alike: the first of them one by one, the others as the last of those. */
import { targetFacts, type Target } from "../target.js";
import type { Copies } from "../schedule.js";
import { latest, never, Recurrence, repeatRuns } from "./max-plus.js";
import { latencyOf } from "./terms.js";

/** Cycles of a statement on a whole tile, and on the part of one that a task ends with. */
export interface Took {
  readonly full: number;
  readonly rest: number;
}

/** What a load or a store takes, through so many copies of its tile. */
export interface MoveTime extends Took {
  readonly copies: Copies;
}

/** What each task does. */
export interface TaskMoves {
  /** Loads that stand before its tiles. */
  readonly head: readonly MoveTime[];
  /** For each tile. */
  readonly loads: readonly MoveTime[];
  readonly gather: Took;
  readonly store: MoveTime | undefined;
  /** A whole number of tiles, and a part of one. */
  readonly tiles: number;
  /** Whether a loop of the task goes over them. */
  readonly looped: boolean;
  /** Whether the gather runs on the pipe of the loads. */
  readonly fetches: boolean;
}

/** Runs of a body that are followed one by one; of the last of them, the number after which two copies have taken turns. */
const followed = 6;
const steps = 2;

/**
 * When each pipe is free, and when it was: gathers as the tile and the task before began, and stores as the gather before did, which two
 * copies wait for.
 */
const [loading, gathering, storing, gathered, gatheredTask, stored] = [0, 1, 2, 3, 4, 5];
const recurrence = new Recurrence(1);

/** Cycles of a core until its last task is done; `start`: when its gathers can begin. Syncs are those of insert-sync. */
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

/** Cycles of a task on a machine whose pipes take turns. */
export function oneByOne({ head, loads, gather, store, tiles }: TaskMoves): number {
  const full = Math.floor(tiles);
  const sum = (moves: readonly Took[], size: keyof Took): number =>
    moves.reduce((cycles, move) => cycles + move[size], 0);
  const each = store === undefined ? [...loads, gather] : [...loads, gather, store];
  return sum(head, "full") + full * sum(each, "full") + (tiles > full ? sum(each, "rest") : 0);
}
