/**
 * Records of searches: one JSON value a line, each of a task, a candidate, candidates that were left out, or tiles that no rule
 * takes. Tasks and candidates are named by hashes of what they are, so that records of several machines and runs belong together
 * without an agreement between them.
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

/** Of the form of records. */
export const recordsVersion = 1;

/** What was searched: a line of its own, which candidates name by its hash. */
export interface TaskRecord {
  readonly record: "task";
  /** Hash of the gather, the target's figures, the pipeline, the objective and the backend. */
  readonly task: string;
  /** Hash of the gather, the target's figures and the pipeline. */
  readonly gather: string;
  readonly name: string;
  /** The program as text, with what the user pinned of its schedule. */
  readonly program: string;
  readonly target: Target;
  /** The passes in order, and a hash of the text of those that are not built in; absent for the built-in pipeline. */
  readonly pipeline?: { readonly passes: string; readonly hash: string };
  readonly objective: Objective;
  /** What ran the candidates. */
  readonly backend?: TuneBackend;
  readonly device?: string;
  readonly seed: number;
  readonly versions: { readonly tilec: string; readonly clock: number; readonly records: number };
}

/** One schedule that was tried, with what came of it. */
export interface CandidateRecord extends Partial<Omit<Roofline, "clock">> {
  readonly record: "candidate";
  readonly task: string;
  /** Hash of the schedule that was chosen. */
  readonly candidate: string;
  /** The schedule that ran. */
  readonly schedule: ResolvedSchedule;
  /** The one that was chosen, where passes of the user's made another one of it: what the compiler is given to make it again. */
  readonly given?: ResolvedSchedule;
  readonly status: Candidate["status"];
  readonly code?: Code;
  readonly reason?: string;
  /** What the compiler chooses without a search. */
  readonly default: boolean;
  /** Version of the clock that gave the cycles. */
  readonly clock: number;
  readonly cycles: number;
  readonly idleCores: number;
  /** Of global memory. */
  readonly bytes: number;
  readonly ubBytes: number;
  readonly tasks: number;
  /** Of one output tile. */
  readonly elements: number;
  readonly runs: readonly CandidateRun[];
}

export interface PrunedRecord extends PrunedCount {
  readonly record: "pruned";
  readonly task: string;
}

/** Tiles refused by one rule, recorded once by the smallest of them: the rule refuses every larger tile too. */
export interface RefusedRecord extends Omit<RefusedTiles, "status"> {
  readonly record: "refused";
  readonly task: string;
}

/** A line of a records file. */
export type TuneRecord = TaskRecord | CandidateRecord | PrunedRecord | RefusedRecord | TableRecord;

/** The hash by which `compile` finds what was found out about a program. */
export function gatherHash(task: Pick<TuneTask, "gather" | "target" | "passes">): string {
  checkApiArgument("gatherHash", "search task", task);
  const { gather, target, passes } = task;
  return programHash({ program: gather, target, ...defined({ passes }) });
}

/** Hash of a program of any level, the figures of its target and its pipeline; its name is left out. */
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

/** A pass that was loaded is told by its file's text, any other one by that of its function. */
function pipelineRecord(passes: TuneTask["passes"]): TaskRecord["pipeline"] {
  if (passes === undefined || isDefaultPipeline(passes)) return undefined;
  const passNames = passes
    .filter((pass) => !defaultPipeline.includes(pass))
    .map((pass) => [pass.name, pass.requires, pass.ensures, pass.origin?.text ?? pass.run.toString()]);
  return { passes: passes.map(({ name }) => name).join(", "), hash: contentHash(canonicalJson(passNames)) };
}

/** Hash of what a search is about: records of the same task may be merged. */
export function taskHash(
  task: Pick<TuneTask, "gather" | "target" | "passes" | "objective" | "backend">,
): string {
  checkApiArgument("taskHash", "search task", task);
  return taskHashOf(gatherHash(task), task.objective, task.backend);
}

export const taskHashOf = (gather: string, objective: Objective, backend: TuneBackend | undefined): string =>
  contentHash(canonicalJson({ gather, objective, backend }));

/** `version` is tilec's own. */
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

/** How the cycles of a candidate stand: absent in records of before. */
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

/** The line of a candidate; `own` is the default's hash. */
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

/** The line of candidates that were left out by their bounds. */
export function prunedRecord(task: string, pruned: PrunedCount): PrunedRecord {
  checkArgument("prunedRecord", "text", task);
  checkArgument("prunedRecord", "object", pruned);
  return { record: "pruned", task, ...pruned };
}

/** The line of refused tiles. */
export function refusedRecord(task: string, tiles: RefusedTiles): RefusedRecord {
  checkArgument("refusedRecord", "text", task);
  checkArgument("refusedRecord", "object", tiles);
  const { status: _, ...refused } = tiles;
  return { record: "refused", task, ...refused };
}

/** The line of a table of ranges; `task`: the hash of the search by cycles of the program with its symbol open. */
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
