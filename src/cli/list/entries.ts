/**
 * The programs of a list: of a JSON Lines file, of a file with several programs, or of a file of Spatter's.
 */
import { Command, CommanderError } from "commander";
import { CompileError, defined, error, invariant, parseModule, type Diagnostic } from "../../../ir/index.js";
import { hintFor } from "../../../ir/did-you-mean.js";
import { readCaseList } from "../../formats/cases.js";
import { readProgramText, readText } from "../../formats/files.js";
import { findMlirGathers } from "../../formats/mlir.js";
import { repeatedKey } from "../../formats/json-positions.js";
import { programKind } from "../../formats/program-kind.js";
import { standardInput } from "../../formats/standard-input.js";
import { collect } from "../collect.js";
import { checkFlags, loadProgram, profiled, withSizes } from "../load.js";
import { withFlags, type LoadedProgram } from "../loaded-program.js";
import {
  addAttributeOptions,
  addProgramOptions,
  targeting,
  type ProgramFlags,
  type ProjectFlags,
} from "../options.js";
import { projectAttributeFlags } from "../project-operators.js";
import { refuseSecondValues } from "../second-values.js";
import { printDiagnostics } from "../terminal.js";
import { commanderText, UsageError } from "../usage-error.js";
import { messageOf } from "../../../ir/faults.js";

type Flags = ProgramFlags & ProjectFlags;

/** Loaded program of a list (`--list`), with the command-line flags used to load the program. */
export interface ListedProgram {
  readonly loaded: LoadedProgram;
  readonly flags: Flags;
}

/**
 * Entry of a list of programs (`--list`): an id, and a function that loads the program. For an unreadable
 * entry, `load` rejects.
 */
export interface ListEntry {
  readonly id: string;
  /**
   * Loads the program of the entry. Rejects with a {@link Malformed} if the entry cannot be read, and with
   * another CompileError if the program is refused.
   */
  readonly load: () => Promise<ListedProgram>;
}

/**
 * Error of an unreadable list entry (`--list`). The row of the entry has `malformed` in the column `verdict`.
 */
export class Malformed extends CompileError {}

/**
 * Error of a readable list entry (`--list`) without a valid program. The row of the entry has `refused` in
 * the column `verdict`.
 */
export class Refused extends CompileError {}

/**
 * Returns one list entry for each configuration of a file of Spatter, the gather and scatter benchmark.
 * Rejects with a CompileError (TC021) if the file is not valid.
 */
export async function spatterList(file: string, flags: Flags): Promise<readonly ListEntry[]> {
  checkFlags(undefined, flags);
  const { spatterEntries, spatterLoaded } = await import("../load-spatter.js");
  return spatterEntries(file, flags).map((entry) => {
    switch (entry.kind) {
      case "program":
        return loading(entry.id, () => spatterLoaded(entry, flags), flags);
      case "refused":
        return refused(entry.id, [entry.diagnostic]);
      case "malformed":
        return malformed(entry.id, [entry.diagnostic]);
    }
  });
}

/**
 * Returns the programs of a `--list` file as list entries, in the order of the file. Rejects with a
 * UsageError if the file has no program, and with a CompileError if it is not a list.
 */
export async function listEntries(file: string, flags: Flags): Promise<readonly ListEntry[]> {
  const entries = distinct(await entriesOf(file, flags));
  if (entries.length > 0) return entries;
  throw new UsageError(`--list ${file} has no program`, `write a line for each program, such as ${example}`);
}

const example = '{"id": "a", "op": "gather", "data": "f32[64,80]", "indices": "i32[32]"}';

/**
 * Returns the list entries of a program file: JSON Lines, tile IR text, ONNX, MLIR or JSON. Several entries
 * may have the same id.
 */
async function entriesOf(file: string, flags: Flags): Promise<readonly ListEntry[]> {
  if (await isLines(file)) return linesOf(readText(file), flags);
  checkFlags(file, flags);
  switch (programKind(file)) {
    case "tir":
      return textEntries(file, flags);
    case "onnx":
      return modelEntries(file, flags);
    case "mlir":
      return mlirEntries(file, flags);
    case "json":
      return jsonEntries(file, flags);
  }
}

/**
 * True if a file is JSON Lines: the name ends in `.jsonl` or `.ndjson`. Standard input is JSON Lines if the
 * text begins with `{` and is not a graph dumped by PyPTO.
 */
async function isLines(file: string): Promise<boolean> {
  if (file !== standardInput) return /\.(?:jsonl|ndjson)$/.test(file);
  const text = readText(file);
  if (!/^\s*\{/.test(text)) return false;
  const { dumpIn } = await import("../load-cases.js");
  return dumpIn(text) === undefined;
}

/**
 * Returns the list entries without repeated ids. An entry with the id of an earlier entry is replaced by a
 * malformed entry.
 */
function distinct(entries: readonly ListEntry[]): readonly ListEntry[] {
  const lines = new Map<string, number>();
  return entries.map((entry, k) => {
    const first = lines.get(entry.id);
    if (first !== undefined) return malformed(entry.id, [usage(`entry ${first + 1} has the same id`)]);
    lines.set(entry.id, k);
    return entry;
  });
}

const usage = (message: string, hint?: string): Diagnostic => error("TC701", message, defined({ hint }));

const malformed = (id: string, diagnostics: readonly Diagnostic[]): ListEntry => ({
  id,
  load: () => Promise.reject(new Malformed(diagnostics)),
});

const refused = (id: string, diagnostics: readonly Diagnostic[]): ListEntry => ({
  id,
  load: () => Promise.reject(new Refused(diagnostics)),
});

/** Returns the entry of a program that is in memory. An error that `load` throws becomes a rejection. */
const loading = (id: string, load: () => LoadedProgram, flags: Flags): ListEntry => ({
  id,
  load: () => Promise.resolve().then(() => ({ loaded: profiled(load(), flags.project), flags })),
});

/**
 * Returns one list entry for each line of a JSON Lines text that is not blank; each line is an object of
 * command-line flags. An invalid line gives an entry whose function `load` rejects, and does not affect other
 * lines.
 */
function linesOf(text: string, flags: Flags): readonly ListEntry[] {
  return text.split("\n").flatMap((line, k): ListEntry[] => {
    if (line.trim() === "") return [];
    const place = `line ${k + 1}`;
    const read = parsedLine(line);
    if (typeof read === "string") return [malformed(place, [usage(read, example)])];
    const id = idOf(read["id"]);
    if (id.fault !== undefined) return [malformed(place, [usage(id.fault, '"id": "a"')])];
    return [
      {
        id: id.text ?? place,
        load: async () => {
          const lineFlags = { ...flags, ...flagsOfLine(read, flags) };
          return { loaded: await loadProgram(undefined, lineFlags), flags: lineFlags };
        },
      },
    ];
  });
}

/**
 * Returns the id of a list line as `text`, or the reason why the id is invalid as `fault`. Returns an empty
 * object for a line without an id.
 */
function idOf(id: unknown): { readonly text?: string; readonly fault?: string } {
  if (id === undefined) return {};
  if (typeof id !== "string" && typeof id !== "number") return { fault: "id must be a string or a number" };
  if (id === "") return { fault: "id is an empty string" };
  if (typeof id === "number" && !(Math.abs(id) <= Number.MAX_SAFE_INTEGER))
    return {
      fault: `id is a number beyond ${Number.MAX_SAFE_INTEGER}, whose last digits are lost: write the id as a string`,
    };
  return { text: String(id) };
}

/**
 * Parses a list line and returns the JSON object. Returns a reason as text if the line is not a JSON object
 * or repeats a key.
 */
function parsedLine(line: string): Readonly<Record<string, unknown>> | string {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return "a line is an object of flags";
    const twice = repeatedKey(line);
    return twice === undefined
      ? (value as Readonly<Record<string, unknown>>)
      : `${JSON.stringify(twice)} is given twice`;
  } catch (thrown) {
    return `not JSON: ${messageOf(thrown)}`;
  }
}

/**
 * Parses the object of a list line as program flags, with the rules of the command line. Throws a UsageError
 * for invalid flags.
 */
function flagsOfLine(line: Readonly<Record<string, unknown>>, { project }: ProjectFlags): ProgramFlags {
  const command = addProgramOptions(new Command("list"))
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  addAttributeOptions(command, projectAttributeFlags(project));
  refuseSecondValues(command);
  const words = Object.entries(line).flatMap(([key, value]) =>
    key === "id" || value === false ? [] : wordsOf(command, key, value),
  );
  try {
    return command.parse(words, { from: "user" }).opts<ProgramFlags>();
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    throw new UsageError(commanderText(thrown), example);
  }
}

/**
 * Converts one flag of a list line to command-line arguments. Throws a UsageError for an unknown flag, and
 * for a value other than true, a string, a number or a list of these.
 */
function wordsOf(command: Command, key: string, value: unknown): readonly string[] {
  const flag = `--${key}`;
  const option = command.options.find(({ long }) => long === flag);
  if (option === undefined) {
    const flags = command.options.map(({ long }) => (long ?? "").slice(2));
    throw new UsageError(`${JSON.stringify(key)} is not a flag of a program`, hintFor(key, flags, example));
  }
  const isScalar = (one: unknown): one is string | number =>
    typeof one === "string" || typeof one === "number";
  if (value === true) return [flag];
  if (isScalar(value)) return [`${flag}=${value}`];
  if (Array.isArray(value) && value.every(isScalar))
    return option.parseArg === collect
      ? value.map((one) => `${flag}=${one}`)
      : [`${flag}=${value.join(",")}`];
  throw new UsageError(`${JSON.stringify(key)} must be a string, a number, a list of these, true or false`);
}

/**
 * Returns one list entry for each function of a tile IR text file, and one malformed entry for each parse
 * error.
 */
function textEntries(file: string, flags: Flags): readonly ListEntry[] {
  const { module, diagnostics } = parseModule(readProgramText(file), file, flags.project.operators);
  const wrong = diagnostics.filter(({ severity }) => severity === "error");
  return [
    ...module.funcs.map((func) => loading(func.name, () => withSizes(func, flags), flags)),
    ...wrong.map((fault, k) =>
      malformed(fault.span === undefined ? `error ${k + 1}` : `line ${fault.span.line}`, [fault]),
    ),
  ];
}

/**
 * Returns one list entry for each gather of an ONNX model. A gather that has no program becomes a refused
 * entry. Programs that merge several nodes are left out.
 */
async function modelEntries(file: string, flags: Flags): Promise<readonly ListEntry[]> {
  const { loadModel } = await import("../load-model.js");
  const { gathers, warnings } = loadModel(file, flags, targeting(flags));
  printDiagnostics(warnings);
  return gathers.flatMap(({ name, loaded, diagnostics, folds }) => {
    if (folds !== undefined) return [];
    return [loaded === undefined ? refused(name, diagnostics) : loading(name, () => loaded, flags)];
  });
}

const mlirEntries = (file: string, flags: Flags): readonly ListEntry[] =>
  findMlirGathers(readProgramText(file), file).map((gather) =>
    gather.ok
      ? loading(gather.func.name, () => ({ func: withFlags(gather.func, flags) }), flags)
      : refused(gather.name, [gather.diagnostic]),
  );

/**
 * Returns one list entry for each test case of a JSON file, or for each gather of a graph that PyPTO dumped.
 */
async function jsonEntries(file: string, flags: Flags): Promise<readonly ListEntry[]> {
  const { dumpIn, loadedCase } = await import("../load-cases.js");
  const text = readText(file);
  const dump = dumpIn(text);
  if (dump !== undefined) {
    const { dumpLocations, loadDump } = await import("../load-dump.js");
    return dumpLocations(dump, file).map((place) =>
      loading(place, () => onlyOf(loadDump(dump, file, { ...flags, case: place })), flags),
    );
  }
  return readCaseList(text, file, flags.project.operators).map((test) =>
    "malformed" in test
      ? malformed(test.id, test.malformed)
      : loading(test.id, () => loadedCase(test, "main", flags), flags),
  );
}

function onlyOf<T>(list: readonly T[]): T {
  const [first] = list;
  invariant(first !== undefined, "a place of a dump has a gather");
  return first;
}
