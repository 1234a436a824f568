/** tilec opt: runs named passes on .tir text, as mlir-opt does. */
import type { Command } from "commander";
import { CompileError, hasErrors, printFunc, printModule, type Func } from "../../ir/index.js";
import { defaultPipeline, runPipeline, type Pass } from "../../passes/index.js";
import { resolveTargetOf } from "../api/compile.js";
import { writeBytes } from "../formats/files.js";
import { lookUpTarget, addProgramOptions, resolveTarget, UsageError, type ProgramFlags } from "./options.js";
import { loadPrograms } from "./load.js";
import { note, print, printDiagnostics, printJson } from "./terminal.js";

interface OptFlags extends ProgramFlags {
  readonly pass?: string;
  readonly printAfter?: string;
  readonly dumpDir?: string;
  readonly verifyEach: boolean;
  readonly timePasses?: boolean;
  readonly json?: boolean;
}

export function optCommand(program: Command): void {
  const names = defaultPipeline.map((pass) => `  ${pass.name.padEnd(20)} ${pass.summary}`).join("\n");
  addProgramOptions(program.command("opt"))
    .description("run named passes on .tir text")
    .option(
      "--pass <list>",
      "passes in order, comma-separated; default: none, which parses, verifies and prints",
    )
    .option("--print-after <when>", "print the IR after `all` passes, those that `changed` it, or one")
    .option("--dump-dir <folder>", "write the IR after each pass to NN-pass.tir")
    .option("--no-verify-each", "do not verify between passes")
    .option("--time-passes", "print the time of each pass")
    .option("--json", "print one JSON document")
    .addHelpText("after", `\nPasses, in pipeline order:\n${names}`)
    .action((file: string | undefined, flags: OptFlags) => {
      const passes = parsePasses(flags.pass);
      const names = ["all", "changed", ...passes.map((pass) => pass.name)];
      if (flags.printAfter !== undefined && !names.includes(flags.printAfter)) {
        throw new UsageError(`--pass runs no ${flags.printAfter} to print after`, names.join(", "));
      }
      const funcs = loadPrograms(file, flags).map(({ func }) => optimise(func, passes, flags));
      if (flags.json === true)
        printJson({ command: "opt", funcs: funcs.map((func) => ({ ...func, text: printFunc(func) })) });
      else print(printModule({ funcs }));
    });
}

/** A textual pass list. Throws a UsageError that names the passes there are. */
export function parsePasses(text: string | undefined): Pass[] {
  if (text === undefined || text.trim() === "") return [];
  return text.split(",").map((name) => {
    const pass = defaultPipeline.find((candidate) => candidate.name === name.trim());
    if (pass === undefined) {
      throw new UsageError(`there is no pass ${name.trim()}`, defaultPipeline.map((p) => p.name).join(", "));
    }
    return pass;
  });
}

function optimise(input: Func, passes: readonly Pass[], flags: OptFlags): Func {
  const target =
    flags.target === undefined
      ? resolveTargetOf(input, { findTarget: lookUpTarget })
      : resolveTarget(flags.target);
  let step = 0;
  const { func, diagnostics } = runPipeline(input, passes, target, {
    verifyEach: flags.verifyEach,
    afterPass(pass, before, after, milliseconds) {
      const text = printFunc(after);
      const changed = printFunc(before) !== text;
      step++;
      if (flags.dumpDir !== undefined) {
        writeBytes(`${flags.dumpDir}/${after.name}.${String(step).padStart(2, "0")}-${pass.name}.tir`, text);
      }
      const { printAfter } = flags;
      if (printAfter === "all" || printAfter === pass.name || (printAfter === "changed" && changed)) {
        note(`// after ${pass.name}${changed ? "" : " (unchanged)"}\n${text}`);
      }
      if (flags.timePasses === true) note(`${pass.name.padEnd(20)} ${milliseconds.toFixed(3)} ms`);
    },
  });
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  printDiagnostics(diagnostics);
  return func;
}
