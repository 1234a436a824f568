/** The schedule that records hold for a program. */
import { bestOf, type BestRecord } from "./best.js";
import type { TuneRecord } from "./record.js";

/** What was measured says more than what was counted. */
const order = ["ms", "cycles", "bytes"] as const;

/** The best of the searches of this gather on this target, by `gatherHash`; undefined where there is none. */
export function replayed(records: readonly TuneRecord[], gather: string): BestRecord | undefined {
  const own = bestOf(records).filter(({ task }) => task.gather === gather);
  return order.flatMap((objective) => own.find(({ task }) => task.objective === objective) ?? [])[0];
}
