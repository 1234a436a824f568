/** How long the pipes of one core take over tasks that are alike: the first of them one by one, the others as the last of those. */
import { targetFacts, type Target } from "../target.js";
import type { Copies } from "../schedule.js";
import { latencyOf } from "./price.js";

/** Cycles of a statement on a whole tile, and on the part of one that a task ends with. */
export interface Took {
  readonly whole: number;
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

/** Runs of a body that are followed one by one. */
const followed = 6;

/** Cycles of a core until its last task is done; `start`: when its gathers can begin. Syncs are those of insert-sync. */
export function pipelined(task: TaskMoves, tasks: number, start: number, target: Target): number {
  const { head, loads, gather, store, fetches } = task;
  const sync = Math.ceil(target.syncCycles);
  /** Until who waits for a load, a store or a gather goes on. */
  const behindLoad = sync + Math.ceil(latencyOf("MTE2", target));
  const behindStore = sync + Math.ceil(latencyOf("MTE3", target));
  const behindGather = fetches ? behindLoad : sync;
  const shared = !targetFacts[target.kind].privateUb;
  const carried = shared || task.looped;
  /** When each pipe is free. */
  let [loading, gathering, storing] = [0, start, 0];
  /** The same of gathers as the tile and the task before began, and of stores as the gather before did: what two copies wait for. */
  let [gathered, gatheredTask, stored] = [-Infinity, -Infinity, -Infinity];

  const ended = (): number => Math.max(loading, gathering, storing);
  function repeat(times: number, run: () => void): void {
    // Two copies take turns: a run may be long where the next is short.
    let before = 0;
    for (let k = 0; k < Math.min(times, followed); k++) {
      if (k === followed - 2) before = ended();
      run();
    }
    if (times <= followed) return;
    const others = ((times - followed) * (ended() - before)) / 2;
    [loading, gathering, storing] = [loading + others, gathering + others, storing + others];
    [gathered, gatheredTask, stored] = [gathered + others, gatheredTask + others, stored + others];
  }
  function load(moves: readonly MoveTime[], size: keyof Took, waits: boolean, earlier: number): void {
    for (const move of moves) {
      if (waits && !fetches) loading = Math.max(loading, (move.copies === 2 ? earlier : gathering) + sync);
      loading += move[size];
    }
    if (moves.length > 0 && !fetches) gathering = Math.max(gathering, loading + behindLoad);
  }
  function tile(size: keyof Took): void {
    const before = gathering;
    load(loads, size, carried, gathered);
    gathered = before;
    if (fetches) gathering = Math.max(gathering, loading);
    if (store !== undefined && carried) {
      gathering = Math.max(gathering, (store.copies === 2 ? stored : storing) + behindStore);
      stored = storing;
    }
    gathering += gather[size];
    if (fetches) loading = gathering;
    if (store !== undefined) storing = Math.max(storing, gathering + behindGather) + store[size];
  }

  const whole = Math.floor(task.tiles);
  repeat(tasks, () => {
    const before = gathering;
    load(head, "whole", shared, gatheredTask);
    gatheredTask = before;
    repeat(whole, () => {
      tile("whole");
    });
    if (task.tiles > whole) tile("rest");
  });
  return ended();
}

/** Cycles of a task on a machine whose pipes take turns. */
export function oneByOne({ head, loads, gather, store, tiles }: TaskMoves): number {
  const whole = Math.floor(tiles);
  const sum = (moves: readonly Took[], size: keyof Took): number =>
    moves.reduce((cycles, move) => cycles + move[size], 0);
  const each = store === undefined ? [...loads, gather] : [...loads, gather, store];
  return sum(head, "whole") + whole * sum(each, "whole") + (tiles > whole ? sum(each, "rest") : 0);
}
