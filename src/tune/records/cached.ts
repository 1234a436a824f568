/** Results of earlier records for the candidates of a task, for a search that continues. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { clockVersion } from "../../../ir/index.js";
import type { CachedCandidate } from "../options.js";
import { mergeRecords } from "./merge.js";
import { rooflineIn, type TuneRecord } from "./record.js";

/**
 * Returns the candidates of one search in the tuning records, by candidate id. `task` is the hash that
 * identifies the search. Candidates costed by another version of the cost model are left out.
 */
export function cachedCandidates(
  records: readonly TuneRecord[],
  task: string,
): ReadonlyMap<string, CachedCandidate> {
  checkApiArgument("knownOf", "records", records);
  const candidates = new Map<string, CachedCandidate>();
  for (const record of mergeRecords(records)) {
    if (record.record !== "candidate" || record.task !== task || record.clock !== clockVersion) continue;
    const { cycles, idleCores, ubBytes, floor, bottleneck, clock, runs, status, code, reason } = record;
    const failed = status === "timeout" || status === "wrong" || status === "error";
    candidates.set(record.candidate, {
      ...(floor === undefined || bottleneck === undefined
        ? {}
        : { cost: { cycles, idleCores, ubBytes, clock, ...rooflineIn(record), floor, bottleneck } }),
      runs,
      ...(failed && code !== undefined && reason !== undefined ? { failure: { status, code, reason } } : {}),
    });
  }
  return candidates;
}
