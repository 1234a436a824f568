/** Records from and to JSON Lines. */
import type { Field, Fields } from "../../../backends/index.js";
import { isObject, oneOf, wholeNumber, yesOrNo } from "../../../backends/index.js";
import { CompileError, error, type Diagnostic } from "../../../ir/index.js";
import { checkOptions, scheduleField } from "../../api/check-options.js";
import { canonicalJson } from "../content-hash.js";
import { candidateStatuses, objectives } from "../result.js";
import type { CandidateRecord, PrunedRecord, RefusedRecord, TaskRecord, TuneRecord } from "./record.js";

/** The records of a file, and how many lines were torn. */
export interface ParsedRecords {
  readonly records: readonly TuneRecord[];
  /** Lines that hold no whole JSON value: a writer was stopped in the middle of one. */
  readonly torn: number;
}

const code = "TC016";
const text: Field = { code, takes: "a text", holds: (value) => typeof value === "string" };
const object: Field = { code, takes: "an object", holds: isObject };
const list: Field = { code, takes: "a list", holds: Array.isArray };
const amount: Field = { code, takes: "a number, 0 or more", holds: (v) => typeof v === "number" && v >= 0 };
const count = wholeNumber(0, code);
const isNumbers = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((n) => typeof n === "number" && n >= 0);
const runs: Field = {
  code,
  takes: "a list of { device, phase, nanoseconds }",
  holds: (value) =>
    Array.isArray(value) &&
    value.every((run) => isObject(run) && typeof run["device"] === "string" && isNumbers(run["nanoseconds"])),
};

/** Which fields each kind must have; others pass, for records of later versions. */
const fields = {
  task: {
    task: text,
    gather: text,
    name: text,
    program: text,
    target: object,
    objective: oneOf(objectives, code),
    seed: { code, takes: "a whole number", holds: Number.isSafeInteger },
    versions: object,
  } satisfies Partial<Fields<TaskRecord>>,
  candidate: {
    task: text,
    candidate: text,
    schedule: { ...scheduleField, code },
    status: oneOf(candidateStatuses, code),
    default: { ...yesOrNo, code },
    clock: count,
    cycles: amount,
    idleCores: count,
    bytes: amount,
    ubBytes: amount,
    tasks: count,
    elements: count,
    runs,
  } satisfies Partial<Fields<CandidateRecord>>,
  pruned: { task: text, why: oneOf(["model", "budget", "length"], code), count } satisfies Partial<
    Fields<PrunedRecord>
  >,
  refused: { task: text, tile: list, code: text, reason: text } satisfies Partial<Fields<RefusedRecord>>,
} as const;

/** Throws a CompileError (TC016) for JSON that is no record; a line that is no JSON was torn, and is counted. */
export function parseRecords(source: string, file: string): ParsedRecords {
  const records: TuneRecord[] = [];
  const problems: Diagnostic[] = [];
  let torn = 0;
  source.split("\n").forEach((line, k) => {
    if (line.trim() === "") return;
    const value = parsed(line);
    if (value === undefined) {
      torn++;
      return;
    }
    const found = faults(value);
    if (found.length === 0) records.push(value as unknown as TuneRecord);
    for (const message of found.slice(0, 1)) {
      const hint = "records are lines that `tilec tune --records` wrote, or that `tilec records` printed";
      problems.push(error(code, `${file}:${k + 1}: ${message}`, { hint }));
    }
  });
  if (problems.length > 0) throw new CompileError(problems);
  return { records, torn };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function faults(value: unknown): readonly string[] {
  const kind = isObject(value) ? value["record"] : undefined;
  if (kind !== "task" && kind !== "candidate" && kind !== "pruned" && kind !== "refused") {
    return [`"record" is none of ${Object.keys(fields).join(", ")}`];
  }
  const own = fields[kind];
  const options = { open: true, needs: Object.keys(own), code } as const;
  return checkOptions(`a ${kind} record`, value, own, options).map(({ message }) => message);
}

/** One line, the same for equal records. */
export const recordLine = (record: TuneRecord): string => `${canonicalJson(record)}\n`;
