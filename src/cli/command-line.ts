/**
 * A command line from its words to its exit code: the commands, and what each kind of failure is to the user.
 */
import { Command, CommanderError, Option } from "commander";
import { CompileError, error, RunError, type Diagnostic } from "../../ir/diagnostic.js";
import { InternalError } from "../../ir/types.js";
import { ConfigError } from "../config/config-error.js";
import { forgetUses } from "../formats/files.js";
import { everywhereHeading, helpLayout } from "./help-layout.js";
import { refuseSecondValues } from "./second-values.js";
import { note, printDiagnostics, printJson } from "./terminal.js";
import { commanderText } from "./usage-error.js";
import { version } from "../device/package-files.js";

interface CommandEntry {
  readonly summary: string;
  /** Adds the command, its flags and its action: the modules behind one command load for it alone. */
  readonly load: () => Promise<(program: Command) => void>;
}

const commands: Readonly<Record<string, CommandEntry>> = {
  compile: {
    summary: "lower a gather and print it",
    load: async () => (await import("./compile.js")).compileCommand,
  },
  opt: {
    summary: "run named passes on .tir text",
    load: async () => (await import("./opt.js")).optCommand,
  },
  diff: {
    summary:
      "two programs, or two pipelines of one program, beside each other; exit code 1 where they differ",
    load: async () => (await import("./diff.js")).diffCommand,
  },
  run: {
    summary: "execute a gather; several backends are compared bit for bit",
    load: async () => (await import("./run.js")).runCommand,
  },
  explain: {
    summary: "every rule, pass or fail, with the numbers; or the page of a code, as in `tilec explain TC301`",
    load: async () => (await import("./explain.js")).explainCommand,
  },
  legal: {
    summary: "count and list the legal tiles; or prove that there are none",
    load: async () => (await import("./legal.js")).legalCommand,
  },
  plan: {
    summary: "every node of an ONNX model that reads or writes by index, and what becomes of it",
    load: async () => (await import("./plan.js")).planCommand,
  },
  tune: {
    summary: "search the schedules of a gather; flags pin what they say, the rest is searched",
    load: async () => (await import("./tune.js")).tuneCommand,
  },
  records: {
    summary: "records of searches: merge, best, add, export, pin",
    load: async () => (await import("./records.js")).recordsCommand,
  },
  check: {
    summary: "run regression tests: case files, .tir text tests, ONNX backend-test folders, models",
    load: async () => (await import("./check.js")).checkCommand,
  },
  targets: {
    summary: "list targets; with a name, every figure with its source (--json makes a target file)",
    load: async () => (await import("./targets.js")).targetsCommand,
  },
  validate: {
    summary: "published measurements of boards beside what the clock says of them",
    load: async () => (await import("./validate.js")).validateCommand,
  },
  devices: {
    summary: "the WebGPU device that `run` and `check` would use",
    load: async () => (await import("./devices.js")).devicesCommand,
  },
  schema: {
    summary: "print the JSON Schema of what a command prints with --json, or of case files",
    load: async () => (await import("./schema.js")).schemaCommand,
  },
  completion: {
    summary: "print a script by which bash, zsh or fish completes commands and flags",
    load: async () => (await import("./completion.js")).completionCommand(everyCommand),
  },
  fmt: {
    summary: "print .tir files canonically",
    load: async () => (await import("./fmt.js")).fmtCommand,
  },
  help: {
    summary: "help on a command; `tilec help op NAME` on an operator and its attributes",
    load: async () => (await import("./help.js")).helpCommand,
  },
  lsp: {
    summary: "serve editors over stdin and stdout (language server protocol)",
    load: async () => (await import("./lsp.js")).lspCommand,
  },
};

const rootCommand = (): Command =>
  new Command("tilec")
    .description(
      "A tiling compiler for gathers and scatters: legal or explained, the same bits from every backend",
    )
    .optionsGroup(everywhereHeading)
    .version(version)
    .option("--config <file>", "config in place of the nearest tilec.config.*")
    .option("--no-config", "read no config")
    .addHelpOption(new Option("-h, --help", "show this help").helpGroup(everywhereHeading))
    .helpCommand(false)
    .configureHelp(helpLayout)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });

/** Resolves to the command line parser of tilec with all commands and flags. */
export async function everyCommand(): Promise<Command> {
  const root = rootCommand();
  for (const { load } of Object.values(commands)) (await load())(root);
  return root;
}

/**
 * Resolves to the command line parser for one invocation. The parser has all commands by name, but flags only
 * for the commands that occur in `args`.
 */
async function build(args: readonly string[]): Promise<Command> {
  const program = rootCommand();
  const added = (name: string): Command | undefined =>
    program.commands.find((command) => command.name() === name);
  for (const [name, { summary, load }] of Object.entries(commands)) {
    if (args.includes(name) && added(name) === undefined) (await load())(program);
    (added(name) ?? program.command(name)).description(summary);
  }
  if (program.commands.some(takesOperator)) await addOperators(program, args);
  // Settings are not inherited by commands that exist already.
  for (const command of program.commands.flatMap((command) => [command, ...command.commands])) {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    refuseSecondValues(command);
  }
  refuseSecondValues(program);
  return program;
}

/** True if a command takes `--op` and the other flags of a program. */
const takesOperator = (command: Command): boolean => command.options.some(({ long }) => long === "--op");

/**
 * Adds the attribute flags of the config's operators to the commands that take `--op`, and help on the
 * operator that `--op` names.
 */
async function addOperators(program: Command, args: readonly string[]): Promise<void> {
  const { projectOf } = await import("./options.js");
  const given = rootCommand().allowUnknownOption();
  given.parseOptions([...args]);
  // A config that cannot be used is for the command to refuse, if it needs one.
  const project = await projectOf(program, given.opts()).catch((thrown: unknown) => {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  });
  const { addOperatorHelp } = await import("./operator-help.js");
  for (const command of program.commands.filter(takesOperator)) addOperatorHelp(command, project?.operators);
  if (project?.operators === undefined) return;
  const { addProjectOperators } = await import("./project-operators.js");
  addProjectOperators(program, await everyCommand(), project);
}

/**
 * Runs one command line and sets the exit code of the process; never rejects. Exit codes: 0 success, 1
 * program, custom pass or check at fault, 2 wrong usage, 3 bug in tilec.
 */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  const json = args.includes("--json");
  forgetUses();
  try {
    const program = await build(args);
    await program.parseAsync(args, { from: "user" });
  } catch (thrown) {
    process.exitCode = await report(thrown, json, args);
  }
}

/**
 * Prints the error that a command threw and resolves to the exit code. The code is 1 for a rejected program,
 * 2 for wrong usage, 3 for a bug in tilec.
 */
async function report(thrown: unknown, json: boolean, args: readonly string[]): Promise<number> {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return 0;
    const message = commanderText(thrown);
    if (message === "(outputHelp)") {
      const program = await build(args);
      const named = program.commands.find(
        (command) => command.commands.length > 0 && args.includes(command.name()),
      );
      note((named ?? program).helpInformation());
      return 2;
    }
    return fail([error("TC701", message, { hint: usageHint(thrown, args) })], json, 2);
  }
  if (thrown instanceof ConfigError) return fail(thrown.diagnostics, json, 2);
  if (thrown instanceof CompileError || thrown instanceof RunError)
    return fail(thrown.diagnostics, json, isWrongUsage(thrown.diagnostics) ? 2 : 1);
  const { PassError } = await import("../../passes/pipeline.js");
  if (thrown instanceof PassError && !thrown.builtIn) return fail(thrown.faults, json, 1);
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  const kind = thrown instanceof InternalError ? "internal error" : "unexpected error";
  if (thrown instanceof PassError) {
    const { writeReproducer } = await import("./reproducer.js");
    writeReproducer(thrown, `tilec ${args.join(" ")}`);
  }
  note(`${kind}: this is a bug in tilec; please report it with the command you ran\n${stack}`);
  if (json) printJson({ ok: false, internalError: stack });
  return 3;
}

/** True if every error is a wrong usage (TC701), of one command line or of each program that it names. */
function isWrongUsage(diagnostics: readonly Diagnostic[]): boolean {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  return errors.length > 0 && errors.every(({ code }) => code === "TC701");
}

/**
 * Returns the hint of a usage error: the help command to type. For an unknown option after `--op`, the hint
 * names the operator's help.
 */
function usageHint({ code }: CommanderError, args: readonly string[]): string {
  if (code === "commander.conflictingOption") return "leave out one of the two";
  const flag = args.findIndex((arg) => arg === "--op" || arg.startsWith("--op="));
  const named = flag === -1 ? undefined : args[flag] === "--op" ? args[flag + 1] : args[flag]?.slice(5);
  return code === "commander.unknownOption" && named !== undefined
    ? `tilec help op ${named} lists its inputs and attributes`
    : "tilec --help, or tilec <command> --help";
}

/** Prints diagnostics, with `json` also as a JSON document, and returns `exitCode`. */
function fail(diagnostics: readonly Diagnostic[], json: boolean, exitCode: number): number {
  printDiagnostics(diagnostics);
  if (json) printJson({ ok: false, diagnostics });
  return exitCode;
}
