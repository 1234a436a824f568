/** The schedule that records hold for a program. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { error, type Diagnostic } from "../../../ir/index.js";
import { bestOf, type BestRecord } from "./best.js";
import type { TuneRecord } from "./record.js";

/** Objectives in the order in which searches are preferred: measured results say more than counted ones. */
const order = ["ms", "cycles", "bytes"] as const;

/**
 * Returns the best candidate in the tuning records of a program; `gather` is the program's {@link
 * gatherHash}. Measured time is preferred to estimated cycles, and cycles to bytes moved. Returns undefined
 * if no search has the hash.
 */
export function replayed(records: readonly TuneRecord[], gather: string): BestRecord | undefined {
  checkApiArgument("replayed", "records", records);
  const best = bestOf(records).filter(({ task }) => task.gather === gather);
  return order.flatMap((objective) => best.find(({ task }) => task.objective === objective) ?? [])[0];
}

/**
 * Returns the error (TC017) for a file of tuning records that has no search of the program `name` with the
 * requested schedule flags, pipeline and target.
 */
export const ofAnotherTask = (file: string, name: string): Diagnostic =>
  error(
    "TC017",
    `${file} has no search of @${name} with these schedule flags, this pipeline and this target`,
    {
      hint: `run tilec tune --records ${file} with the same program, flags, pipeline and target`,
    },
  );
