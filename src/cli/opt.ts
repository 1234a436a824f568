/** tilec opt: runs named passes on .tir text, as mlir-opt does; passes of one's own come from a module. */
import { Option, type Command } from "commander";
import { CompileError, hasErrors, printFunc, printModule, type Func } from "../../ir/index.js";
import { defaultPipeline, runPipeline, type Pass } from "../../passes/index.js";
import { resolveTargetOf } from "../api/compile.js";
import { outputFormats } from "../output/mark.js";
import { addProgramOptions, projectOf, targeting, type ProgramFlags } from "./options.js";
import { helpWidth } from "./help-layout.js";
import { loadPrograms } from "./load.js";
import { addPipelineOptions, loadPasses, passesOf, type PipelineFlags } from "./pipeline-flags.js";
import { passPrinter } from "./print-passes.js";
import { table } from "../report/table.js";
import { addForce, Outputs, type OutputFlags, type OutputFolder } from "./outputs.js";
import { note, print, printDiagnostics, printJson } from "./terminal.js";

interface OptFlags extends ProgramFlags, PipelineFlags, OutputFlags {
  readonly pass?: string;
  readonly printBefore?: string;
  readonly printAfter?: string;
  readonly dumpDir?: string;
  readonly verifyEach: boolean;
  readonly timePasses?: boolean;
  readonly json?: boolean;
}

/**
 * Adds the command `tilec opt`, which runs chosen passes on a program and prints the resulting IR, to the
 * command line.
 */
export function optCommand(program: Command): void {
  addForce(addPipelineOptions(addProgramOptions(program.command("opt"))))
    .optionsGroup("Output:")
    .addOption(new Option("--pass <list>", "short for --pipeline; absent: no pass").conflicts("pipeline"))
    .option("--print-before <when>", "print the IR before a pass, or before all")
    .option("--print-after <when>", "after a pass, after all, or after those that changed it")
    .option("--dump-dir <folder>", "write the IR after each pass to NN-pass.tir")
    .option("--no-verify-each", "do not verify between passes")
    .option("--time-passes", "print the time of each pass")
    .option("--json", "print one JSON document")
    .addHelpText("after", () => {
      const rows = defaultPipeline.map(({ name, summary }) => [name, summary]);
      return `\n${table(["Pass, in order", "Summary"], rows, helpWidth)}`;
    })
    .action(async (file: string | undefined, given: Omit<OptFlags, "project">, command: Command) => {
      const flags: OptFlags = { ...given, project: await projectOf(command) };
      const passes = await passesToRun(flags);
      const printer = passPrinter(flags, passes, note);
      const programs = await loadPrograms(file, flags);
      const outputs = new Outputs("opt", flags);
      const folder = flags.dumpDir === undefined ? undefined : outputs.folder(flags.dumpDir);
      const funcs = programs.map(({ func }) => optimise(func, passes, flags, { printer, folder }));
      if (flags.json === true)
        printJson({
          command: "opt",
          funcs: funcs.map((func) => ({ name: func.name, level: func.level, text: printFunc(func) })),
        });
      else print(printModule({ funcs }));
      process.exitCode = outputs.status(0);
    });
}

/**
 * Resolves to the passes that `--pass` or `--pipeline` lists; an empty list without the two flags. Rejects
 * with a UsageError if the list is not a valid pipeline.
 */
async function passesToRun({ pass, pipeline, load = [], project }: OptFlags): Promise<readonly Pass[]> {
  const passes = [...project.passes, ...(await loadPasses(load))];
  const [flag, list] = pipeline === undefined ? (["pass", pass] as const) : (["pipeline", pipeline] as const);
  return list === undefined || list.trim() === "" ? [] : passesOf(flag, list, passes);
}

/**
 * Runs passes on a function and returns the transformed function. `printer` prints the IR before and after
 * passes; `folder` receives one file per pass. Throws a CompileError if a pass reports an error.
 */
function optimise(
  input: Func,
  passes: readonly Pass[],
  flags: OptFlags,
  {
    printer,
    folder,
  }: { readonly printer: ReturnType<typeof passPrinter>; readonly folder: OutputFolder | undefined },
): Func {
  const target = resolveTargetOf(input, targeting(flags));
  let step = 0;
  const { func, diagnostics } = runPipeline(input, passes, target, {
    verifyEach: flags.verifyEach,
    beforePass: (pass, before) => {
      printer.beforePass(pass, before);
    },
    afterPass(pass, before, after, milliseconds) {
      printer.afterPass(pass, before, after, milliseconds);
      step++;
      const name = `${after.name}.${String(step).padStart(2, "0")}-${pass.name}.tir`;
      folder?.write(name, printFunc(after), outputFormats.code);
    },
  });
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  printDiagnostics(diagnostics);
  return func;
}
