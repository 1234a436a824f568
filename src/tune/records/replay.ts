/** The schedule that records hold for a program. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { error, type Diagnostic } from "../../../ir/index.js";
import { bestOf, type BestRecord } from "./best.js";
import type { TuneRecord } from "./record.js";

/** What was measured says more than what was counted. */
const order = ["ms", "cycles", "bytes"] as const;

/** The best of the searches of this gather on this target, by `gatherHash`; undefined where there is none. */
export function replayed(records: readonly TuneRecord[], gather: string): BestRecord | undefined {
  checkApiArgument("replayed", "records", records);
  const best = bestOf(records).filter(({ task }) => task.gather === gather);
  return order.flatMap((objective) => best.find(({ task }) => task.objective === objective) ?? [])[0];
}

/** What a file of records is told that holds no search of a program. */
export const ofAnotherTask = (file: string, name: string): Diagnostic =>
  error(
    "TC017",
    `${file} holds no search of @${name} with this schedule's pins and this pipeline on this target`,
    {
      hint: "tilec tune with the same program, flags, pipeline and target records one",
    },
  );
