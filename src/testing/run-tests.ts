/** A suite's tests, one after the other: whatever one of them does, the others run. */
import { CompileError, RunError } from "../../ir/index.js";
import type { BackendName } from "../api/backends.js";
import type { CheckContext, CheckResult } from "./check-case.js";

export interface Test {
  readonly id: string;
  /** Where it stands; the line from 1. */
  readonly file: string;
  readonly line: number;
  run(backends: readonly BackendName[], context: CheckContext): Promise<CheckResult[]>;
}

export interface SuiteResults {
  readonly results: readonly CheckResult[];
  /** What was thrown that is no diagnostic, and by which test: bugs of ours. Each is a failure among the results too. */
  readonly bugs: readonly { readonly id: string; readonly thrown: unknown }[];
  /** Tests that were left out after a failure. */
  readonly notRun: number;
}

export interface SuiteOptions<T extends Test> {
  /** Gives each test its context. */
  readonly contextOf: (test: T) => CheckContext;
  /** Called after each test. */
  readonly onDone?: (test: T) => void;
  /** Ends with the first test that fails. Default false. */
  readonly bail?: boolean;
}

export async function runTests<T extends Test>(
  tests: readonly T[],
  backends: readonly BackendName[],
  { contextOf, onDone, bail = false }: SuiteOptions<T>,
): Promise<SuiteResults> {
  const results: CheckResult[] = [];
  const bugs: { id: string; thrown: unknown }[] = [];
  for (const [k, test] of tests.entries()) {
    const { id, file, line } = test;
    const start = performance.now();
    let own: readonly CheckResult[];
    try {
      own = await test.run(backends, contextOf(test));
    } catch (thrown) {
      own = backends.map((backend) => ({ id, backend, status: "fail" as const, ...reason(thrown) }));
      if (!(thrown instanceof CompileError || thrown instanceof RunError)) bugs.push({ id, thrown });
    }
    const each = (performance.now() - start) / Math.max(1, own.length);
    results.push(...own.map((result) => ({ file, line, milliseconds: each, ...result })));
    onDone?.(test);
    if (bail && own.some(({ status }) => status === "fail"))
      return { results, bugs, notRun: tests.length - k - 1 };
  }
  return { results, bugs, notRun: 0 };
}

function reason(thrown: unknown): { readonly code?: string; readonly message: string } {
  const [first] = thrown instanceof CompileError || thrown instanceof RunError ? thrown.diagnostics : [];
  if (first !== undefined) return { code: first.code, message: first.message };
  return { message: `a bug in tilec: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
}
