/** The schedule that records hold for a program. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { error, type Diagnostic } from "../../../ir/index.js";
import { bestOf, type BestRecord } from "./best.js";
import type { TuneRecord } from "./record.js";

/** Objectives in the order in which searches are preferred: measured results say more than counted ones. */
const order = ["ms", "cycles", "bytes"] as const;

/**
 * Returns the best recorded candidate for a program, found by its {@link gatherHash}; undefined if there is
 * none. A result by measured time is preferred to a result by cycles, and cycles to bytes.
 */
export function replayed(records: readonly TuneRecord[], gather: string): BestRecord | undefined {
  checkApiArgument("replayed", "records", records);
  const best = bestOf(records).filter(({ task }) => task.gather === gather);
  return order.flatMap((objective) => best.find(({ task }) => task.objective === objective) ?? [])[0];
}

/**
 * Returns an error (TC017) that a records file has no search of the program with this schedule, pipeline and
 * target.
 */
export const ofAnotherTask = (file: string, name: string): Diagnostic =>
  error(
    "TC017",
    `${file} holds no search of @${name} with this schedule's pins and this pipeline on this target`,
    {
      hint: "tilec tune with the same program, flags, pipeline and target records one",
    },
  );
