/** tilec check: runs regression tests, case files and folders of them, on chosen backends. */
import { join } from "node:path";
import type { Command } from "commander";
import { CompileError, error, hasErrors, RunError, warning, type Diagnostic } from "../../ir/index.js";
import type { Executor } from "../../backends/sim/index.js";
import { tryCompile } from "../api/compile.js";
import { readCaseList, type Case } from "../formats/cases.js";
import { readBytes, readFolder, readText, type Folder } from "../formats/files.js";
import {
  findGathers,
  isNodeTestFolder,
  readModel,
  readNodeTestFolder,
  type OnnxGather,
} from "../formats/onnx/index.js";
import type { TensorValue } from "../formats/tensor.js";
import { tryProgram } from "../api/program.js";
import { checkCase, type CheckContext, type CheckResult } from "../testing/check-case.js";
import { runTests, type Test } from "../testing/run-tests.js";
import { runTextTest } from "../testing/text-test.js";
import { backendNames, type BackendName } from "../api/backends.js";
import { dumpNames } from "./dump-names.js";
import { executorOption, lookUpTarget, parseShard } from "./options.js";
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

/** The tests at a path; what cannot be read is a test that fails. `above` are the folders that led here, without links. */
function testsIn(path: string, above: readonly string[] = []): Test[] {
  return orMalformed(path, () => {
    const folder = readFolder(path);
    if (folder !== undefined) return testsInFolder(path, folder, above);
    // Files of other kinds stand beside tests; one that is named is taken for a case file.
    const named = above.length === 0;
    return named || /\.(?:json|onnx|tir)$/.test(path) ? testsInFile(path) : [];
  });
}

/** An ONNX backend-test folder, or every test in a folder, in the order of their names. */
function testsInFolder(path: string, { realPath, entries }: Folder, above: readonly string[]): Test[] {
  if (isNodeTestFolder(path)) return readNodeTestFolder(path).map(caseTest);
  if (above.includes(realPath)) {
    throw new CompileError([
      error("TC010", `${path} leads back to ${realPath}, which it is in`, { hint: "remove the link" }),
    ]);
  }
  return entries.flatMap((entry) => testsIn(entry, [...above, realPath]));
}

function testsInFile(path: string): Test[] {
  if (path.endsWith(".tir")) return [textTest(path)];
  if (path.endsWith(".onnx")) {
    return findGathers(readModel(readBytes(path), path)).map((gather) => gatherTest(path, gather));
  }
  return readCaseList(readText(path), path).map((test) =>
    "malformed" in test ? malformedTest(test.id, test.malformed) : caseTest(test),
  );
}

const caseTest = (test: Case): Test => ({
  id: test.id,
  run: (backends, context) => checkCase(test, backends, context),
});

/** A .tir text test: RUN and CHECK lines, or errors expected on their lines. */
function textTest(path: string): Test {
  const source = readText(path);
  return {
    id: path,
    run: () => {
      const failures = runTextTest(source, path, { findTarget: lookUpTarget });
      const message = failures.map((failure) => `${path}:${failure.line}: ${failure.message}`).join("\n");
      const result = { id: path, backend: "text" };
      return Promise.resolve([
        failures.length === 0
          ? { ...result, status: "pass" as const }
          : { ...result, status: "fail" as const, message },
      ]);
    },
  };
}

/** One bad file among many fails alone. */
function orMalformed(id: string, read: () => Test[]): Test[] {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof CompileError) return [malformedTest(id, thrown.diagnostics)];
    throw thrown;
  }
}

const malformedTest = (id: string, diagnostics: readonly Diagnostic[]): Test => ({
  id,
  run: (backends) => {
    const [first] = diagnostics;
    const why = first === undefined ? {} : { code: first.code, message: first.message };
    return Promise.resolve(backends.map((backend) => ({ id, backend, status: "fail" as const, ...why })));
  },
});

/** A gather of a model: run where its inputs are known, compiled where they are not, skipped where shapes are open. */
function gatherTest(file: string, gather: OnnxGather): Test {
  const id = `${file}:${gather.name}`;
  const once = (result: Pick<CheckResult, "status" | "code" | "message">): Test => ({
    id,
    run: () => Promise.resolve([{ id, backend: "compile", ...result }]),
  });
  if (!gather.ok) {
    const { code, message } = gather.diagnostic;
    return once({ status: "skip", code, message });
  }
  const { data, indices } = gather;
  const described = { ...gather.program, target: "webgpu" };
  if (data !== undefined && indices !== undefined) {
    const known = (value: TensorValue) => ({ type: value.type, filled: false, read: () => value });
    return caseTest({ id, program: described, data: known(data), indices: known(indices) });
  }
  const built = tryProgram(described);
  const compiled = built.ok ? tryCompile(built.func) : built;
  if (compiled.ok) return once({ status: "pass", message: "compiled; its inputs are not known" });
  return malformedTest(id, compiled.diagnostics);
}

function shard<T>(tests: readonly T[], text: string | undefined): readonly T[] {
  if (text === undefined) return tests;
  const { part, parts } = parseShard(text);
  return tests.filter((_, k) => k % parts === part - 1);
}
