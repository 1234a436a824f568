/** Records from and to JSON Lines. */
import { checkApiArgument } from "../../api/argument-kinds.js";
import { checkArgument } from "../../../ir/argument.js";
import type { Field, Fields } from "../../../backends/index.js";
import {
  amount,
  anyList,
  anyObject,
  isObject,
  oneOf,
  shownValue,
  text,
  integer,
  yesOrNo,
} from "../../../backends/index.js";
import { CompileError, error, isResolved, type Diagnostic, type Schedule } from "../../../ir/index.js";
import { checkOptions, scheduleField, targetField } from "../../api/check-options.js";
import type { TableRecord } from "../../api/pieces.js";
import { canonicalJson } from "../content-hash.js";
import { candidateStatuses, objectives } from "../result.js";
import {
  recordsVersion,
  type CandidateRecord,
  type PrunedRecord,
  type RefusedRecord,
  type TaskRecord,
  type TuneRecord,
} from "./record.js";

/**
 * Tuning records parsed from a file, and the number of torn lines, that is, lines without a complete JSON
 * value.
 */
export interface ParsedRecords {
  readonly records: readonly TuneRecord[];
  /** Number of lines without a complete JSON value, as an interrupted writer leaves behind. */
  readonly torn: number;
}

/** Tuning records parsed from a file, with the line number of each record in `lines`, counted from 1. */
export interface PlacedRecords extends ParsedRecords {
  readonly lines: readonly number[];
}

const code = "TC016";
const word = text(code);
const number = amount(code);
const count = integer(0, code);
const isNumbers = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every((n) => typeof n === "number" && n >= 0);
const runs: Field = {
  code,
  takes: "a list of { device, phase, nanoseconds }",
  holds: (value) =>
    Array.isArray(value) &&
    value.every((run) => isObject(run) && typeof run["device"] === "string" && isNumbers(run["nanoseconds"])),
};

/** True if a value is a piece that begins where the piece before it ends. */
const isPieceAfter = (value: unknown, k: number, all: readonly unknown[]): boolean => {
  const before = all[k - 1];
  const [from, to] = isObject(value) ? [value["from"], value["to"]] : [];
  return (
    isObject(value) &&
    from === (isObject(before) ? Number(before["to"]) + 1 : 1) &&
    Number.isSafeInteger(to) &&
    Number(to) >= from &&
    checkOptions("a piece", { schedule: value["schedule"] }, { schedule: scheduleField }).length === 0 &&
    isResolved(value["schedule"] as Schedule)
  );
};

/** Required fields of each kind of record. Other fields are accepted, for records of later versions. */
const fields = {
  task: {
    task: word,
    gather: word,
    name: word,
    program: word,
    target: targetField,
    objective: oneOf(objectives, code),
    seed: integer(-Infinity, code),
    versions: anyObject(code),
  } satisfies Partial<Fields<TaskRecord>>,
  candidate: {
    task: word,
    candidate: word,
    schedule: { ...scheduleField, code },
    status: oneOf(candidateStatuses, code),
    default: yesOrNo(code),
    clock: count,
    cycles: number,
    idleCores: count,
    bytes: number,
    ubBytes: number,
    tasks: count,
    elements: count,
    runs,
  } satisfies Partial<Fields<CandidateRecord>>,
  pruned: { task: word, why: oneOf(["model", "budget", "length"], code), count } satisfies Partial<
    Fields<PrunedRecord>
  >,
  table: {
    task: word,
    gather: word,
    target: word,
    symbol: word,
    pieces: {
      code,
      takes: "a list of { from, to, schedule }, from 1 on and without gaps",
      holds: (value) => Array.isArray(value) && value.length > 0 && value.every(isPieceAfter),
    },
    clock: count,
  } satisfies Partial<Fields<TableRecord>>,
  refused: { task: word, tile: anyList(code), code: word, reason: word } satisfies Partial<
    Fields<RefusedRecord>
  >,
} as const;

/**
 * Parses the text of a file of tuning records. Returns the records, and the number of skipped lines that are
 * not JSON (`torn`). Throws a CompileError (TC016) for an invalid record, or for a record whose search is not
 * in the file.
 */
export function parseRecords(source: string, file: string): ParsedRecords {
  checkArgument("parseRecords", "text", source);
  const { records, torn } = placedRecords(source, file);
  return { records, torn };
}

/**
 * Parses the text of a file of tuning records. Returns the records, the 1-based line number of each record
 * (`lines`), and the number of skipped lines that are not JSON (`torn`). Throws a CompileError (TC016) for an
 * invalid record, or for a record whose search is not in the file.
 */
export function placedRecords(source: string, file: string): PlacedRecords {
  const records: TuneRecord[] = [];
  const lines: number[] = [];
  const problems: Diagnostic[] = [];
  const problem = (line: number, message: string): void => {
    const hint = "write records with: tilec tune --records FILE";
    problems.push(error(code, `${file}:${line}: ${message}`, { hint }));
  };
  let torn = 0;
  source.split("\n").forEach((line, k) => {
    if (line.trim() === "") return;
    const value = parsed(line);
    if (value === undefined) {
      torn++;
      return;
    }
    const [fault] = faults(value);
    if (fault !== undefined) problem(k + 1, fault);
    else {
      records.push(value as unknown as TuneRecord);
      lines.push(k + 1);
    }
  });
  const tasks = new Set(records.flatMap((one) => (one.record === "task" ? [one.task] : [])));
  const orphan = records.findIndex(({ task }) => !tasks.has(task));
  if (problems.length === 0 && orphan !== -1)
    problem(lines[orphan] ?? 0, `the file lacks the line of its task, ${records[orphan]?.task ?? ""}`);
  if (problems.length > 0) throw new CompileError(problems);
  return { records, torn, lines };
}

/** Parses a line as JSON and returns the value; undefined if the line is not JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the reasons why a value is not a valid tuning record; an empty list for a valid record. */
function faults(value: unknown): readonly string[] {
  const kind = isObject(value) ? value["record"] : undefined;
  if (
    kind !== "task" &&
    kind !== "candidate" &&
    kind !== "pruned" &&
    kind !== "refused" &&
    kind !== "table"
  ) {
    return [`"record" must be one of ${Object.keys(fields).join(", ")}`];
  }
  const kindFields = fields[kind];
  const options = { allowsOthers: true, needs: Object.keys(kindFields), code } as const;
  const version = kind === "task" && isObject(value) ? versionOf(value["versions"]) : recordsVersion;
  if (version !== recordsVersion)
    return [`versions.records is ${shownValue(version)}; this tilec reads version ${recordsVersion}`];
  const problems = checkOptions(`a ${kind} record`, value, kindFields, options).map(({ message }) => message);
  if (problems.length > 0 || kind !== "candidate" || !isObject(value)) return problems;
  const { schedule, given = schedule } = value;
  const wrong = checkOptions("a candidate record", { given }, { given: fields.candidate.schedule }, { code });
  if (wrong.length > 0) return wrong.map(({ message }) => message);
  return [schedule, given].every((one) => isResolved(one as Schedule))
    ? []
    : ["its schedule lacks an entry; a candidate has all of them"];
}

const versionOf = (versions: unknown): unknown => (isObject(versions) ? versions["records"] : undefined);

/**
 * Returns a tuning record as one line of JSON that ends with a line break. The line begins with the field
 * `record`. Equal records give equal lines.
 */
export function recordLine(line: TuneRecord): string {
  checkApiArgument("recordLine", "record", line);
  const { record, ...rest } = line;
  return `{"record":"${record}",${canonicalJson(rest).slice(1)}\n`;
}
