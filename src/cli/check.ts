/** tilec check: runs regression tests, case files and folders of them, on chosen backends. */
import { resolve } from "node:path";
import { Option, type Command } from "commander";
import { defined, CompileError, error, hasErrors, type Operators } from "../../ir/index.js";
import type { Executor } from "../../backends/sim/index.js";
import { backendNames, nameOf } from "../api/backends.js";
import type { Project } from "../config/project.js";
import { formatHint } from "../formats/case-tensor.js";
import { fileNames } from "../formats/file-names.js";
import { forgetUses, readText } from "../formats/files.js";
import { rewriteInput } from "../output/write-file.js";
import type { TensorValue } from "../formats/tensor.js";
import { standardInput } from "../formats/standard-input.js";
import { differencesBetween } from "../formats/tensor.js";
import { requiredBackends } from "../testing/device.js";
import type { Measured } from "../testing/measured.js";
import { testsIn } from "../testing/find-tests.js";
import type { Test } from "../testing/run-tests.js";
import { withChecks, withLimits, withCaseOutput } from "../testing/update.js";
import {
  checkSettings,
  isContinuousIntegration,
  runSuite,
  type NamedTest,
  type SuiteRun,
} from "./check-suite.js";
import { arithmeticOption, executorOption, projectOf, shardOf, ulpOption } from "./options.js";
import { addPipelineOptions, pipelineOf, type PipelineFlags } from "./pipeline-flags.js";
import { withPeer } from "../api/missing-peer.js";
import { UsageError } from "./usage-error.js";
import { addForeignOptions, loadForeign, type ForeignFlags } from "./foreign-kernel.js";
import { github } from "./reporters/github.js";
import { pretty } from "./reporters/pretty.js";
import { countOf, type SuiteReport } from "./reporters/suite-report.js";
import { parseBackends, refuseWithoutSim } from "./parse-backends.js";
import { ulpOf, type UlpFlags } from "./ulp.js";
import { addForce, Outputs, type OutputFlags } from "./outputs.js";
import { note, print, printDiagnostics, printJson, printReport } from "./terminal.js";

const defaultBackends = "reference,sim";
const reporters = ["pretty", "json", "junit", "github"] as const;

interface CheckFlags extends PipelineFlags, OutputFlags, ForeignFlags, UlpFlags {
  readonly backend: string;
  readonly reporter?: (typeof reporters)[number];
  readonly require?: string;
  readonly json?: boolean;
  readonly dump?: string;
  readonly filter?: string;
  readonly shard?: string;
  readonly bail?: boolean;
  readonly update?: boolean;
  readonly watch?: boolean;
  readonly executor?: Executor;
}

/** Adds the command `tilec check` and the command's flags to the command line. */
export function checkCommand(program: Command): void {
  const command = program
    .command("check")
    .argument("<files...>", "case files (.json), text tests (.tir), models (.onnx) or folders")
    .option("--backend <list>", `${backendNames.join(", ")}, comma-separated`, defaultBackends)
    .addOption(executorOption())
    .addOption(arithmeticOption())
    .addOption(ulpOption());
  addForeignOptions(addForce(addPipelineOptions(command)))
    .option("--require <list>", "backends that must run; the variable TILEC_REQUIRE adds to them")
    .addOption(
      new Option("--reporter <name>", "how results are told (default: pretty)").choices([...reporters]),
    )
    .option("--filter <text>", "tests whose id contains the text")
    .option("--shard <i/n>", "the i-th of n parts of the suite, from 1")
    .option("--bail", "stop at the first test that fails")
    .option("--update", "show what differs, and rewrite expected outputs and CHECK lines")
    .addOption(new Option("--watch", "run again when a file changes").conflicts("update"))
    .option("--dump <folder>", "write every output, and every filled input, as .npy")
    .option("--json", "short for --reporter json")
    .action(async (files: string[], given: Omit<CheckFlags, "project">, command: Command) => {
      const flags: CheckFlags = { ...given, project: await projectOf(command) };
      refuseRewriting(files, flags);
      refuseTogether(flags);
      if (flags.watch === true) await checkAgainAndAgain(files, flags);
      else process.exitCode = await check(files, flags);
    });
}

/**
 * Throws a UsageError for flags of `check` that cannot be combined, or for `--update` in continuous
 * integration.
 */
function refuseTogether(flags: CheckFlags): void {
  const { update, watch: watching, json, reporter } = flags;
  if (json === true && reporter !== undefined && reporter !== "json")
    throw new UsageError(`--json cannot be used with --reporter ${reporter}: it means --reporter json`);
  if (update === true && isContinuousIntegration())
    throw new UsageError(
      "--update rewrites tests, and is refused where the variable CI is set",
      "run --update on your own machine, and commit the changed tests",
    );
  const plain = reporter === undefined || reporter === "pretty";
  if ((update === true || watching === true) && !(plain && json !== true))
    throw new UsageError(`--${update === true ? "update" : "watch"} can only be used with --reporter pretty`);
}

/**
 * Throws a UsageError if `--update` or `--watch` is given for the standard input, which is read once and is
 * not a file.
 */
function refuseRewriting(files: readonly string[], flags: CheckFlags): void {
  if (!files.includes(standardInput)) return;
  const flag = (["update", "watch"] as const).find((name) => flags[name] === true);
  if (flag !== undefined) throw new UsageError(`--${flag} needs files, and - reads the standard input`);
}

/** Runs the tests in files, prints the report and resolves to the exit code. */
async function check(files: readonly string[], flags: CheckFlags): Promise<number> {
  const { project } = flags;
  const foreign = await loadForeign(files, flags);
  if (foreign !== undefined && flags.backend !== defaultBackends)
    throw new UsageError(
      "--backend cannot be used with --kernel or --command, which judge one kernel",
      "leave --backend out",
    );
  const backends = foreign === undefined ? parseBackends(flags.backend, project) : [foreign.backend];
  refuseWithoutSim(backends, flags);
  const names = backends.map(nameOf);
  const required = requiredBackends(
    flags.require === undefined ? [] : parseBackends(flags.require, project).map(nameOf),
    [...project.backends.keys()],
  );
  const absent = [...required].find((name) => flags.require !== undefined && !names.includes(name));
  if (absent !== undefined)
    throw new UsageError(`--require ${absent} is not in --backend ${names.join(",")}`);
  const allowedUlp = ulpOf(flags, backends);
  if (allowedUlp !== undefined && flags.update === true)
    throw new UsageError("--update writes the stated bits, which --arithmetic native does not have");
  const pipeline = await pipelineOf(flags);
  const all = foreign?.tests ?? testsOf(files, project.operators);
  const tests = selected(all, flags);
  const outputs = new Outputs("check", flags);
  const mismatches = new Map<Test, Map<string, TensorValue>>();
  const excesses = new Map<Test, Measured>();
  const run = await runSuite(tests, {
    backends,
    required,
    project,
    ...pipeline,
    ...defined({ executor: flags.executor, arithmetic: flags.arithmetic, allowedUlp }),
    ...(flags.dump === undefined ? {} : { dump: outputs.folder(flags.dump) }),
    bail: flags.bail === true,
    onExcess: (test, measured) => excesses.set(test, measured),
    onMismatch(test, backend, actual) {
      mismatches.set(test, (mismatches.get(test) ?? new Map<string, TensorValue>()).set(backend, actual));
    },
  }).finally(() => foreign?.close());
  await tell(run, flags.json === true ? "json" : (flags.reporter ?? "pretty"), project);
  printDiagnostics(run.diagnostics);
  for (const { id, thrown } of run.bugs) {
    note(
      `${id}: a bug in tilec; please report it with the case\n${thrown instanceof Error ? (thrown.stack ?? "") : String(thrown)}`,
    );
  }
  if (flags.update === true) await update({ tests, names, run, mismatches, excesses, project, outputs });
  if (run.bugs.length > 0) return 3;
  return outputs.status(countOf(run.results, "fail") > 0 || hasErrors(run.diagnostics) ? 1 : 0);
}

/**
 * Returns the tests of files and folders. The tests of a file that several of `paths` name or contain are
 * returned once. A file that cannot be read becomes a failing test.
 */
function testsOf(paths: readonly string[], operators: Operators | undefined): Test[] {
  const visited = new Set<string>();
  return paths.flatMap((path) => {
    const tests = testsIn(path, operators).filter(({ file }) => !visited.has(resolve(file)));
    for (const { file } of tests) visited.add(resolve(file));
    return tests;
  });
}

/**
 * Returns the tests that match `--filter` and lie in the chosen `--shard`. Throws a CompileError (TC013) if
 * there are no tests or none matches the filter.
 */
function selected(all: readonly Test[], { filter, shard: chosen }: CheckFlags): readonly NamedTest[] {
  if (all.length === 0) throw new CompileError([error("TC013", "no test was found", { hint: formatHint })]);
  const names = fileNames(all.map(({ id }) => id));
  const named = all.map((test, k) => ({ ...test, dumpName: names[k] ?? "" }));
  const matching = filter === undefined ? named : named.filter(({ id }) => id.includes(filter));
  if (matching.length === 0) {
    const some = all.slice(0, 3).map(({ id }) => id);
    throw new CompileError([
      error("TC013", `no id of the ${all.length} tests contains ${filter ?? ""}`, {
        hint: `ids are ${some.join(", ")}`,
      }),
    ]);
  }
  return shardOf(matching, chosen);
}

/** Prints the report of a test suite in the format that `--reporter` names. */
async function tell(
  report: SuiteReport,
  reporter: (typeof reporters)[number],
  { config }: Project,
): Promise<void> {
  switch (reporter) {
    case "pretty":
      printReport(pretty(report));
      return;
    case "junit":
      print((await withPeer("JUnit reports", () => import("./reporters/junit.js"))).junit(report));
      return;
    case "github":
      print(github(report));
      return;
    case "json": {
      const { results, shares, milliseconds, notRun, diagnostics } = report;
      const [passed, failed, skipped] = (["pass", "fail", "skip"] as const).map((status) =>
        countOf(results, status),
      );
      printJson({
        command: "check",
        ...defined({ config }),
        results,
        summary: { passed, failed, skipped, ...(notRun === 0 ? {} : { notRun }) },
        backends: shares,
        milliseconds,
        ...(diagnostics.length === 0 ? {} : { diagnostics }),
      });
    }
  }
}

/**
 * Rewrites the expectations of failed tests in the test files, and prints each change as a diff. Outputs,
 * exceeded limits and CHECK lines without a match are replaced.
 */
async function update({
  tests,
  names: backends,
  run: { results },
  mismatches,
  excesses,
  project,
  outputs,
}: {
  readonly tests: readonly Test[];
  readonly names: readonly string[];
  readonly run: SuiteRun;
  readonly mismatches: ReadonlyMap<Test, ReadonlyMap<string, TensorValue>>;
  readonly excesses: ReadonlyMap<Test, Measured>;
  readonly project: Project;
  readonly outputs: Outputs;
}): Promise<void> {
  const texts = new Map<string, string>();
  const textOf = (file: string): string => texts.get(file) ?? readText(file);
  for (const [test, actual] of mismatches) {
    const defined = actual.get("reference");
    const others = [...actual.values()];
    const agree =
      defined !== undefined &&
      actual.size === backends.length &&
      others.every((value) => differencesBetween(defined, value) === undefined);
    const next = agree ? withCaseOutput(textOf(test.file), test.id, defined) : undefined;
    if (next !== undefined) texts.set(test.file, next);
    else
      note(
        `${test.id}: not updated; ${agree ? "it states no output as values or bits" : "its backends disagree, or reference did not run"}`,
      );
  }
  for (const [{ id, file }, measured] of excesses) texts.set(file, withLimits(textOf(file), id, measured));
  const failed = new Set(results.flatMap(({ status, id }) => (status === "fail" ? [id] : [])));
  for (const { id, file } of tests) {
    if (failed.has(id) && file.endsWith(".tir"))
      texts.set(file, withChecks(textOf(file), file, checkSettings(project)));
  }
  const { createTwoFilesPatch } = await import("diff");
  for (const [file, text] of texts) {
    const before = readText(file);
    if (text === before) continue;
    print(createTwoFilesPatch(file, file, before, text, "", "", { context: 2 }));
    const written = outputs.attempt(() => {
      rewriteInput(file, text);
    });
    if (written) note(`updated ${file}`);
  }
}

/** Runs the tests, and runs the tests again after each change of a file, until the process ends. */
async function checkAgainAndAgain(files: readonly string[], flags: CheckFlags): Promise<void> {
  process.exitCode = await check(files, flags);
  note("watching; end with Ctrl-C");
  const { watch } = await import("chokidar");
  let pending = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  watch([...files], { ignoreInitial: true }).on("all", () => {
    clearTimeout(timer);
    // Editors write a file in several steps.
    timer = setTimeout(() => {
      pending = pending.then(() => again(files, flags));
    }, 100);
  });
}

/**
 * Runs the tests once more in watch mode. A CompileError is printed and does not end the process; the promise
 * rejects with any other error.
 */
async function again(files: readonly string[], flags: CheckFlags): Promise<void> {
  forgetUses();
  try {
    process.exitCode = await check(files, flags);
  } catch (thrown) {
    if (!(thrown instanceof CompileError)) throw thrown;
    printDiagnostics(thrown.diagnostics);
  }
}
