/**
 * Records in T4, the results format of the autotuning community that Kernel Tuner writes and reads: `{schema_version, results}`, each
 * result with its configuration, times, invalidity and correctness (Kernel Tuner, schema/T4/1.0.0).
 */
import { checkOwnArgument } from "../../api/argument-kinds.js";
import type { CandidateRecord, TuneRecord } from "./record.js";
import { scheduleParameters } from "./parameters.js";

/** A results file in the T4 format of the autotuning community. */
export interface T4Results {
  readonly schema_version: "1.0.0";
  readonly results: readonly T4Result[];
}

export interface T4Result {
  readonly configuration: Readonly<Record<string, number>>;
  /** Names of the measurements that were sought. */
  readonly objectives: readonly string[];
  /** Milliseconds. */
  readonly times: { readonly compilation_time: number; readonly runtimes: readonly number[] };
  readonly invalidity: "timeout" | "compile" | "runtime" | "correctness" | "constraints" | "correct";
  /** 1 for an output that is right. */
  readonly correctness: number;
  readonly measurements: readonly {
    readonly name: string;
    readonly value: number | string;
    readonly unit: string;
  }[];
}

/** Candidates that were costed or run, in the order of the records. Pruned ones were not, and refused tiles are no configurations. */
export function t4Results(records: readonly TuneRecord[]): T4Results {
  checkOwnArgument("t4Results", "records", records);
  const objectives = new Map(records.flatMap((r) => (r.record === "task" ? [[r.task, r.objective]] : [])));
  const results = records.flatMap((record) =>
    record.record === "candidate" ? [t4Result(record, objectives.get(record.task) ?? "cycles")] : [],
  );
  return { schema_version: "1.0.0", results };
}

const invalidities = {
  measured: "correct",
  estimated: "correct",
  timeout: "timeout",
  wrong: "correctness",
  error: "runtime",
} as const;

function t4Result(record: CandidateRecord, objective: string): T4Result {
  const { schedule, status, cycles, floor, bytes, ubBytes, tasks, runs } = record;
  const runtimes = runs.flatMap(({ nanoseconds }) => nanoseconds.map((ns) => ns / 1e6));
  return {
    configuration: scheduleParameters(schedule),
    objectives: [objective === "ms" ? "time" : objective],
    times: { compilation_time: 0, runtimes },
    invalidity: invalidities[status],
    correctness: status === "wrong" ? 0 : 1,
    measurements: [
      ...runs.map((run) => ({ name: `time on ${run.device}`, value: run.nanoseconds.join(" "), unit: "ns" })),
      { name: "cycles", value: cycles, unit: "cycles" },
      ...(floor === undefined ? [] : [{ name: "floor", value: floor.cycles, unit: "cycles" }]),
      { name: "bytes", value: bytes, unit: "B" },
      { name: "ub_bytes", value: ubBytes, unit: "B" },
      { name: "tasks", value: tasks, unit: "" },
    ],
  };
}
