/** tilec check: runs regression tests, case files and folders of them, on chosen backends. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { CompileError, error } from "../../ir/index.js";
import { readCaseList, type Case, type MalformedCase } from "../formats/cases.js";
import { readText } from "../formats/files.js";
import { checkCase, type CheckContext, type CheckResult } from "../testing/check-case.js";
import { backendNames } from "../run.js";
import { resolveTarget, UsageError } from "./options.js";
import { progressBar } from "./progress.js";
import { openRunner, parseBackends, writeTensor } from "./run.js";
import { note, print, printJson } from "./terminal.js";

interface CheckFlags {
  readonly backend: string;
  readonly json?: boolean;
  readonly dump?: string;
  readonly shard?: string;
}

export function checkCommand(program: Command): void {
  program
    .command("check")
    .description("run regression tests: case files, or folders of them")
    .argument("<files...>", "case files (.json) or folders")
    .option("--backend <list>", `${backendNames.join(", ")}, comma-separated`, "reference,sim")
    .option("--dump <folder>", "write every output, and every filled input, as .npy")
    .option("--shard <i/n>", "the i-th of n parts of the suite, from 1")
    .option("--json", "print one JSON document")
    .action(async (files: string[], flags: CheckFlags) => {
      process.exitCode = await check(files, flags);
    });
}

interface Test {
  readonly id: string;
  run(context: CheckContext): Promise<CheckResult[]>;
}

async function check(files: readonly string[], flags: CheckFlags): Promise<number> {
  const backends = parseBackends(flags.backend);
  const all = files.flatMap((file) => testsIn(file)).flatMap((cases) => cases);
  const tests: Test[] = shard(all, flags.shard).map((test) => ({
    id: test.id,
    run: (context) =>
      "malformed" in test
        ? Promise.resolve(malformedResults(test, backends))
        : checkCase(test, backends, context),
  }));
  if (tests.length === 0)
    throw new CompileError([error("TC013", "no test was found", { hint: "docs/cases.md" })]);
  const device = backends.includes("webgpu")
    ? await openRunner().catch((thrown: unknown) => thrown)
    : undefined;
  const gpu =
    device instanceof Error || device === undefined
      ? undefined
      : (device as Awaited<ReturnType<typeof openRunner>>);
  const context: CheckContext = {
    findTarget: resolveTarget,
    ...(gpu === undefined ? {} : { runner: gpu.runner }),
    ...(device instanceof Error ? { reason: device.message } : {}),
    ...(flags.dump === undefined
      ? {}
      : {
          dump: (name, value) => {
            writeTensor(
              join(flags.dump ?? "", `${name}.${value.strings === undefined ? "npy" : "json"}`),
              value,
            );
          },
        }),
  };
  const results: CheckResult[] = [];
  const bar = progressBar(tests.length, "cases");
  try {
    for (const test of tests) {
      results.push(...(await test.run(context)));
      bar.step(test.id);
    }
  } finally {
    bar.stop();
    gpu?.close();
  }
  const count = (status: CheckResult["status"]): number => results.filter((r) => r.status === status).length;
  const summary = { passed: count("pass"), failed: count("fail"), skipped: count("skip") };
  if (flags.json === true) printJson({ results, summary });
  else {
    for (const result of results) {
      if (result.status !== "pass")
        print(`${result.status}  ${result.id}  ${result.backend}  ${result.message ?? ""}`);
    }
    print(`${summary.passed} passed, ${summary.failed} failed, ${summary.skipped} skipped`);
  }
  if (summary.skipped > 0 && device instanceof Error) note(`skipped webgpu: ${device.message}`);
  return summary.failed > 0 ? 1 : 0;
}

const malformedResults = (test: MalformedCase, backends: readonly string[]): CheckResult[] =>
  backends.map((backend) => {
    const [first] = test.malformed;
    const message = first?.message ?? "a malformed case";
    return { id: test.id, backend, status: "fail", code: "TC013", message };
  });

/** The cases of a file, or of every test in a folder, in the order of their names. */
function testsIn(path: string): (Case | MalformedCase)[][] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) {
    return readdirSync(path)
      .sort()
      .map((name) => join(path, name))
      .filter((inner) => inner.endsWith(".json") || statSync(inner).isDirectory())
      .flatMap((inner) => testsIn(inner));
  }
  return [readCaseList(readText(path), path)];
}

function shard<T>(tests: readonly T[], text: string | undefined): readonly T[] {
  if (text === undefined) return tests;
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (part === undefined || parts === undefined || part < 1 || part > parts) {
    throw new UsageError(`--shard ${text} is not i/n`, "--shard 1/4");
  }
  return tests.filter((_, k) => k % parts === part - 1);
}
