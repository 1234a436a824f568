/**
 * A command of the user's as a backend: a process for each draw, which reads its inputs from a folder and
 * writes its output there.
 */
import { join } from "node:path";
import type { Backend, HostInputs } from "../../../backends/index.js";
import {
  entryOf,
  error,
  formatType,
  inputsOf,
  keyOf,
  outputOf,
  printFunc,
  RunError,
  unscheduled,
  type Func,
} from "../../../ir/index.js";
import { firstLine, runCommand } from "../../device/run-command.js";
import { fileNames } from "../../formats/file-names.js";
import { readBytes } from "../../formats/files.js";
import { readNpy, writeNpy } from "../../formats/npy.js";
import { jsonSchema, outputFormats } from "../../output/mark.js";
import { makeFolder, makeTemporaryFolder, removeFolder, writeOutput } from "../../output/write-file.js";
import { messageOf } from "../../../ir/faults.js";

/**
 * Options for a backend that runs a user's command: the time limit for one run, and a function that receives
 * stderr.
 */
export interface CommandOptions {
  /** Time limit for one run of the command, in milliseconds. */
  readonly timeout: number;
  /** Receives the text that the command writes to stderr, piece by piece. */
  readonly onStderr?: (text: string) => void;
}

/**
 * Returns a backend that runs a user's command once for each set of test inputs. The last argument of the
 * command is a folder with `program.json` and `inputs/NAME.npy`; the command must write `output.npy` there.
 * Runs reject with a RunError (TC611) if the command fails, writes an invalid output or exceeds the time
 * limit.
 */
export const commandBackend = (command: string, func: Func, options: CommandOptions): Backend => ({
  name: command,
  rejects: false,
  prepare: () => ({
    run: (inputs) => runDraw(command, func, inputs, options),
    release() {
      // A process lives as long as its draw.
    },
  }),
});

/**
 * Runs a user's command on one set of test inputs and returns the output bytes. Rejects with a RunError
 * (TC611) if the command exceeds the time limit, fails or writes no valid output.
 */
async function runDraw(
  command: string,
  func: Func,
  inputs: HostInputs,
  { timeout, onStderr }: CommandOptions,
): Promise<{ readonly output: Uint8Array }> {
  const folder = makeTemporaryFolder("tilec-check-");
  writeDraw(folder, func, inputs);
  const { code, stderr, late } = await runCommand(command, folder, timeout, onStderr).result;
  const failed = (why: string): RunError =>
    new RunError([error("TC611", `${command} ${why}`, { hint: `what it was given stays in ${folder}` })]);
  if (late) throw failed(`was ended after ${timeout / 1000} s`);
  if (code !== 0) {
    const said = firstLine(stderr);
    throw failed(`ended with ${code ?? "a signal"}${said === "" ? "" : `: ${said}`}`);
  }
  const { type } = outputOf(func);
  const output = readOutput(join(folder, "output.npy"), failed);
  if (formatType(output.type) !== formatType(type))
    throw failed(`gives ${formatType(output.type)} as output.npy; it takes ${formatType(type)}`);
  removeFolder(folder);
  return { output: output.bytes };
}

/**
 * Reads the `.npy` output file of a command and returns the tensor. Throws the error that `failed` creates if
 * the file cannot be read.
 */
function readOutput(file: string, failed: (why: string) => RunError): ReturnType<typeof readNpy> {
  try {
    return readNpy(readBytes(file), file);
  } catch (thrown) {
    throw failed(`left no output that can be read: ${messageOf(thrown)}`);
  }
}

/**
 * Writes one set of test inputs to a folder: an `.npy` file for each input, and the description of the
 * program as `program.json`.
 */
function writeDraw(folder: string, func: Func, inputs: HostInputs): void {
  const put = (
    name: string,
    contents: Uint8Array | string,
    format: (typeof outputFormats)["npy" | "json"],
  ): void => {
    writeOutput(join(folder, name), contents, { format, by: "check --command" });
  };
  makeFolder(join(folder, "inputs"));
  const operands = inputsOf(func);
  const files = fileNames(operands.map(keyOf)).map((name) => `inputs/${name}.npy`);
  for (const [k, operand] of operands.entries()) {
    const bytes = entryOf(inputs, keyOf(operand))?.bytes ?? new Uint8Array();
    put(files[k] ?? "", writeNpy({ type: operand.type, bytes }), outputFormats.npy);
  }
  const document = {
    schema: jsonSchema,
    program: printFunc(unscheduled(func)),
    ...(func.level === "source" ? { op: func.op, attrs: func.attrs } : {}),
    inputs: operands.map((operand, k) => ({
      key: keyOf(operand),
      name: operand.name,
      ...operand.type,
      file: files[k],
    })),
    output: { ...outputOf(func).type, file: "output.npy" },
  };
  put("program.json", `${JSON.stringify(document)}\n`, outputFormats.json);
}
