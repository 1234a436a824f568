/** Event ids that the syncs of a program use on a core. */
import type { TileFunc } from "../../ir/func.js";
import { flatten, type SyncStmt } from "../../ir/tile.js";

// Each ordered pair of pipes has ids 0 to 7: instructions of the library use 0, the program's syncs 1 to 6,
// the lowering of a gather 7.
const firstEvent = 1;
/** Number of event ids that the program's syncs can use for each ordered pair of pipes. */
export const eventsOfProgram = 6;
/** Event id that the lowering of a gather uses. */
export const eventOfLowering = 7;

/** The ids that the syncs of an ordered pair of pipes need. */
interface PairEvents {
  /** The last sync of the pair. */
  readonly sync: SyncStmt;
  readonly ids: number;
}

/**
 * Returns the event ids for the syncs of each ordered pair of pipes, numbered in program order. A sync with
 * lag 1 takes two ids. `first`: the first id of each sync. A pair may need more ids than there are.
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
