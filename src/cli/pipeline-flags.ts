/** `--pipeline` and `--load`: the passes that a command compiles with. */
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { defined, CompileError } from "../../ir/index.js";
import { isPass, parsePipeline, type Pass } from "../../passes/index.js";
import { noteUse } from "../formats/files.js";
import { collect } from "./collect.js";
import type { ProjectFlags } from "./options.js";
import { note } from "./terminal.js";
import { UsageError } from "./usage-error.js";
import { moduleUrl } from "../config/import-module.js";
import { whyNotLoaded } from "../config/why-not-loaded.js";

/** Values of the flags `--pipeline` and `--load`, which choose the passes that a command runs. */
export interface PipelineFlags extends ProjectFlags {
  readonly pipeline?: string;
  readonly load?: readonly string[];
}

/**
 * Adds the flags `--pipeline` and `--load`, which choose the compiler passes, to a command. Returns the
 * command.
 */
export const addPipelineOptions = (command: Command): Command =>
  command
    .optionsGroup("Passes:")
    .option("--pipeline <list>", 'passes in order, or edits: "default, no hoist-loads"')
    .option("--load <module>", "JavaScript module whose exports are passes", collect);

/**
 * Resolves to the compile option `passes`: the passes of `--pipeline`, else of the config file's pipeline; an
 * empty object without a pipeline. Rejects with a UsageError for an invalid list, or for `--load` without
 * `--pipeline`.
 */
export async function pipelineOf(flags: PipelineFlags): Promise<{ readonly passes?: readonly Pass[] }> {
  const { pipeline, load = [], project } = flags;
  if (pipeline === undefined) {
    const [file] = load;
    if (file === undefined) return defined({ passes: project.pipeline });
    throw new UsageError(
      `--load ${file} needs --pipeline: the default pipeline does not run its passes`,
      '--pipeline "default, mine after select-tile"',
    );
  }
  return { passes: passesOf("pipeline", pipeline, [...project.passes, ...(await loadPasses(load))]) };
}

/**
 * Prints a note that a command runs the built-in pipeline and ignores the pipeline of the config file. Prints
 * nothing if the config has no pipeline.
 */
export function tellBuiltIn(command: string, { config, pipeline }: ProjectFlags["project"]): void {
  if (pipeline !== undefined)
    note(`${command} runs the built-in pipeline; the pipeline of ${config ?? ""} is ignored`);
}

/**
 * Returns the passes that the pipeline text `list` names. `flag`: flag that error messages name. `extra`:
 * custom passes. Throws a UsageError if the text is not a valid pipeline.
 */
export function passesOf(flag: string, list: string, extra: readonly Pass[]): readonly Pass[] {
  try {
    return parsePipeline(list, extra);
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    const [{ message, hint } = { message: "", hint: undefined }] = thrown.diagnostics;
    throw new UsageError(`--${flag} ${JSON.stringify(list)}: ${message}`, hint);
  }
}

/**
 * Resolves to the passes that JavaScript modules export, in the order of the files. Rejects with a UsageError
 * if a module cannot be loaded or exports no pass.
 */
export const loadPasses = async (files: readonly string[]): Promise<Pass[]> =>
  (await Promise.all(files.map(passesIn))).flat();

/**
 * Resolves to the passes that a JavaScript module exports. Rejects with a UsageError if the module cannot be
 * loaded or exports no pass.
 */
async function passesIn(file: string): Promise<Pass[]> {
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = (await import(moduleUrl(file))) as Readonly<Record<string, unknown>>;
  } catch (thrown) {
    throw new UsageError(
      `--load ${file}: ${whyNotLoaded(thrown, file)}`,
      "name a JavaScript module, such as --load ./my-pass.js",
    );
  }
  const passes = [...new Set(Object.values(exports).filter(isPass))];
  if (passes.length === 0) {
    throw new UsageError(`--load ${file} exports no pass`, "export const mine = definePass({ name, … })");
  }
  noteUse(file, "reads");
  const origin = { file, text: readFileSync(file, "utf8") };
  return passes.map((pass) => {
    const { name, summary, requires, ensures } = pass;
    return { name, summary, requires, ensures, origin, run: (func, context) => pass.run(func, context) };
  });
}
