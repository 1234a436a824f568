/**
 * `check PROGRAM --kernel mine.wgsl` and `--command`: a kernel that tilec did not write, beside what a program defines.
 */
import type { Command } from "commander";
import { defined } from "../../ir/index.js";
import type { Backend } from "../../backends/index.js";
import { readText } from "../formats/files.js";
import { commandBackend } from "../testing/foreign/foreign-command.js";
import { foreignTests } from "../testing/foreign/foreign-tests.js";
import { foreignKernel } from "../testing/foreign/foreign-kernel.js";
import type { Test } from "../testing/run-tests.js";
import { collect } from "./collect.js";
import { loadProgram } from "./load.js";
import { readInputs } from "./loaded-program.js";
import { dashed, parseCount, parseCountFrom, parseSeed, type ProjectFlags } from "./options.js";
import { note } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Flags of `tilec check` for a kernel that tilec did not generate: a WGSL file (`kernel`) or a command. */
export interface ForeignFlags {
  readonly kernel?: string;
  readonly command?: string;
  readonly entry?: string;
  readonly bind?: string;
  readonly dispatch?: string;
  readonly uniform?: readonly string[];
  readonly override?: readonly string[];
  readonly usesArrayLength?: boolean;
  readonly timeout?: string;
  readonly seed?: string;
}

/** Flags that say something of a WGSL text alone. */
const ofWgsl = ["entry", "bind", "dispatch", "uniform", "override", "usesArrayLength"] as const;
/** Flags of both. */
const ofBoth = ["timeout", "seed"] as const;
/** Flags of `check` that mean nothing beside a kernel of one's own. */
const ofTests = ["require", "update", "watch", "dump", "executor"] as const;

/** Adds the flags for a kernel that tilec did not generate to a command, and returns the command. */
export const addForeignOptions = (command: Command): Command =>
  command
    .option(
      "--kernel <file.wgsl>",
      "judge this compute shader, in place of backends, by the program in the file",
    )
    .option("--command <command>", "judge a command: it reads a folder's inputs and writes its output.npy")
    .option("--entry <name>", "with --kernel: the compute entry point, where there are several")
    .option("--bind <list>", "with --kernel: the binding of each operand, data=0,indices=1,output=2")
    .option("--dispatch <sizes>", 'with --kernel: counts of workgroups, such as "ceil(out0 / 64), out1"')
    .option(
      "--uniform <binding=sizes>",
      "with --kernel: u32 numbers of a uniform buffer, 3=out0,in0_1; repeat for more",
      collect,
    )
    .option("--override <name=size>", "with --kernel: the value of an override; repeat for more", collect)
    .option(
      "--uses-array-length",
      "with --kernel: its bounds come from arrayLength, so no binding is longer than its tensor",
    )
    .option("--timeout <seconds>", "with --kernel or --command: what a draw may take (default: 60)")
    .option("--seed <n>", "with --kernel or --command: the first of three seeds (default: 1)");

/** A kernel that tilec did not write, and its tests. */
interface LoadedForeign {
  readonly backend: Backend;
  readonly tests: readonly Test[];
  readonly close: () => void;
}

/**
 * Loads a kernel that tilec did not generate (`--kernel` or `--command`) as a backend, with tests. Undefined
 * without the two flags. Rejects with a UsageError for flags that cannot be combined, or for several program
 * files.
 */
export async function loadForeign(
  files: readonly string[],
  flags: ForeignFlags & ProjectFlags & Readonly<Partial<Record<(typeof ofTests)[number], unknown>>>,
): Promise<LoadedForeign | undefined> {
  const { kernel, command } = flags;
  if (kernel === undefined && command === undefined) {
    const stray = [...ofWgsl, ...ofBoth].find((flag) => flags[flag] !== undefined);
    if (stray !== undefined)
      throw new UsageError(
        `--${dashed(stray)} needs --kernel, the WGSL file of your own kernel`,
        "--kernel mine.wgsl",
      );
    return undefined;
  }
  if (kernel !== undefined && command !== undefined)
    throw new UsageError("--kernel cannot be used with --command", "judge one, then the other");
  const stray = ofTests.find((flag) => flags[flag] !== undefined);
  if (stray !== undefined)
    throw new UsageError(
      `--${dashed(stray)} cannot be used with --${kernel === undefined ? "command" : "kernel"}: it applies to tests`,
      `leave --${dashed(stray)} out`,
    );
  const [file, second] = files;
  if (file === undefined || second !== undefined)
    throw new UsageError(`a kernel is compared with one program, and there are ${files.length} files`);
  const { func, inputs = {} } = await loadProgram(file, { project: flags.project });
  const seconds = flags.timeout === undefined ? 60 : parseCountFrom(flags.timeout, "timeout", 1, 60);
  const seed = flags.seed === undefined ? 1 : parseSeed(flags.seed);
  const timeout = 1000 * seconds;
  const judged = { func, file, given: readInputs(func, inputs) };
  if (command !== undefined) {
    const stray = ofWgsl.find((flag) => flags[flag] !== undefined);
    if (stray !== undefined)
      throw new UsageError(`--${dashed(stray)} cannot be used with --command: it applies to WGSL`);
    const backend = commandBackend(command, func, {
      timeout,
      onStderr: (text) => {
        note(text.trimEnd());
      },
    });
    return { backend, tests: await foreignTests(judged, backend, seed), close: () => undefined };
  }
  const backend = foreignKernel({
    ...describedBy(kernel ?? "", flags),
    timeout,
  });
  return { backend, tests: await foreignTests(judged, backend, seed), close: backend.close };
}

/**
 * Returns the description of a WGSL kernel from a file and flags: code, bindings, dispatch, uniforms and
 * overrides. Throws a UsageError if `--bind` or `--dispatch` is missing or a value is malformed.
 */
function describedBy(file: string, flags: ForeignFlags) {
  const { entry, bind, dispatch, uniform = [], override = [], usesArrayLength } = flags;
  if (bind === undefined)
    throw new UsageError(
      "--kernel needs --bind",
      "--bind data=0,indices=1,output=2: the binding of each operand",
    );
  if (dispatch === undefined)
    throw new UsageError(
      "--kernel needs --dispatch",
      '--dispatch "ceil(out0 / 64), out1": counts of workgroups',
    );
  return {
    name: file,
    wgsl: readText(file),
    ...defined({ entry }),
    bind: Object.fromEntries(
      bind.split(",").map((piece) => {
        const [name, number] = assigned(piece.trim(), "bind", "data=0");
        return [name, parseCount(number, "bind")] as const;
      }),
    ),
    dispatch,
    uniform: Object.fromEntries(uniform.map((piece) => assigned(piece, "uniform", "3=out0,in0_1"))),
    override: Object.fromEntries(override.map((piece) => assigned(piece, "override", "width=in0_1"))),
    ...defined({ usesArrayLength }),
  };
}

function assigned(text: string, flag: string, example: string): readonly [name: string, value: string] {
  const at = text.indexOf("=");
  if (at <= 0 || at === text.length - 1)
    throw new UsageError(`--${flag} ${text} is not of the form name=value`, `--${flag} ${example}`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}
