/**
 * Records as a cache file of Kernel Tuner (schema/cache/1.0.0), which its dashboard opens. A configuration's key is its parameters in
 * the order of `tune_params_keys`, so they are whole numbers; `time` is what the task sought: milliseconds, or cycles or bytes.
 */
import { checkOwnArgument } from "../../api/argument-kinds.js";
import { CompileError, error, outputOf, parseModule, type Shape } from "../../../ir/index.js";
import { millisecondsOf } from "./best.js";
import { scheduleParameters } from "./parameters.js";
import type { CandidateRecord, TaskRecord, TuneRecord } from "./record.js";

/** A cache file of Kernel Tuner. */
export interface KernelTunerCache {
  readonly schema_version: "1.0.0";
  readonly device_name: string;
  readonly kernel_name: string;
  readonly problem_size: readonly number[];
  readonly tune_params_keys: readonly string[];
  readonly tune_params: Readonly<Record<string, readonly number[]>>;
  readonly objective: string;
  readonly cache: Readonly<Record<string, KernelTunerEntry>>;
}

export type KernelTunerEntry = Readonly<Record<string, number | string | readonly number[]>>;

/** Records keep no time of day, and the format asks for one. */
const noTime = "1970-01-01T00:00:00+00:00";

/** A cache is about one kernel: throws a CompileError (TC016) for records of several tasks. */
export function kernelTunerCache(records: readonly TuneRecord[]): KernelTunerCache {
  checkOwnArgument("kernelTunerCache", "records", records);
  const tasks = new Map(records.flatMap((r) => (r.record === "task" ? [[r.task, r] as const] : [])));
  const [task] = tasks.values();
  if (task === undefined || tasks.size > 1) {
    const hint = "export one task at a time";
    throw new CompileError([error("TC016", `a cache is of one task, and there are ${tasks.size}`, { hint })]);
  }
  const candidates = records.filter((r): r is CandidateRecord => r.record === "candidate");
  const parameters = candidates.map(({ schedule }) => scheduleParameters(schedule));
  const keys = [...new Set(parameters.flatMap((own) => Object.keys(own)))];
  const values = (key: string): readonly number[] =>
    [...new Set(parameters.map((own) => own[key] ?? 0))].sort((a, b) => a - b);
  return {
    schema_version: "1.0.0",
    device_name: task.device ?? task.target.name,
    kernel_name: task.name,
    problem_size: problemOf(task),
    tune_params_keys: keys,
    tune_params: Object.fromEntries(keys.map((key) => [key, values(key)])),
    objective: task.objective === "ms" ? "time" : task.objective,
    cache: Object.fromEntries(
      candidates.map((candidate, k) => {
        const own = parameters[k] ?? {};
        return [keys.map((key) => own[key] ?? 0).join(","), { ...own, ...entryOf(candidate, task) }];
      }),
    ),
  };
}

function problemOf({ program }: TaskRecord): Shape {
  const [func] = parseModule(program, "records").module.funcs;
  return func === undefined ? [] : outputOf(func).type.shape;
}

function entryOf(candidate: CandidateRecord, { objective }: TaskRecord): KernelTunerEntry {
  const { status, reason, cycles, bytes, ubBytes, tasks, runs } = candidate;
  const sought = { cycles, bytes, ms: millisecondsOf(candidate) }[objective];
  return {
    time:
      sought !== undefined && (status === "measured" || status === "estimated") ? sought : (reason ?? status),
    times: runs.flatMap(({ nanoseconds }) => nanoseconds.map((ns) => ns / 1e6)),
    compile_time: 0,
    verification_time: 0,
    benchmark_time: 0,
    strategy_time: 0,
    framework_time: 0,
    timestamp: noTime,
    cycles,
    bytes,
    ub_bytes: ubBytes,
    tasks,
  };
}
