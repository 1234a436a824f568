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

/** Flags that choose the passes of a command. */
export interface PipelineFlags extends ProjectFlags {
  readonly pipeline?: string;
  readonly load?: readonly string[];
}

/** Adds the flags `--pipeline` and `--load` to a command. */
export const addPipelineOptions = (command: Command): Command =>
  command
    .optionsGroup("Passes:")
    .option("--pipeline <list>", 'passes in order, or edits: "default, no hoist-loads"')
    .option("--load <module>", "JavaScript module whose exports are passes", collect);

/**
 * Resolves to the passes of the flags, else those of the config, as options for `compile`. An empty object if
 * neither has a pipeline. Rejects with a UsageError.
 */
export async function pipelineOf(flags: PipelineFlags): Promise<{ readonly passes?: readonly Pass[] }> {
  const { pipeline, load = [], project } = flags;
  if (pipeline === undefined) {
    const [file] = load;
    if (file === undefined) return defined({ passes: project.pipeline });
    throw new UsageError(
      `--load ${file} is run by no pipeline`,
      '--pipeline "default, mine after select-tile"',
    );
  }
  return { passes: passesOf("pipeline", pipeline, [...project.passes, ...(await loadPasses(load))]) };
}

/**
 * Prints a note that the command uses the built-in pipeline and ignores the pipeline of the config, if there
 * is one.
 */
export function tellBuiltIn(command: string, { config, pipeline }: ProjectFlags["project"]): void {
  if (pipeline !== undefined)
    note(`${command} goes by the built-in pipeline; the pipeline of ${config ?? ""} does not run`);
}

/**
 * Returns the passes that the value of a flag lists. `extra` are custom passes that the list can name. Throws
 * a UsageError for a list that is no pipeline.
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
 * Resolves to the passes that JavaScript modules export. Rejects with a UsageError for a module that cannot
 * be loaded or exports no pass.
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
      "a JavaScript module, such as ./my-pass.js",
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
