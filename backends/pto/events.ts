/** Event ids that the syncs of a program use on a core. */
import type { TileFunc } from "../../ir/func.js";
import { flatten, type SyncStmt } from "../../ir/tile.js";

// Each ordered pair of pipes has ids 0 to 7: instructions of the library use 0, the program's syncs 1 to 6,
// the lowering of a gather 7.
const firstEvent = 1;
/**
 * Number of event ids that a program's syncs can use for each ordered pair of hardware pipes (instruction
 * queues).
 */
export const eventsOfProgram = 6;
/**
 * Event id for the instructions of a gather's lowering, for each ordered pair of hardware pipes (instruction
 * queues). Syncs of the program never use id 7.
 */
export const eventOfLowering = 7;

/** The ids that the syncs of an ordered pair of pipes need. */
interface PairEvents {
  /** The last sync of the pair. */
  readonly sync: SyncStmt;
  readonly ids: number;
}

/**
 * Returns the event ids of a program's syncs, numbered in program order for each ordered pair of hardware
 * pipes. `first`: the first id of each sync. `pairs`: the number of ids that each pair uses.
 */
export function eventIds(func: TileFunc): {
  readonly first: ReadonlyMap<SyncStmt, number>;
  readonly pairs: readonly PairEvents[];
} {
  const first = new Map<SyncStmt, number>();
  const pairs = new Map<string, PairEvents>();
  for (const sync of flatten(func.body)) {
    if (sync.op !== "sync") continue;
    const pair = `${sync.from} -> ${sync.to}`;
    const ids = pairs.get(pair)?.ids ?? 0;
    first.set(sync, firstEvent + ids);
    pairs.set(pair, { sync, ids: ids + 1 + sync.lag });
  }
  return { first, pairs: [...pairs.values()] };
}
