/** What records say about the candidates of a task, for a search that goes on. */
import { checkOwnArgument } from "../../api/argument-kinds.js";
import { clockVersion } from "../../../ir/index.js";
import type { KnownCandidate } from "../options.js";
import { mergeRecords } from "./merge.js";
import { standingIn, type TuneRecord } from "./record.js";

/** By id. Cycles of another clock are not known. */
export function knownOf(records: readonly TuneRecord[], task: string): ReadonlyMap<string, KnownCandidate> {
  checkOwnArgument("knownOf", "records", records);
  const known = new Map<string, KnownCandidate>();
  for (const record of mergeRecords(records)) {
    if (record.record !== "candidate" || record.task !== task || record.clock !== clockVersion) continue;
    const { cycles, idleCores, ubBytes, floor, bottleneck, clock, runs, status, code, reason } = record;
    const failed = status === "timeout" || status === "wrong" || status === "error";
    known.set(record.candidate, {
      ...(floor === undefined || bottleneck === undefined
        ? {}
        : { cost: { cycles, idleCores, ubBytes, clock, ...standingIn(record), floor, bottleneck } }),
      runs,
      ...(failed && code !== undefined && reason !== undefined ? { failure: { status, code, reason } } : {}),
    });
  }
  return known;
}
