/**
 * Records of searches: one JSON value a line, each of a task, a candidate, candidates that were left out, or
 * tiles that no rule takes. Tasks and candidates are named by hashes of what they are, so that records of
 * several machines and runs belong together without an agreement between them.
 */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { checkArgument } from "../../../ir/argument.js";
import {
  defined,
  printFunc,
  clockVersion,
  type Code,
  type ResolvedSchedule,
  type Roofline,
  type Target,
} from "../../../ir/index.js";
import { defaultPipeline, isDefaultPipeline } from "../../../passes/index.js";
import { tableKey, type TableRecord } from "../../api/pieces.js";
import { canonicalJson, contentHash } from "../content-hash.js";
import type { PrunedCount, TuneTask } from "../options.js";
import type { SizesResult } from "../sizes/tune-sizes.js";
import type { Candidate, CandidateRun, Objective, RefusedTiles, TuneBackend } from "../result.js";

/** Version number of the file format of tuning records. */
export const recordsVersion = 1;

/**
 * Tuning record of a search: program, target, objective and settings. `task` is the hash by which the records
 * of the search's candidates refer to this record.
 */
export interface TaskRecord {
  readonly record: "task";
  /** Hash of the gather, the target's parameters, the pipeline, the objective and the backend. */
  readonly task: string;
  /** Hash of the gather, the target's parameters and the pipeline. */
  readonly gather: string;
  readonly name: string;
  /** Program as text, with the schedule entries that the user fixed. */
  readonly program: string;
  readonly target: Target;
  /**
   * The passes in order, and a hash of the text of those that are not built in; absent for the built-in
   * pipeline.
   */
  readonly pipeline?: { readonly passes: string; readonly hash: string };
  readonly objective: Objective;
  /** Backend that ran the candidates. */
  readonly backend?: TuneBackend;
  readonly device?: string;
  readonly seed: number;
  readonly versions: { readonly tilec: string; readonly clock: number; readonly records: number };
}

/** Tuning record of one schedule that a search tried (a candidate): costs, status and timed runs. */
export interface CandidateRecord extends Partial<Omit<Roofline, "clock">> {
  readonly record: "candidate";
  readonly task: string;
  /** Hash of the chosen schedule, before the user's passes. */
  readonly candidate: string;
  /** Schedule that ran, after the user's passes. */
  readonly schedule: ResolvedSchedule;
  /** Chosen schedule, before the user's passes; absent if equal to `schedule`. */
  readonly given?: ResolvedSchedule;
  readonly status: Candidate["status"];
  readonly code?: Code;
  readonly reason?: string;
  /** True if the compiler chooses this schedule without a search. */
  readonly default: boolean;
  /** Version of the clock that gave the cycles. */
  readonly clock: number;
  readonly cycles: number;
  readonly idleCores: number;
  /** Bytes moved to and from global memory. */
  readonly bytes: number;
  readonly ubBytes: number;
  readonly tasks: number;
  /** Elements of one output tile. */
  readonly elements: number;
  readonly runs: readonly CandidateRun[];
}

/** Tuning record of candidates that a search left out: the reason (`why`) and their number (`count`). */
export interface PrunedRecord extends PrunedCount {
  readonly record: "pruned";
  readonly task: string;
}

/**
 * Tuning record of the smallest tile that a search refused by one rule. Tiles that are at least as large
 * along each dim are also refused.
 */
export interface RefusedRecord extends Omit<RefusedTiles, "status"> {
  readonly record: "refused";
  readonly task: string;
}

/** Any tuning record, on one line of a file. The field `record` is the kind of the tuning record. */
export type TuneRecord = TaskRecord | CandidateRecord | PrunedRecord | RefusedRecord | TableRecord;

/**
 * Returns the hash of a program, target and passes, by which `compile` finds the tuning records of the
 * program.
 */
export function gatherHash(task: Pick<TuneTask, "gather" | "target" | "passes">): string {
  checkApiArgument("gatherHash", "search task", task);
  const { gather, target, passes } = task;
  return programHash({ program: gather, target, ...defined({ passes }) });
}

/**
 * Returns the hash of a program, the hardware parameters of the target, and the pipeline. The name of the
 * program does not affect the hash.
 */
export function programHash({
  program,
  target,
  passes,
}: Pick<TuneTask, "program" | "target" | "passes">): string {
  const { sources: _, title: __, ...figures } = target;
  const text = printFunc({ ...program, name: "main", target: target.name });
  const pipeline = pipelineRecord(passes);
  return contentHash(canonicalJson({ text, figures, pipeline }));
}

/**
 * Returns the description of a pipeline for a tuning record; undefined for the default pipeline. `passes` has
 * the names of all passes, and `hash` is a hash of the passes that are not built in.
 */
function pipelineRecord(passes: TuneTask["passes"]): TaskRecord["pipeline"] {
  if (passes === undefined || isDefaultPipeline(passes)) return undefined;
  const passNames = passes
    .filter((pass) => !defaultPipeline.includes(pass))
    .map((pass) => [pass.name, pass.requires, pass.ensures, pass.origin?.text ?? pass.run.toString()]);
  return { passes: passes.map(({ name }) => name).join(", "), hash: contentHash(canonicalJson(passNames)) };
}

/**
 * Returns the hash that identifies a search by program, target, passes, objective and backend. Tuning records
 * with equal hashes may be merged.
 */
export function taskHash(
  task: Pick<TuneTask, "gather" | "target" | "passes" | "objective" | "backend">,
): string {
  checkApiArgument("taskHash", "search task", task);
  return taskHashOf(gatherHash(task), task.objective, task.backend);
}

/**
 * Returns the hash that identifies a search, from the program's {@link gatherHash}, the objective and the
 * backend.
 */
export const taskHashOf = (gather: string, objective: Objective, backend: TuneBackend | undefined): string =>
  contentHash(canonicalJson({ gather, objective, backend }));

/**
 * Returns the tuning record of a search. `seed` is the seed of the search, and `version` the version of
 * tilec.
 */
export function taskRecord(task: TuneTask, seed: number, version: string): TaskRecord {
  checkApiArgument("taskRecord", "search task", task);
  const { program, gather, target, objective, backend, device } = task;
  const pipeline = pipelineRecord(task.passes);
  return {
    record: "task",
    task: taskHash(task),
    gather: gatherHash(task),
    name: gather.name,
    program: printFunc({ ...program, target: target.name }),
    target,
    ...defined({ pipeline }),
    objective,
    ...defined({ backend, device }),
    seed,
    versions: { tilec: version, clock: clockVersion, records: recordsVersion },
  };
}

/**
 * Returns the roofline fields of a candidate: lower bound, time, bandwidth and bottleneck. Fields that a
 * tuning record of an earlier version lacks are absent.
 */
export function rooflineIn({
  floor,
  microseconds,
  gigabytesPerSecond,
  bottleneck,
}: Partial<Roofline>): Partial<Omit<Roofline, "clock">> {
  return {
    ...defined({ floor, microseconds, gigabytesPerSecond, bottleneck }),
  };
}

/** Returns the fields of a candidate's cost for JSON output, in their order. */
export const costIn = (
  candidate: Pick<Candidate, "cycles" | "bytes" | "ubBytes" | "tasks" | "clock"> & Partial<Roofline>,
) => {
  const { cycles, bytes, ubBytes, tasks, clock } = candidate;
  return { cycles, bytes, ubBytes, tasks, clock, ...rooflineIn(candidate) };
};

/**
 * Returns the tuning record of a candidate schedule. `task` is the hash of the search ({@link taskHash}), and
 * `defaultId` the id of the default schedule.
 */
export function candidateRecord(task: string, candidate: Candidate, defaultId: string): CandidateRecord {
  checkArgument("candidateRecord", "text", task);
  checkApiArgument("candidateRecord", "candidate", candidate);
  const { id, schedule, given, status, cycles, idleCores, bytes, ubBytes, tasks, elements, clock } =
    candidate;
  const failed = status === "timeout" || status === "wrong" || status === "error";
  return {
    record: "candidate",
    task,
    candidate: id,
    schedule,
    ...defined({ given }),
    status,
    ...(failed ? { code: candidate.code, reason: candidate.reason } : {}),
    default: id === defaultId,
    clock,
    cycles,
    idleCores,
    bytes,
    ubBytes,
    tasks,
    elements,
    ...rooflineIn(candidate),
    runs: status === "measured" ? candidate.runs : [],
  };
}

/**
 * Returns the tuning record of the candidates that a search left out for one reason, with their number.
 * `task` is the hash of the search ({@link taskHash}).
 */
export function prunedRecord(task: string, pruned: PrunedCount): PrunedRecord {
  checkArgument("prunedRecord", "text", task);
  checkArgument("prunedRecord", "object", pruned);
  return { record: "pruned", task, ...pruned };
}

/**
 * Returns the tuning record of tiles that a search refused by one rule. `task` is the hash of the search
 * ({@link taskHash}).
 */
export function refusedRecord(task: string, tiles: RefusedTiles): RefusedRecord {
  checkArgument("refusedRecord", "text", task);
  checkArgument("refusedRecord", "object", tiles);
  const { status: _, ...refused } = tiles;
  return { record: "refused", task, ...refused };
}

/**
 * Returns the tuning record of a table with one schedule for each range of a dynamic size. `task` is the hash
 * of the search with objective `cycles` ({@link taskHash}).
 */
export function tableRecord(
  task: string,
  result: Pick<SizesResult, "gather" | "target" | "symbol" | "pieces">,
): TableRecord {
  checkArgument("tableRecord", "text", task);
  checkApiArgument("tableRecord", "size results", result);
  const { gather, target, symbol, pieces } = result;
  return {
    record: "table",
    task,
    ...tableKey(gather, target),
    symbol: symbol.name,
    pieces,
    clock: clockVersion,
  };
}
