/** The schedule that records hold for a program. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { error, type Diagnostic } from "../../../ir/index.js";
import { bestOf, type BestRecord } from "./best.js";
import type { TuneRecord } from "./record.js";

/** Objectives in the order in which searches are preferred: measured results say more than counted ones. */
const order = ["ms", "cycles", "bytes"] as const;

/**
 * Returns the best recorded candidate among the searches whose program has the hash `gather` (see {@link
 * gatherHash}). A search that minimized measured time is preferred to a search that minimized estimated
 * cycles, and cycles are preferred to bytes moved. Returns undefined if the records have no such search.
 */
export function replayed(records: readonly TuneRecord[], gather: string): BestRecord | undefined {
  checkApiArgument("replayed", "records", records);
  const best = bestOf(records).filter(({ task }) => task.gather === gather);
  return order.flatMap((objective) => best.find(({ task }) => task.objective === objective) ?? [])[0];
}

/**
 * Returns the error (TC017) that reports a records file without a search of the program `name`. It states
 * that no search has the same pinned schedule entries, pipeline and target. The caller has already looked for
 * the search.
 */
export const ofAnotherTask = (file: string, name: string): Diagnostic =>
  error(
    "TC017",
    `${file} has no search of @${name} with these schedule flags, this pipeline and this target`,
    {
      hint: `run tilec tune --records ${file} with the same program, flags, pipeline and target`,
    },
  );
