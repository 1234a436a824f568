/** tilec check: runs regression tests, case files and folders of them, on chosen backends. */
import { join } from "node:path";
import type { Command } from "commander";
import { CompileError, error, hasErrors, RunError, warning, type Diagnostic } from "../../ir/index.js";
import type { Executor } from "../../backends/sim/index.js";
import type { CheckContext, CheckResult } from "../testing/check-case.js";
import { testsIn } from "../testing/find-tests.js";
import { runTests } from "../testing/run-tests.js";
import { backendNames, type BackendName } from "../api/backends.js";
import { dumpNames } from "./dump-names.js";
import { lookUpTarget } from "../formats/look-up-target.js";
import { executorOption, UsageError } from "./options.js";
import { progressBar } from "./progress.js";
import { openRunner, parseBackends, refuseWithoutSim, writeTensor } from "./run.js";
import { note, print, printDiagnostics, printJson } from "./terminal.js";

interface CheckFlags {
  readonly backend: string;
  readonly json?: boolean;
  readonly dump?: string;
  readonly shard?: string;
  readonly executor?: Executor;
}

export function checkCommand(program: Command): void {
  program
    .command("check")
    .description("run regression tests: case files, .tir text tests, ONNX backend-test folders, models")
    .argument("<files...>", "case files (.json), text tests (.tir), models (.onnx) or folders")
    .option("--backend <list>", `${backendNames.join(", ")}, comma-separated`, "reference,sim")
    .addOption(executorOption())
    .option("--dump <folder>", "write every output, and every filled input, as .npy")
    .option("--shard <i/n>", "the i-th of n parts of the suite, from 1")
    .option("--json", "print one JSON document")
    .action(async (files: string[], flags: CheckFlags) => {
      process.exitCode = await check(files, flags);
    });
}

async function check(files: readonly string[], flags: CheckFlags): Promise<number> {
  const backends = parseBackends(flags.backend);
  refuseWithoutSim(backends, flags);
  const all = files.flatMap((file) => testsIn(file));
  if (all.length === 0)
    throw new CompileError([error("TC013", "no test was found", { hint: "docs/cases.md" })]);
  const names = dumpNames(all.map(({ id }) => id));
  const tests = shard(
    all.map((test, k) => ({ ...test, dumpName: names[k] ?? "" })),
    flags.shard,
  );
  const device = backends.includes("webgpu") ? await openRunner().catch(runErrorsOnly) : undefined;
  const gpu = device instanceof RunError ? undefined : device;
  const context: CheckContext = {
    findTarget: lookUpTarget,
    ...(flags.executor === undefined ? {} : { executor: flags.executor }),
    ...(gpu === undefined ? {} : { runner: gpu.runner }),
    ...(device instanceof RunError ? { reason: reasonIn(device) } : {}),
  };
  const { dump } = flags;
  const contextOf = (test: { readonly dumpName: string }): CheckContext =>
    dump === undefined
      ? context
      : {
          ...context,
          dump: (part, value) => {
            const ending = value.strings === undefined ? "npy" : "json";
            writeTensor(join(dump, `${test.dumpName}.${part}.${ending}`), value);
          },
        };
  const bar = progressBar(tests.length, "cases");
  const { results, bugs } = await runTests(tests, backends, contextOf, ({ id }) => {
    bar.step(id);
  }).finally(() => {
    bar.stop();
    gpu?.close();
  });
  const count = (status: CheckResult["status"]): number => results.filter((r) => r.status === status).length;
  const summary = { passed: count("pass"), failed: count("fail"), skipped: count("skip") };
  const idle = idleBackends(backends, results);
  if (flags.json === true)
    printJson({ results, summary, ...(idle.length === 0 ? {} : { diagnostics: idle }) });
  else {
    for (const result of results) {
      if (result.status !== "pass")
        print(`${result.status}  ${result.id}  ${result.backend}  ${result.message ?? ""}`);
    }
    print(`${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped`);
  }
  printDiagnostics(idle);
  for (const { id, thrown } of bugs) {
    note(
      `${id}: a bug in tilec; please report it with the case\n${thrown instanceof Error ? (thrown.stack ?? "") : String(thrown)}`,
    );
  }
  if (bugs.length > 0) return 3;
  return summary.failed > 0 || hasErrors(idle) ? 1 : 0;
}

function runErrorsOnly(thrown: unknown): RunError {
  if (thrown instanceof RunError) return thrown;
  throw thrown;
}

const reasonIn = ({ diagnostics, message }: RunError): string => diagnostics[0]?.message ?? message;

/**
 * Backends that were asked for and that skipped all their tests: a warning to somebody who looks on, and an error where nobody
 * does, because a suite that runs nothing must not pass for one that holds.
 */
function idleBackends(backends: readonly BackendName[], results: readonly CheckResult[]): Diagnostic[] {
  const say = isContinuousIntegration() ? error : warning;
  return backends.flatMap((backend) => {
    const own = results.filter((result) => result.backend === backend);
    const [first] = own;
    if (first === undefined || own.some(({ status }) => status !== "skip")) return [];
    const message = `nothing ran on ${backend}, ${own.length} skipped: ${first.message ?? "no reason is known"}`;
    return [say("TC503", message, { hint: `make it available, or leave ${backend} out of --backend` })];
  });
}

/** CI services set the variable, to true or 1. */
const isContinuousIntegration = (): boolean => !["", "0", "false"].includes(process.env["CI"] ?? "");

function shard<T>(tests: readonly T[], text: string | undefined): readonly T[] {
  if (text === undefined) return tests;
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (part === undefined || parts === undefined || part < 1 || part > parts) {
    throw new UsageError(`--shard ${text} is not i/n`, "--shard 1/4");
  }
  return tests.filter((_, k) => k % parts === part - 1);
}
