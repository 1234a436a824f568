/**
 * Records against the clock: each candidate's schedule costed again, so that no figure is believed that was
 * edited.
 */
import {
  clockVersion,
  CompileError,
  error,
  isLegal,
  programLowerBound,
  rooflineOf,
  Tiling,
  type Diagnostic,
  type Operators,
  type LowerBound,
} from "../../../ir/index.js";
import { shapeFaults } from "../../../ir/tiling/rules/index.js";
import { clockOf, decided } from "../../../passes/index.js";
import { accessOf } from "../../api/access.js";
import { factsOf, idOf } from "../space.js";
import { programInRecord } from "./pin.js";
import { rooflineIn, type CandidateRecord, type TaskRecord } from "./record.js";
import type { PlacedRecords } from "./text.js";

/**
 * Result of {@link recosted}: the tuning records with costs of the current cost model. `others` maps each
 * other version of the cost model to the number of candidates costed by that version.
 */
export interface Recosted {
  readonly records: PlacedRecords["records"];
  /** Number of candidates by version of the cost model, for versions other than the current one. */
  readonly others: ReadonlyMap<number, number>;
}

/**
 * Computes the costs of candidates in tuning records with the current cost model and returns the updated
 * tuning records. Throws a CompileError (TC016) if the schedule or the costs of a tuning record are wrong.
 */
export function recosted({ records, lines }: PlacedRecords, file: string, operators?: Operators): Recosted {
  const tasks = new Map(records.flatMap((one) => (one.record === "task" ? [[one.task, one] as const] : [])));
  const costs = new Map([...tasks].map(([id, task]) => [id, costsOf(task, operators)] as const));
  const others = new Map<number, number>();
  const problems: Diagnostic[] = [];
  const costed = records.map((record, k) => {
    const cost = record.record === "candidate" ? costs.get(record.task) : undefined;
    if (record.record !== "candidate" || cost === undefined) return record;
    const costed = cost(record);
    if (typeof costed === "string") {
      const hint = "search again: tilec tune --records with another file";
      problems.push(error("TC016", `${file}:${lines[k] ?? 0}: ${costed}`, { hint }));
      return record;
    }
    if (costed === undefined) return record;
    if (record.clock !== clockVersion) others.set(record.clock, (others.get(record.clock) ?? 0) + 1);
    return { ...record, ...costed, clock: clockVersion };
  });
  if (problems.length > 0) throw new CompileError(problems);
  return { records: costed, others };
}

const figureNames = ["cycles", "idleCores", "bytes", "ubBytes", "tasks", "elements"] as const;
type Figures = Pick<CandidateRecord, (typeof figureNames)[number] | keyof ReturnType<typeof rooflineIn>>;

/**
 * Returns a function that computes the costs of a candidate from its tuning record. The function returns a
 * message if the record is faulty, and undefined if the search used passes of the user.
 */
function costsOf(
  { program, target, pipeline }: TaskRecord,
  operators: Operators | undefined,
): (record: CandidateRecord) => Figures | string | undefined {
  const access = accessOf({ ...programInRecord(program, operators), schedule: {} }, { target });
  // Of each number of cores and bytes of UB that candidates have: one, where the task pins them.
  const lowerBounds = new Map<string, LowerBound>();
  const lowerBoundsOf = (tiling: Tiling): LowerBound => {
    const key = `${tiling.schedule.cores} ${tiling.schedule.ubBytes}`;
    const cached = lowerBounds.get(key) ?? programLowerBound(tiling);
    lowerBounds.set(key, cached);
    return cached;
  };
  return (record) => {
    const { candidate, schedule, given = schedule, clock } = record;
    if (idOf(given) !== candidate) return `its schedule is not that of candidate ${candidate}`;
    if (pipeline !== undefined) return undefined;
    if (access === undefined) return "its program is a tile program, which has no schedules";
    const tiling =
      shapeFaults(access, schedule, target).length > 0 ? undefined : new Tiling(access, schedule, target);
    if (tiling === undefined || !isLegal(tiling))
      return `the schedule of candidate ${candidate} is not legal`;
    const { bytes, ubBytes, tasks, elements } = factsOf(decided(tiling));
    const timed = clockOf(tiling);
    const { cycles, idleCores } = timed;
    const figures: Figures = {
      ...{ cycles, idleCores, bytes, ubBytes, tasks, elements },
      // What a record says of these is not believed: they follow from the others.
      ...rooflineIn(rooflineOf(tiling, timed, lowerBoundsOf(tiling))),
    };
    const edited = figureNames.find((name) => record[name] !== figures[name]);
    // Another clock has other figures.
    if (edited === undefined || clock !== clockVersion) return figures;
    return `${edited} is ${record[edited]}, and its schedule has ${figures[edited]}`;
  };
}
