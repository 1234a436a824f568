/**
 * Happens-before between pipes, by vector clocks: pipes run their own statements in order and know of another
 * pipe's only what a sync told them. Two accesses to the same UB bytes, one of them a write, that neither
 * order nor sync separates are a race, whatever values a particular run happens to see.
 */
import { pipes, type Pipe, type SyncStmt } from "../tile.js";
import { at } from "../types.js";

type Clock = readonly number[];

/**
 * Access of a statement to the bytes [start, end) of one copy of a buffer in the unified buffer (UB).
 * `write`: true for a write, false for a read.
 */
export interface HazardAccess {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly write: boolean;
}

/**
 * Two unordered accesses to the same bytes by different hardware pipes (instruction queues). At least one
 * access is a write.
 */
export interface Race {
  readonly earlier: HazardAccess & { readonly pipe: Pipe };
  readonly later: HazardAccess & { readonly pipe: Pipe };
}

interface Recorded extends HazardAccess {
  readonly pipe: Pipe;
  readonly time: number;
}

/**
 * Detector of races in a program whose statements are passed in order. A race is an unordered pair of
 * accesses to the same bytes by two hardware pipes (instruction queues).
 */
export class HazardTracker {
  private clocks = pipes.map(() => pipes.map(() => 0));
  /** For each sync statement, the source pipe's clock at its latest runs, newest first. */
  private readonly syncs = new Map<SyncStmt, Clock[]>();
  /** The latest access of each kind by each pipe to each copy of each buffer. */
  private readonly latest = new Map<string, Recorded>();

  /** Begins a task that has a unified buffer of its own. */
  reset(): void {
    this.clocks = pipes.map(() => pipes.map(() => 0));
    this.syncs.clear();
    this.latest.clear();
  }

  /**
   * Orders the earlier work of pipe `from` before all later work of pipe `to`. With `lag` 1, this is the work
   * before the sync's previous run.
   */
  sync(stmt: SyncStmt): void {
    const history = this.syncs.get(stmt) ?? [];
    history.unshift([...at(this.clocks, pipes.indexOf(stmt.from))]);
    history.length = Math.min(history.length, 2);
    this.syncs.set(stmt, history);
    const awaited = history[stmt.lag];
    if (awaited === undefined) return;
    const clock = at(this.clocks, pipes.indexOf(stmt.to));
    awaited.forEach((time, pipe) => {
      clock[pipe] = Math.max(at(clock, pipe), time);
    });
  }

  /** Returns one statement of a pipe; the first race it takes part in, if any. */
  issue(pipe: Pipe, accesses: readonly HazardAccess[]): Race | undefined {
    const self = pipes.indexOf(pipe);
    const clock = at(this.clocks, self);
    const time = at(clock, self) + 1;
    clock[self] = time;
    let race: Race | undefined;
    for (const access of accesses) {
      for (const old of this.latest.values()) {
        const conflict =
          old.pipe !== pipe &&
          (old.write || access.write) &&
          old.start < access.end &&
          access.start < old.end &&
          at(clock, pipes.indexOf(old.pipe)) < old.time;
        if (conflict) race ??= { earlier: old, later: { ...access, pipe } };
      }
    }
    for (const access of accesses) {
      const key = `${pipe} ${access.write ? "w" : "r"} ${access.name} ${access.start}`;
      this.latest.set(key, { ...access, pipe, time });
    }
    return race;
  }
}
