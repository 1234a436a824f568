/** `--list`: one command over many programs, a row for each. */
import {
  categoryOf,
  clockVersion,
  CompileError,
  counted,
  defined,
  formatType,
  inputsOf,
  outputOf,
  type Category,
  type Diagnostic,
  type Func,
} from "../../../ir/index.js";
import { isBug } from "../../../ir/faults.js";
import type { Pass } from "../../../passes/index.js";
import { resolveTargetOf } from "../../api/compile.js";
import { isStream, isThere, readText } from "../../formats/files.js";
import { lineAppender, rewriteInput } from "../../output/write-file.js";
import type { CsvRow } from "../../report/csv.js";
import { figureCells, inTableOrder, type FigureKey, type ScheduleFigures } from "../../report/figures.js";
import { canonicalJson, contentHash } from "../../tune/content-hash.js";
import { programHash } from "../../tune/records/record.js";
import { gatherFaults } from "../gather-faults.js";
import { shardOf, targeting, type ProgramFlags } from "../options.js";
import { Outputs, type OutputFlags } from "../outputs.js";
import { pipelineOf, type PipelineFlags } from "../pipeline-flags.js";
import { progressBar } from "../progress.js";
import { note, print, printDiagnostics } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import type { ListFlags } from "./list-flags.js";
import {
  listEntries,
  Malformed,
  Refused,
  spatterList,
  type ListEntry,
  type ListedProgram,
} from "./entries.js";
import { csvRows, jsonRows, type RowFormat, type WrittenRow } from "./row-file.js";

/** Values of the column `verdict`: outcomes of a command for one program of a list (`--list`). */
export const verdicts = ["legal", "same", "ran", "refused", "malformed", "different", "failed"] as const;
type Verdict = (typeof verdicts)[number];

/** Verdicts that fail the command. */
const failures: readonly string[] = ["malformed", "different", "failed"] satisfies readonly Verdict[];

/**
 * Result of a command for one program of a list (`--list`): outcome, diagnostics, and values of the command's
 * columns.
 */
export interface RowFacts {
  readonly verdict: Verdict;
  readonly diagnostics?: readonly Diagnostic[];
  readonly figures?: ScheduleFigures;
}

/**
 * Command that writes one row for each program of a list (`--list`): the columns, and the function that
 * computes a row.
 */
export interface RowMaker {
  readonly command: "explain" | "tune" | "run";
  /** Columns that only this command has. */
  readonly columns: readonly FigureKey[];
  /**
   * Settings of the command that affect a row, besides the program, the target, the pipeline and the cost
   * model's version.
   */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * Returns the row of a program, without the columns that every row has. Rejects with a CompileError if the
   * program is refused.
   */
  readonly row: (listed: ListedProgram) => Promise<RowFacts>;
}

type Flags = ListFlags & ProgramFlags & PipelineFlags & OutputFlags;

/** Columns that every row of a list (`--list`) has, before the columns of the command. */
export const factColumns = [
  "command",
  "id",
  "key",
  "name",
  "op",
  "inputs",
  "output",
  "target",
  "verdict",
  "code",
  "reason",
] as const;

/** A row that is made, or kept from before. */
interface MadeRow {
  readonly line: string;
  readonly verdict: string;
  readonly isBug: boolean;
}

/**
 * Writes one row for each program of a list and resolves to the exit code. The code is 1 if a row is
 * `malformed`, `different` or `failed`; with `--strict` also if a row is `refused`. The code is 3 after a bug
 * in tilec.
 */
export async function runList(file: string | undefined, flags: Flags, maker: RowMaker): Promise<number> {
  const { list, spatter = "", rows: path } = flags;
  const other =
    file ?? (list === undefined || flags.spatter === undefined ? undefined : `--spatter ${spatter}`);
  if (other !== undefined)
    throw new UsageError(
      `give ${other} or ${list === undefined ? `--spatter ${spatter}` : `--list ${list}`}, not both`,
    );
  if (flags.resume === true && path === undefined)
    throw new UsageError("--resume needs --rows, the file of rows to continue", "--rows rows.csv --resume");
  const { passes } = await pipelineOf(flags);
  const format = formatOf(flags, maker);
  const entries = shardOf(
    await (list === undefined ? spatterList(spatter, flags) : listEntries(list, flags)),
    flags.shard,
  );
  const outputs = new Outputs(maker.command, flags);
  const log = dynamicRows(path, flags, format, outputs);
  const bar = progressBar("programs");
  const made: MadeRow[] = [];
  try {
    for (const entry of entries) {
      made.push(await rowOf(entry, { maker, passes, format, log }));
      bar.step(entry.id, entries.length);
    }
  } finally {
    bar.stop();
    log.close();
  }
  log.order(made.map(({ line }) => line));
  const verdicts = made.map(({ verdict }) => verdict);
  note(summaryOf(verdicts));
  if (made.some((one) => one.isBug)) return 3;
  const failing = flags.strict === true ? [...failures, "refused"] : failures;
  return outputs.status(verdicts.some((verdict) => failing.includes(verdict)) ? 1 : 0);
}

/** Formats the counts of verdicts: `50 programs: 48 legal, 2 refused`. */
function summaryOf(verdicts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const verdict of verdicts) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const each = [...counts].map(([verdict, count]) => `${count} ${verdict}`);
  return [counted(verdicts.length, "program"), ...(each.length === 0 ? [] : [each.join(", ")])].join(": ");
}

/** Returns a message that begins with the id of its program. */
const named = (message: string, id: string): string =>
  message.startsWith(`${id}: `) ? message : `${id}: ${message}`;

/**
 * Returns the format of the rows: JSON Lines for a `.jsonl` file or `--json`, and CSV by default. Throws a
 * UsageError for another file suffix in `--rows`, or if `--json` and `--rows` are combined.
 */
function formatOf({ rows, json }: ListFlags, { command, columns: figureKeys }: RowMaker): RowFormat {
  const columns = [...factColumns, ...inTableOrder(figureKeys)];
  const isJson = rows?.endsWith(".jsonl") ?? json === true;
  if (rows !== undefined && !isJson && !rows.endsWith(".csv"))
    throw new UsageError(`--rows ${rows} ends in neither .csv nor .jsonl`);
  if (rows !== undefined && json === true)
    throw new UsageError("--json cannot be used with --rows", "--rows rows.jsonl");
  return isJson ? jsonRows(command, columns) : csvRows(command, columns);
}

/** Destination of rows as they are made. */
interface RowLog {
  /** Rows of before, by id and key. */
  readonly kept: ReadonlyMap<string, WrittenRow>;
  readonly append: (line: string) => void;
  readonly close: () => void;
  /** Puts the rows of a file in the order of the list. */
  readonly order: (lines: readonly string[]) => void;
}

const placeOf = (id: string, key: string): string => JSON.stringify([id, key]);

/**
 * Returns a writer for the rows of a list (`--list`). The writer appends each row to the file at `path`, or
 * prints the row if `path` is undefined. With `--resume`, the writer's field `kept` has the rows that the
 * file already contains. Throws a UsageError if these rows are of another command or have other columns.
 */
function dynamicRows(
  path: string | undefined,
  { resume }: ListFlags,
  { head, output, read }: RowFormat,
  outputs: Outputs,
): RowLog {
  if (path === undefined) {
    if (head !== "") print(head);
    return { kept: new Map(), append: print, close: () => undefined, order: () => undefined };
  }
  outputs.check(path, output);
  const goesOn = resume === true && isThere(path) && !isStream(path);
  const before = goesOn ? read(readText(path)) : [];
  if (before === undefined)
    throw new UsageError(
      `--resume cannot go on in ${path}: it holds rows of another command, or other columns`,
      "name another file with --rows, or leave --resume out to write over it",
    );
  const kept = new Map(
    before.map((row) => [placeOf(row.cells["id"] ?? "", row.cells["key"] ?? ""), row] as const),
  );
  const contents = (lines: readonly string[]): string => head + lines.join("");
  const start = contents(before.map(({ line }) => line));
  let usable = outputs.attempt(() => {
    if (goesOn) rewriteInput(path, start);
    else outputs.start(path, start, output);
  });
  const { append, close } = lineAppender(path);
  return {
    kept,
    append(line) {
      usable &&= outputs.attempt(() => {
        append(line);
      });
    },
    close,
    order(lines) {
      if (!usable || before.length === 0) return;
      outputs.attempt(() => {
        rewriteInput(path, contents(lines));
      });
    },
  };
}

/**
 * Runs the command on the program of a list entry, writes the row of results with the writer `log`, and
 * returns the row. If `log.kept` already has the row, the command is not run, and the row of `log.kept` is
 * returned.
 */
async function rowOf(
  entry: ListEntry,
  {
    maker,
    passes,
    format,
    log,
  }: {
    readonly maker: RowMaker;
    readonly passes: readonly Pass[] | undefined;
    readonly format: RowFormat;
    readonly log: RowLog;
  },
): Promise<MadeRow> {
  const { command, columns, settings } = maker;
  const { id } = entry;
  let about: CsvRow = {};
  let facts: RowFacts;
  try {
    const listed = await entry.load();
    const { func } = listed.loaded;
    const target = resolveTargetOf(func, targeting(listed.flags));
    const program = programHash({ program: func, target, ...defined({ passes }) });
    const key = contentHash(canonicalJson({ command, program, clock: clockVersion, settings }));
    const before = log.kept.get(placeOf(id, key));
    if (before !== undefined)
      return { line: before.line, verdict: before.cells["verdict"] ?? "", isBug: false };
    about = { key, ...described(func), target: target.name };
    facts = await maker.row(listed);
  } catch (thrown) {
    facts = failedRow(thrown, id);
  }
  const { verdict, diagnostics = [], figures = {} } = facts;
  const why = diagnostics.find(({ severity }) => severity === "error");
  const failure = defined({ code: why?.code, reason: why?.message });
  const line = format.line({ command, id, ...about, verdict, ...failure, ...figureCells(columns, figures) });
  log.append(line);
  if (why !== undefined && failures.includes(verdict))
    printDiagnostics([{ ...why, message: named(why.message, id) }]);
  return { line, verdict, isBug: diagnostics.some(isBug) };
}

const described = (func: Func): CsvRow => ({
  name: func.name,
  op: func.level === "source" ? func.op : func.level,
  inputs: inputsOf(func)
    .map(({ type }) => formatType(type))
    .join(" "),
  output: formatType(outputOf(func).type),
});

/** Categories of errors of an entry that names what is not there: a file, or a target. */
const unread: readonly Category[] = ["file", "target"];

/**
 * Returns the outcome and diagnostics for an error thrown while a program was loaded or a row was computed.
 */
function failedRow(thrown: unknown, id: string): RowFacts {
  if (thrown instanceof Malformed || thrown instanceof UsageError)
    return { verdict: "malformed", diagnostics: thrown.diagnostics };
  if (thrown instanceof Refused) return { verdict: "refused", diagnostics: thrown.diagnostics };
  const diagnostics = gatherFaults(thrown, id);
  const isUnread = diagnostics.some(({ code }) => unread.includes(categoryOf(code)));
  if (thrown instanceof CompileError) return { verdict: isUnread ? "malformed" : "refused", diagnostics };
  return { verdict: "failed", diagnostics };
}
