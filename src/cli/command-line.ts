/** A command line from its words to its exit code: the commands, and what each kind of failure is to the user. */
import { Command, CommanderError } from "commander";
import { CompileError, error, InternalError, RunError, type Diagnostic } from "../../ir/index.js";
import { PassError } from "../../passes/index.js";
import { writeBytes } from "../formats/files.js";
import { reproducer } from "./reproducer.js";
import { checkCommand } from "./check.js";
import { compileCommand } from "./compile.js";
import { explainCommand } from "./explain.js";
import { fmtCommand } from "./fmt.js";
import { legalCommand } from "./legal.js";
import { lspCommand } from "./lsp.js";
import { optCommand } from "./opt.js";
import { UsageError } from "./options.js";
import { runCommand } from "./run.js";
import { targetsCommand } from "./targets.js";
import { recordsCommand } from "./records.js";
import { tuneCommand } from "./tune.js";
import { version } from "./version.js";
import { note, printDiagnostics, printJson } from "./terminal.js";

function build(): Command {
  const program = new Command("tilec")
    .description("A tiling compiler for gathers: legal or explained, the same bits from every backend")
    .version(version)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  for (const add of [
    compileCommand,
    optCommand,
    runCommand,
    explainCommand,
    legalCommand,
    tuneCommand,
    recordsCommand,
    checkCommand,
    targetsCommand,
    fmtCommand,
    lspCommand,
  ]) {
    add(program);
  }
  // Settings are not inherited by commands that exist already.
  for (const command of program.commands.flatMap((own) => [own, ...own.commands])) {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    refuseSecondValues(command);
  }
  return program;
}

/** Of two values for one flag the parser keeps the last; a flag that collects them takes several. */
function refuseSecondValues(command: Command): void {
  for (const option of command.options) {
    if (!option.required || Array.isArray(option.defaultValue)) continue;
    let first: string | undefined;
    command.on(`option:${option.name()}`, (value: string) => {
      if (first !== undefined && first !== value) {
        throw new UsageError(`--${option.name()} is given twice, as ${first} and as ${value}`);
      }
      first = value;
    });
  }
}

/**
 * Runs one command line and leaves its exit code with the process: 0 fine, 1 the program or a check is wrong, 2 usage, 3 a bug
 * in tilec. Never rejects.
 */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  const json = args.includes("--json");
  try {
    await build().parseAsync(args, { from: "user" });
  } catch (thrown) {
    process.exitCode = report(thrown, json, args);
  }
}

function report(thrown: unknown, json: boolean, args: readonly string[]): number {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    const message = thrown.message.replace(/^error: /, "");
    if (message === "(outputHelp)") {
      note(build().helpInformation());
      return 2;
    }
    return fail([error("TC701", message, { hint: "tilec --help, or tilec <command> --help" })], json, 2);
  }
  if (thrown instanceof UsageError) return fail(thrown.diagnostics, json, 2);
  if (thrown instanceof CompileError || thrown instanceof RunError) return fail(thrown.diagnostics, json, 1);
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  const kind = thrown instanceof InternalError ? "internal error" : "unexpected error";
  if (thrown instanceof PassError) {
    const { file, text } = reproducer(thrown, `tilec ${args.join(" ")}`);
    writeBytes(file, text);
    note(`wrote ${file}: please attach it to the report`);
  }
  note(`${kind}: this is a bug in tilec; please report it with the command you ran\n${stack}`);
  if (json) printJson({ ok: false, internalError: stack });
  return 3;
}

function fail(diagnostics: readonly Diagnostic[], json: boolean, exitCode: number): number {
  printDiagnostics(diagnostics);
  if (json) printJson({ ok: false, diagnostics });
  return exitCode;
}
