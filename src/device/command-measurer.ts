/**
 * A command of the user's as what measures: it is given a folder with a candidate's files and prints
 * nanoseconds as JSON. So the search reaches devices that tilec cannot drive.
 */
import { join, resolve } from "node:path";
import {
  at,
  CompileError,
  entryOf,
  inputsOf,
  keyOf,
  outputOf,
  printFunc,
  unscheduled,
  type TileFunc,
} from "../../ir/index.js";
import { isObject } from "../../backends/index.js";
import { emitPto } from "../../backends/pto/index.js";
import { compile } from "../api/compile.js";
import { fileNames } from "../formats/file-names.js";
import { readBytes } from "../formats/files.js";
import { readNpy, writeNpy } from "../formats/npy.js";
import { jsonSchema, outputFormats, type OutputFormat } from "../output/mark.js";
import { makeFolder, makeTemporaryFolder, removeFolder, writeOutput } from "../output/write-file.js";
import type { MeasuredTask, Measurer, OpenMeasurer } from "../tune/measurer.js";
import type { MeasureOptions, Measurement } from "../tune/search-ms.js";
import { firstDifferentByte } from "../tune/timed.js";
import { firstLine, runCommand } from "./run-command.js";
import { messageOf } from "../../ir/faults.js";

/**
 * Returns a measurer for `tune` that runs a shell command for each candidate, with the candidate's folder as
 * the last argument. The folder has `tile.tir`, `schedule.json` and, if the target's language can express the
 * program, `kernel.wgsl` or `kernel.cpp` with `launch.json`. The parent folder has `expected.npy` and one
 * `.npy` file for each input. The command prints `[ns, …]` or `{"nanoseconds": [ns, …], "output":
 * "file.npy"}`.
 */
export const commandMeasurer =
  (command: string, options: CommandMeasurerOptions = {}): OpenMeasurer =>
  (task) =>
    new CommandMeasurer(command, task, options);

/**
 * Options of {@link commandMeasurer}: the folder for the files of candidates, and callbacks for stderr output
 * and for failed candidates.
 */
export interface CommandMeasurerOptions {
  /** Folder in which the folders of all candidates are created and kept. Absent: a temporary folder. */
  readonly keep?: string;
  /** Receives each piece of text that the command writes to stderr. */
  readonly onStderr?: (text: string) => void;
  /** Receives the folder of each candidate that failed, and the reason. */
  readonly onFailed?: (folder: string, reason: string) => void;
}

class CommandMeasurer implements Measurer {
  readonly device: string;
  private readonly root: string;
  private readonly folders = new Map<TileFunc, string>();
  /** Folders of candidates that failed. */
  private readonly failed = new Set<string>();
  private running: (() => void) | undefined;

  constructor(
    private readonly command: string,
    private readonly task: MeasuredTask,
    private readonly options: CommandMeasurerOptions,
  ) {
    this.root = options.keep === undefined ? makeTemporaryFolder("tilec-measure-") : resolve(options.keep);
    makeFolder(this.root);
    this.device = `command ${command}`;
    const { kernel, inputs, expected } = task;
    const operands = inputsOf(kernel.tile);
    const [, ...files] = fileNames(["expected", ...operands.map(keyOf)]);
    for (const [k, operand] of operands.entries()) {
      const { type, bytes } = entryOf(inputs, keyOf(operand)) ?? {
        type: operand.type,
        bytes: new Uint8Array(),
      };
      const file = join(this.root, `${at(files, k)}.npy`);
      put(file, writeNpy({ type, bytes }), outputFormats.npy);
    }
    const { type } = outputOf(kernel.tile);
    put(join(this.root, "expected.npy"), writeNpy({ type, bytes: expected }), outputFormats.npy);
  }

  async measure(tile: TileFunc, options: MeasureOptions): Promise<Measurement> {
    let folder: string;
    try {
      folder = this.folders.get(tile) ?? this.write(tile);
    } catch (thrown) {
      if (!(thrown instanceof CompileError)) throw thrown;
      const [{ code, message } = { code: "TC010" as const, message: thrown.message }] = thrown.diagnostics;
      return { status: "error", code, reason: message };
    }
    const result = await this.measureIn(folder, options);
    if (result.status === "measured") return result;
    this.failed.add(folder);
    this.options.onFailed?.(folder, result.reason);
    return result;
  }

  private async measureIn(folder: string, { limitMs }: MeasureOptions): Promise<Measurement> {
    const running = runCommand(this.command, folder, limitMs, this.options.onStderr);
    this.running = running.end;
    const { code, stdout, stderr, late } = await running.result;
    this.running = undefined;
    const failed = (reason: string): Measurement => ({ status: "error", code: "TC702", reason });
    if (late) {
      const reason = `the command was ended after ${Math.round(limitMs)} ms`;
      return { status: "timeout", code: "TC506", reason };
    }
    if (code !== 0) return failed(`the command ended with ${code ?? "a signal"}: ${firstLine(stderr)}`);
    const answer = answerOf(stdout);
    if (answer === undefined)
      return failed(`the command printed no list of nanoseconds such as [1200, 1210]: ${firstLine(stdout)}`);
    const { nanoseconds, output } = answer;
    const wrong = output === undefined ? undefined : this.differs(join(folder, output));
    return wrong === undefined
      ? { status: "measured", nanoseconds }
      : { status: "wrong", code: "TC610", reason: wrong };
  }

  close(): void {
    const stopped = this.running !== undefined;
    this.running?.();
    if (this.options.keep !== undefined) return;
    // The inputs lie above the folders, and a command that is tried again reads them.
    const gone =
      stopped || this.failed.size === 0
        ? [this.root]
        : [...this.folders.values()].filter((folder) => !this.failed.has(folder));
    for (const folder of gone) removeFolder(folder);
  }

  private write(tile: TileFunc): string {
    const folder = join(this.root, `candidate-${this.folders.size}`);
    makeFolder(folder);
    put(join(folder, "tile.tir"), printFunc(tile), outputFormats.code);
    put(join(folder, "schedule.json"), documentOf(tile.schedule), outputFormats.json);
    const wgsl = wgslOf(this.task, tile);
    if (wgsl !== undefined) put(join(folder, "kernel.wgsl"), wgsl, outputFormats.code);
    const pto = orNone(() => emitPto(tile, this.task.kernel.target));
    if (pto !== undefined) {
      const { code, ...launch } = pto;
      put(join(folder, "kernel.cpp"), code, outputFormats.code);
      put(join(folder, "launch.json"), documentOf(launch), outputFormats.json);
    }
    this.folders.set(tile, folder);
    return folder;
  }

  private differs(file: string): string | undefined {
    try {
      return firstDifferentByte(readNpy(readBytes(file), file).bytes, this.task.expected);
    } catch (thrown) {
      return `its output cannot be read: ${messageOf(thrown)}`;
    }
  }
}

const put = (file: string, contents: Uint8Array | string, format: OutputFormat): void => {
  writeOutput(file, contents, { format, by: "tune --measure" });
};

const documentOf = (value: object): string => `${JSON.stringify({ schema: jsonSchema, ...value })}\n`;

interface Answer {
  readonly nanoseconds: readonly number[];
  readonly output?: string;
}

/**
 * Parses the standard output of a measuring command: one positive time in nanoseconds, a list of times, or an
 * object with `nanoseconds`. Undefined for any other text.
 */
function answerOf(stdout: string): Answer | undefined {
  try {
    const value = JSON.parse(stdout) as unknown;
    const answer = isObject(value) && !Array.isArray(value) ? value : { nanoseconds: value };
    const { nanoseconds: given, output } = answer;
    const nanoseconds = typeof given === "number" ? [given] : given;
    const isTimes = (list: unknown): list is number[] =>
      Array.isArray(list) && list.length > 0 && list.every((n) => typeof n === "number" && n > 0);
    if (!isTimes(nanoseconds)) return undefined;
    return { nanoseconds, ...(typeof output === "string" ? { output } : {}) };
  } catch {
    return undefined;
  }
}

/** Returns the WGSL of the same tile; undefined where it has none. */
function wgslOf({ kernel }: MeasuredTask, { schedule }: TileFunc): string | undefined {
  const program = kernel.source ?? kernel.access;
  if (program === undefined) return undefined;
  return orNone(() => compile(unscheduled(program), { target: kernel.target, ...schedule }).wgsl().code);
}

/**
 * Returns the result of `emit`; undefined if `emit` throws a CompileError because the language cannot express
 * the program. Rethrows any other error.
 */
function orNone<T>(emit: () => T): T | undefined {
  try {
    return emit();
  } catch (thrown) {
    if (thrown instanceof CompileError) return undefined;
    throw thrown;
  }
}
