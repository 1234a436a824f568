/**
 * `.tir` text tests: `// RUN: tilec … %s` lines with CHECK comments, or `// error[TC301]: text` on the guilty line.
 *
 * A file without either tests nothing, and that is an error; so is a comment that looks like one of these and
 * is none. An error that no comment expects fails the test.
 */
import { checkArgument } from "../../ir/argument.js";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import {
  defined,
  CompileError,
  parseModule,
  type Diagnostic,
  type Operators,
  type Profile,
  type Target,
} from "../../ir/index.js";
import { PassError, type Pass } from "../../passes/index.js";
import { tryCompile } from "../api/compile.js";
import { withProfile } from "../api/with-profile.js";
import { packageCommand } from "../device/package-files.js";
import { readStandardInput, standardInput } from "../formats/standard-input.js";
import { makeTemporaryFolder, removeFolder } from "../output/write-file.js";
import { fileCheck, linesOf, parseChecks, slipsIn, vacuousChecks, type CheckFailure } from "./filecheck.js";

/** Options of {@link runTextTest}, which runs the tilec commands of a text test and checks the outputs. */
export interface TextTestOptions {
  /** Operators that a file without RUN lines may call; default: the built-in operators. */
  readonly operators?: Operators;
  /**
   * Returns the target with a given name, undefined if there is none. Called only for names that no built-in
   * target has.
   */
  readonly findTarget?: (name: string) => Target | undefined;
  /** Profile of programs that do not state a profile; default: `strict`. */
  readonly profile?: Profile;
  /** Passes that compile a file without RUN lines, in order; default: `defaultPipeline`. */
  readonly passes?: readonly Pass[];
  /** Flags that RUN lines are given, such as `--config`, where they have none of them. */
  readonly commandFlags?: readonly string[];
  /** Runs the command line `tilec <args>`; a process of its own by default. */
  readonly run?: (args: readonly string[]) => CommandRun;
}

interface CommandRun {
  /** Output of the command that the checks search. */
  readonly output: string;
  readonly exitCode: number;
}

/**
 * Returns the failures of a `.tir` text test; an empty list if the test passes. `source` is the text of the
 * test and `file` the path.
 */
export function runTextTest(source: string, file: string, options: TextTestOptions = {}): CheckFailure[] {
  checkArgument("runTextTest", "text", source);
  const slips = slipsIn(source, (line) => runLine.test(line) || expectation.test(line));
  return [...slips, ...failuresOf(source, file, options)];
}

/**
 * Returns the failures of the expected errors and the RUN lines of a text test; an empty list if all pass. A
 * test that checks nothing fails.
 */
function failuresOf(source: string, file: string, options: TextTestOptions): CheckFailure[] {
  const runs = runsOf(source);
  const expected = expectations(source);
  if (runs.length === 0 && expected.length === 0) {
    const broken = checkErrors(source, file, [], options);
    const idle = "no RUN line and no expected error: this file tests nothing";
    return [{ line: 1, message: idle }, ...broken];
  }
  const failures = expected.length > 0 ? checkErrors(source, file, expected, options) : [];
  if (runs.length === 0) return failures;
  const checks = parseChecks(source);
  if (checks.length === 0)
    return [...failures, { line: 1, message: "a RUN line without a CHECK: it cannot fail" }];
  return [...failures, ...vacuousChecks(checks), ...checkedRuns(source, file, options)];
}

const runLine = /^\s*\/\/ RUN: (not )?tilec (.*)$/;

interface RunLine {
  /** The command must fail. */
  readonly fails: boolean;
  readonly command: string;
  readonly line: number;
}

const runsOf = (source: string): RunLine[] =>
  linesOf(source).flatMap((text, k) => {
    const [, not, command] = runLine.exec(text) ?? [];
    return command === undefined ? [] : [{ fails: not !== undefined, command, line: k + 1 }];
  });

/**
 * Runs each RUN command of a text test and checks the output. Returns at most one failure for each command;
 * an empty list if all commands pass.
 */
export function checkedRuns(source: string, file: string, options: TextTestOptions = {}): CheckFailure[] {
  const checks = parseChecks(source);
  const runs = runsOf(source);
  const folder = runs.some(({ command }) => command.includes("%t"))
    ? makeTemporaryFolder("tilec-test-")
    : undefined;
  const compileOptions = {
    "%s": file,
    "%S": dirname(file),
    "%t": join(folder ?? tmpdir(), `${basename(file)}.tmp`),
  };
  try {
    return runs.flatMap(({ fails, command, line }) => {
      const args = wordsOf(command).map((arg) =>
        arg.replaceAll(/%[sSt]/g, (name) => compileOptions[name as keyof typeof compileOptions]),
      );
      const { output, exitCode } = (options.run ?? runProcess)(
        withFlags(loadedFrom(compileOptions["%S"], args), options.commandFlags ?? []),
      );
      if ((exitCode !== 0) !== fails) {
        const said = output.trim().split("\n");
        const message = `exit code ${exitCode}: ${said.find((text) => text.includes("error")) ?? said[0] ?? ""}`;
        return [{ line, message }];
      }
      return fileCheck(output, checks) ?? [];
    });
  } finally {
    if (folder !== undefined) removeFolder(folder);
  }
}

/** Returns the words of a command, as a shell parts them: quotes hold blanks together. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ""),
  );

/** Resolves the modules of `--load` relative to the folder of the test. */
const loadedFrom = (folder: string, args: readonly string[]): string[] =>
  args.map((arg, k) => {
    if (args[k - 1] === "--load") return resolve(folder, arg);
    const [, module] = /^--load=(.*)$/.exec(arg) ?? [];
    return module === undefined ? arg : `--load=${resolve(folder, module)}`;
  });

/** Returns a command with flags that name its config. One that names its own, or none, stays as it is. */
const withFlags = (args: readonly string[], flags: readonly string[]): readonly string[] =>
  args.some((arg) => /^--(?:config|no-config)(?:=|$)/.test(arg)) ? args : [...args, ...flags];

/**
 * Runs a tilec command in a separate process and returns the output and the exit code. The output is stdout;
 * if the command fails, stdout followed by stderr.
 */
function runProcess(args: readonly string[]): CommandRun {
  const env = { ...process.env, NO_COLOR: "1" };
  const { stdout, stderr, status } = spawnSync(process.execPath, [packageCommand, ...args], {
    encoding: "utf8",
    env,
    ...(args.includes(standardInput) ? { input: readStandardInput() } : {}),
  });
  return { output: status === 0 ? stdout : stdout + stderr, exitCode: status ?? 3 };
}

interface Expectation {
  readonly code: string;
  readonly text: string;
  readonly line: number;
}

const expectation = /\/\/ error\[(TC\d+)\](?:@([+-]\d+))?:(.*)$/;

/**
 * Returns the errors expected by the `// error[TC301]: text` comments of a text test, each with code, message
 * text and line.
 */
function expectations(source: string): Expectation[] {
  return linesOf(source).flatMap((text, k) => {
    const [, code, offset, wanted] = expectation.exec(text) ?? [];
    if (code === undefined) return [];
    return [{ code, text: (wanted ?? "").trim(), line: k + 1 + Number(offset ?? 0) }];
  });
}

/**
 * Returns a failure for each unexpected error and for each expected error that does not occur. Returns an
 * empty list if the errors are exactly the expected errors.
 */
function checkErrors(
  source: string,
  file: string,
  expected: readonly Expectation[],
  options: TextTestOptions,
): CheckFailure[] {
  const errors = errorsOf(source, file, options);
  const unmatched = [...expected];
  const failures: CheckFailure[] = [];
  for (const diagnostic of errors) {
    const line = diagnostic.span?.line ?? 1;
    const match = unmatched.findIndex(
      (e) => e.code === diagnostic.code && e.line === line && diagnostic.message.includes(e.text),
    );
    if (match === -1)
      failures.push({ line, message: `unexpected error[${diagnostic.code}]: ${diagnostic.message}` });
    else unmatched.splice(match, 1);
  }
  for (const { code, text, line } of unmatched)
    failures.push({ line, message: `expected error[${code}]: ${text}` });
  return failures;
}

/**
 * Returns the errors of parsing and compiling the program text of a text test; an empty list if there are
 * none.
 */
function errorsOf(source: string, file: string, options: TextTestOptions): Diagnostic[] {
  const { module, diagnostics } = parseModule(source, file, options.operators);
  const all = [...diagnostics];
  for (const func of module.funcs) {
    try {
      const { findTarget, passes, profile } = options;
      const result = tryCompile(withProfile(func, profile), {
        ...defined({ findTarget, passes }),
      });
      if (!result.ok) all.push(...result.diagnostics);
    } catch (thrown) {
      if (thrown instanceof PassError && !thrown.builtIn) all.push(...thrown.faults);
      else if (thrown instanceof CompileError) all.push(...thrown.diagnostics);
      else throw thrown;
    }
  }
  return all.filter((d) => d.severity === "error");
}
