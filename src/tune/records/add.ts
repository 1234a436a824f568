/** Times that were measured elsewhere, beside a candidate that records know. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { checkArgument } from "../../../ir/argument.js";
import { CompileError, error } from "../../../ir/index.js";
import { taskHashOf, type CandidateRecord, type TaskRecord, type TuneRecord } from "./record.js";

/** Run times of one candidate schedule that were measured outside tilec, in nanoseconds. */
export interface GivenTimes {
  /** Hash of the schedule, or its first digits. */
  readonly candidate: string;
  readonly device: string;
  readonly nanoseconds: readonly number[];
}

/**
 * Returns the tuning records to append for run times measured outside tilec: one task record and one
 * candidate record. Throws a CompileError (TC016) if `times.candidate` does not match exactly one candidate.
 */
export function givenRecords(records: readonly TuneRecord[], times: GivenTimes): readonly TuneRecord[] {
  checkApiArgument("givenRecords", "records", records);
  checkArgument("givenRecords", "object", times);
  const matching = records.filter(
    (record): record is CandidateRecord =>
      record.record === "candidate" && record.candidate.startsWith(times.candidate),
  );
  const [first] = matching;
  const ids = new Set(matching.map(({ candidate }) => candidate));
  const tasks = records.filter((record): record is TaskRecord => record.record === "task");
  const search = tasks.find(({ task }) => task === first?.task);
  if (first === undefined || search === undefined || ids.size > 1) {
    const problem = ids.size > 1 ? `begins ${ids.size} candidates` : "is not a candidate of the records";
    const hint = "list the candidates: tilec records export --to csv FILE";
    throw new CompileError([error("TC016", `${times.candidate} ${problem}`, { hint })]);
  }
  const task = taskHashOf(search.gather, "ms", "command");
  const { device, nanoseconds } = times;
  return [
    { ...search, task, objective: "ms", backend: "command", device },
    { ...first, task, status: "measured", runs: [{ device, phase: "given", nanoseconds }] },
  ];
}
