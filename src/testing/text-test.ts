/**
 * `.tir` text tests: `// RUN: tilec … %s` lines with CHECK comments, or `// error[TC301]: text` on the guilty line.
 *
 * A file without either tests nothing, and that is an error. An error that no comment expects fails the test.
 */
import { spawnSync } from "node:child_process";
import { CompileError, parseModule, type Diagnostic, type Target } from "../../ir/index.js";
import { tryCompile } from "../api/compile.js";
import { ownCommand } from "../device/own-package.js";
import { fileCheck, parseChecks, vacuousChecks, type CheckFailure } from "./filecheck.js";

/** What the commands of text tests run with. */
export interface TextTestOptions {
  /** Looks up what is no built-in target; default: none. */
  readonly findTarget?: (name: string) => Target | undefined;
  /** Runs the command line `tilec <args>`; a process of its own by default. */
  readonly run?: (args: readonly string[]) => { readonly output: string; readonly exitCode: number };
}

/** Every reason the test fails; empty when it passes. */
export function runTextTest(source: string, file: string, options: TextTestOptions = {}): CheckFailure[] {
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

const runsOf = (source: string) => [...source.matchAll(/^\s*\/\/ RUN: (?:not )?tilec (.*)$/gm)];

/** Runs every command of a text test: one failure at most for each. */
export function checkedRuns(source: string, file: string, options: TextTestOptions = {}): CheckFailure[] {
  const checks = parseChecks(source);
  return runsOf(source).flatMap(([line, command]) => {
    const args = (command ?? "")
      .trim()
      .split(/\s+/)
      .map((arg) => arg.replaceAll("%s", file));
    const { output, exitCode } = (options.run ?? runProcess)(args);
    const fails = line.includes("RUN: not ");
    if ((exitCode !== 0) !== fails) {
      const message = `exit code ${exitCode}: ${output.trim().split("\n")[0] ?? ""}`;
      return [{ line: lineOf(source, line), message }];
    }
    return fileCheck(output, checks) ?? [];
  });
}

const lineOf = (source: string, text: string): number =>
  source.slice(0, source.indexOf(text)).split("\n").length;

/** A command that succeeds is checked by what it prints; one that must fail (`RUN: not`), by its diagnostics. */
function runProcess(args: readonly string[]): { output: string; exitCode: number } {
  const env = { ...process.env, NO_COLOR: "1" };
  const { stdout, stderr, status } = spawnSync(process.execPath, [ownCommand, ...args], {
    encoding: "utf8",
    env,
  });
  return { output: status === 0 ? stdout : stderr, exitCode: status ?? 3 };
}

interface Expectation {
  readonly code: string;
  readonly text: string;
  readonly line: number;
}

function expectations(source: string): Expectation[] {
  return source.split("\n").flatMap((text, k) => {
    const [, code, offset, wanted] = /\/\/ error\[(TC\d+)\](?:@([+-]\d+))?:(.*)$/.exec(text) ?? [];
    if (code === undefined) return [];
    return [{ code, text: (wanted ?? "").trim(), line: k + 1 + Number(offset ?? 0) }];
  });
}

function checkErrors(
  source: string,
  file: string,
  expected: readonly Expectation[],
  options: TextTestOptions,
): CheckFailure[] {
  const found = errorsOf(source, file, options);
  const unmatched = [...expected];
  const failures: CheckFailure[] = [];
  for (const diagnostic of found) {
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

function errorsOf(source: string, file: string, options: TextTestOptions): Diagnostic[] {
  const { module, diagnostics } = parseModule(source, file);
  const all = [...diagnostics];
  for (const func of module.funcs) {
    try {
      const result = tryCompile(
        func,
        options.findTarget === undefined ? {} : { findTarget: options.findTarget },
      );
      if (!result.ok) all.push(...result.diagnostics);
    } catch (thrown) {
      if (!(thrown instanceof CompileError)) throw thrown;
      all.push(...thrown.diagnostics);
    }
  }
  return all.filter((d) => d.severity === "error");
}
