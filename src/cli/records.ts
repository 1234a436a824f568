/** tilec records: merges records of searches, names the best, adds times, exports and pins. */
import { InvalidArgumentError, Option, type Command } from "commander";
import {
  defined,
  clockVersion,
  counted,
  formatRoofline,
  printSchedule,
  ratesOf,
  type Operators,
} from "../../ir/index.js";
import type { TableRecord } from "../api/pieces.js";
import { openRecords, readPlacedRecords, readRecords } from "../formats/record-file.js";
import { outputFormats, type OutputFormat } from "../output/mark.js";
import { figureLabels, figureTexts } from "../report/figures.js";
import { table } from "../report/table.js";
import { givenRecords } from "../tune/records/add.js";
import { bestOf, millisecondsOf, type BestRecord } from "../tune/records/best.js";
import { csvOf } from "../tune/records/export-csv.js";
import { tableHeader, tableJson } from "../tune/records/export-table.js";
import { mergeRecords } from "../tune/records/merge.js";
import { pinnedTest } from "../tune/records/pin.js";
import { costIn, type CandidateRecord, type TuneRecord } from "../tune/records/record.js";
import { recosted } from "../tune/records/recost.js";
import { recordLine } from "../tune/records/text.js";
import type { Project } from "../config/project.js";
import { projectOf } from "./options.js";
import { UsageError } from "./usage-error.js";
import { addForce, Outputs, type OutputFlags } from "./outputs.js";
import { tellTorn } from "./tell-torn.js";
import { note, print, printJson, printReport } from "./terminal.js";

const formats = ["csv", "json", "c-header"] as const;
type Format = (typeof formats)[number];

/** Formats of other tuners, which were written here once. */
const converted = ["t4", "kernel-tuner"];

/**
 * Adds the command `tilec records` to the command line. Its subcommands merge files of tuning records, print
 * the best schedules, add measured times, export candidates, and write the best schedule as a test.
 */
export function recordsCommand(program: Command): void {
  const records = program.command("records");
  addForce(records.command("merge"))
    .description("print the records of several files as one; the order makes no difference")
    .argument("<files...>", "records")
    .option("--out <file.jsonl>", "where they go; the standard output otherwise")
    .action((files: readonly string[], flags: OutFlags) => {
      put("records merge", load(files).map(recordLine).join(""), outputFormats.records, flags);
    });
  records
    .command("best")
    .description("the best schedule of each task")
    .argument("<files...>", "records")
    .option("--json", "print one JSON document")
    .action(async (files: readonly string[], flags: { readonly json?: boolean }, command: Command) => {
      best(files, flags.json === true, await projectOf(command));
    });
  records
    .command("add")
    .description("add times that were measured elsewhere")
    .argument("<file>", "records")
    .requiredOption("--candidate <id>", "the candidate, or the first digits of its id")
    .requiredOption("--device <name>", "what it ran on; times compare over one device only")
    .requiredOption("--ns <list>", "nanoseconds of its runs, such as 1200,1250")
    .action((file: string, flags: AddFlags) => {
      add(file, flags);
    });
  records
    .command("export")
    .description("the candidates as comma-separated values, or a table of sizes for a kernel library")
    .argument("<files...>", "records")
    .addOption(
      new Option("--to <format>", "the format")
        .choices([...formats])
        .argParser(formatOf)
        .makeOptionMandatory(),
    )
    .action((files: readonly string[], { to }: { readonly to: Format }) => {
      print(exported(load(files), to));
    });
  addForce(records.command("pin"))
    .description("write the best schedule as a .tir test, with CHECK lines for what is exact")
    .argument("<file>", "records of one task")
    .option("--out <test.tir>", "where it goes; the standard output otherwise")
    .action(async (file: string, flags: OutFlags, command: Command) => {
      const { operators } = await projectOf(command);
      const text = pinnedTest(onlyOne(loadCosted([file], operators)), operators);
      put("records pin", text, outputFormats.code, flags);
    });
}

interface OutFlags extends OutputFlags {
  readonly out?: string;
}

/**
 * Writes a text to the file of `--out`, or prints it: where there is none, and where it cannot be written.
 */
function put(by: string, text: string, format: OutputFormat, { out, ...flags }: OutFlags): void {
  const outputs = new Outputs(by, flags);
  outputs.check(out, format);
  if (out === undefined || !outputs.write(out, text, format)) print(text);
  process.exitCode = outputs.status(0);
}

/** Returns the merged tuning records of several files. Incomplete lines are skipped and counted in a note. */
function load(files: readonly string[]): readonly TuneRecord[] {
  return mergeRecords(
    files.flatMap((file) => {
      const { records, torn } = readRecords(file);
      tellTorn(file, torn);
      return records;
    }),
  );
}

/**
 * Returns the merged tuning records of several files, with every cost computed again by the present cost
 * model.
 */
function loadCosted(files: readonly string[], operators: Operators | undefined): readonly TuneRecord[] {
  return mergeRecords(
    files.flatMap((file) => {
      const placed = readPlacedRecords(file);
      tellTorn(file, placed.torn);
      const { records, others } = recosted(placed, file, operators);
      for (const [clock, count] of others)
        note(
          `${file}: ${counted(count, "candidate")} of clock ${clock} ${count === 1 ? "is" : "are"} costed again by clock ${clockVersion}`,
        );
      return records;
    }),
  );
}

const shownColumns = ["tile", "residency", "cycles", "over_floor", "bytes"] as const;

/** Prints the best schedule of each search in record files, as a table or as JSON. */
function best(files: readonly string[], json: boolean, { operators }: Project): void {
  const candidates = bestOf(loadCosted(files, operators));
  if (json) {
    const tasks = candidates.map((one) => ({
      task: one.task.task,
      name: one.task.name,
      target: one.task.target.name,
      objective: one.task.objective,
      best: figures(one.best),
      ...defined({ default: one.default && figures(one.default) }),
      beatsDefault: one.beatsDefault,
      ...defined({ ratio: one.ratio }),
      devices: one.devices,
    }));
    const [only] = tasks;
    const alone = only === undefined || tasks.length > 1 ? {} : { best: only.best, default: only.default };
    printJson({ command: "records best", ...alone, tasks });
    return;
  }
  const rows = candidates.map(({ task, best: winner, beatsDefault, ratio }) => [
    task.name,
    task.target.name,
    task.objective,
    ...figureTexts(shownColumns, winner),
    ratio === undefined ? "" : ratio.toFixed(3),
    beatsDefault ? "" : "no schedule beats the default",
  ]);
  const head = ["program", "target", "minimized", ...figureLabels(shownColumns), "time / default", ""];
  printReport(table(head, rows));
  for (const { task, best: winner } of candidates) {
    const { floor } = winner;
    const stands =
      floor === undefined ? "" : `; ${formatRoofline({ ...winner, floor }, ratesOf(task.target))}`;
    printReport(`@${task.name}: ${printSchedule(winner.schedule)}${stands}`);
  }
}

/**
 * Returns the fields of a candidate schedule for JSON output: cycles, bytes of global memory, UB bytes, tasks
 * and roofline. `ms`: measured milliseconds, absent if not measured.
 */
function figures(record: CandidateRecord) {
  const { candidate, schedule } = record;
  return { id: candidate, schedule, ...costIn(record), ...defined({ ms: millisecondsOf(record) }) };
}

interface AddFlags {
  readonly candidate: string;
  readonly device: string;
  readonly ns: string;
}

/**
 * Appends measured times of a candidate to a file of tuning records. Throws a UsageError unless `ns` is a
 * comma-separated list of positive nanoseconds.
 */
function add(file: string, { candidate, device, ns }: AddFlags): void {
  const nanoseconds = ns.split(",").map(Number);
  if (nanoseconds.some((time) => !(time > 0))) {
    throw new UsageError(`--ns ${ns} is not a list of nanoseconds`, "--ns 1200,1250");
  }
  const added = givenRecords(load([file]), { candidate, device, nanoseconds });
  const log = openRecords(file);
  for (const record of added) log.append(record);
  log.close();
  note(`${file}: ${counted(nanoseconds.length, "time")} on ${device} added`);
}

/**
 * Returns the export format named `name`. Throws an InvalidArgumentError for an unknown name, and a
 * UsageError for a format that tilec does not write.
 */
function formatOf(name: string): Format {
  if (converted.includes(name))
    throw new UsageError(
      `records export does not write the format ${name}`,
      "the records are JSON lines; docs/tuning.md (Formats of other tuners) converts them with jq",
    );
  const format = formats.find((entry) => entry === name);
  if (format === undefined) throw new InvalidArgumentError(`Allowed choices are ${formats.join(", ")}.`);
  return format;
}

/**
 * Returns tuning records as text in the format `to`. For `json` and `c-header`, throws a UsageError unless
 * exactly one of the records is a table: the result of a search over the sizes of a symbol.
 */
function exported(records: readonly TuneRecord[], to: Format): string {
  switch (to) {
    case "csv":
      return csvOf(records);
    case "json":
      return tableJson(onlyTable(records, to).table);
    case "c-header": {
      const { table: table, name } = onlyTable(records, to);
      return tableHeader(table, name);
    }
  }
}

/**
 * Returns the only table among tuning records, and the name of the searched program (`gather` if no record
 * states the name). A table is the result of a search over the sizes of a symbol. Throws a UsageError, which
 * names the export format `to`, unless there is exactly one table.
 */
function onlyTable(
  records: readonly TuneRecord[],
  to: string,
): { readonly table: TableRecord; readonly name: string } {
  const tables = records.flatMap((one) => (one.record === "table" ? [one] : []));
  const [table, ...others] = tables;
  if (table === undefined || others.length > 0) {
    throw new UsageError(
      `--to ${to} needs records with one table, and there are ${tables.length}`,
      "write one: tilec tune --sizes N=1,16,64..4096 --records FILE",
    );
  }
  const task = records.find((one) => one.record === "task" && one.task === table.task);
  return { table: table, name: task?.record === "task" ? task.name : "gather" };
}

/**
 * Returns the best schedule in the tuning records of a single search. Throws a UsageError if the records come
 * from no search or from several.
 */
function onlyOne(records: readonly TuneRecord[]): BestRecord {
  const [first, ...others] = bestOf(records);
  if (first === undefined || others.length > 0) {
    throw new UsageError(
      `pin needs the records of one task, and there are ${others.length + (first === undefined ? 0 : 1)}`,
    );
  }
  return first;
}
