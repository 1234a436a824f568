/** tilec opt: runs named passes on .tir text, as mlir-opt does; passes of one's own come from a module. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Command } from "commander";
import { CompileError, hasErrors, printFunc, printModule, type Func } from "../../ir/index.js";
import { defaultPipeline, isPass, runPipeline, type Pass } from "../../passes/index.js";
import { resolveTargetOf } from "../api/compile.js";
import { writeBytes } from "../formats/files.js";
import { lookUpTarget } from "../formats/look-up-target.js";
import { collect } from "./collect.js";
import { addProgramOptions, resolveTarget, type ProgramFlags } from "./options.js";
import { UsageError } from "./usage-error.js";
import { loadPrograms } from "./load.js";
import { passPrinter } from "./print-passes.js";
import { note, print, printDiagnostics, printJson } from "./terminal.js";

interface OptFlags extends ProgramFlags {
  readonly pass?: string;
  readonly load: string[];
  readonly printBefore?: string;
  readonly printAfter?: string;
  readonly dumpDir?: string;
  readonly verifyEach: boolean;
  readonly timePasses?: boolean;
  readonly json?: boolean;
}

export function optCommand(program: Command): void {
  const names = defaultPipeline.map((pass) => `  ${pass.name.padEnd(20)} ${pass.summary}`).join("\n");
  addProgramOptions(program.command("opt"))
    .option(
      "--pass <list>",
      "passes in order, comma-separated; default: none, which parses, verifies and prints",
    )
    .option(
      "--load <module>",
      "a JavaScript module whose exports are passes (definePass of tilec/passes); repeat for more",
      collect,
      [],
    )
    .option("--print-before <when>", "print the IR before `all` passes, or before one")
    .option("--print-after <when>", "print the IR after `all` passes, those that `changed` it, or one")
    .option("--dump-dir <folder>", "write the IR after each pass to NN-pass.tir")
    .option("--no-verify-each", "do not verify between passes")
    .option("--time-passes", "print the time of each pass")
    .option("--json", "print one JSON document")
    .addHelpText("after", `\nPasses, in pipeline order:\n${names}`)
    .action(async (file: string | undefined, flags: OptFlags) => {
      const loaded = (await Promise.all(flags.load.map(loadPasses))).flat();
      const known = [...defaultPipeline, ...loaded];
      const passes = parsePasses(flags.pass, known);
      const printer = passPrinter(flags, passes, note);
      const programs = await loadPrograms(file, flags);
      const funcs = programs.map(({ func }) => optimise(func, passes, flags, printer));
      if (flags.json === true)
        printJson({ command: "opt", funcs: funcs.map((func) => ({ ...func, text: printFunc(func) })) });
      else print(printModule({ funcs }));
    });
}

/** A textual pass list. Throws a UsageError that names the passes there are. */
function parsePasses(text: string | undefined, known: readonly Pass[]): Pass[] {
  if (text === undefined || text.trim() === "") return [];
  return text.split(",").map((name) => {
    const pass = known.find((candidate) => candidate.name === name.trim());
    if (pass === undefined) {
      throw new UsageError(`there is no pass ${name.trim()}`, known.map((p) => p.name).join(", "));
    }
    return pass;
  });
}

/** The passes that a module exports. Throws a UsageError for a module that cannot be loaded or has none. */
async function loadPasses(file: string): Promise<Pass[]> {
  let exports: Readonly<Record<string, unknown>>;
  try {
    exports = (await import(pathToFileURL(resolve(file)).href)) as Readonly<Record<string, unknown>>;
  } catch (thrown) {
    const why = thrown instanceof Error ? (thrown.message.split("\n")[0] ?? "") : String(thrown);
    throw new UsageError(`--load ${file}: ${why}`, "a JavaScript module, such as ./my-pass.js");
  }
  const passes = Object.values(exports).filter(isPass);
  if (passes.length === 0) {
    throw new UsageError(`--load ${file} exports no pass`, "export const mine = definePass({ name, … })");
  }
  return passes;
}

function optimise(
  input: Func,
  passes: readonly Pass[],
  flags: OptFlags,
  printer: ReturnType<typeof passPrinter>,
): Func {
  const target =
    flags.target === undefined
      ? resolveTargetOf(input, { findTarget: lookUpTarget })
      : resolveTarget(flags.target);
  let step = 0;
  const { func, diagnostics } = runPipeline(input, passes, target, {
    verifyEach: flags.verifyEach,
    beforePass: (pass, before) => {
      printer.beforePass(pass, before);
    },
    afterPass(pass, before, after, milliseconds) {
      printer.afterPass(pass, before, after, milliseconds);
      step++;
      if (flags.dumpDir !== undefined) {
        const name = `${after.name}.${String(step).padStart(2, "0")}-${pass.name}.tir`;
        writeBytes(`${flags.dumpDir}/${name}`, printFunc(after));
      }
    },
  });
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  printDiagnostics(diagnostics);
  return func;
}
