/** A suite's tests, one after the other: whatever one of them does, the others run. */
import { CompileError, RunError } from "../../ir/index.js";
import type { BackendName } from "../api/backends.js";
import type { CheckContext, CheckResult } from "./check-case.js";

export interface Test {
  readonly id: string;
  run(backends: readonly BackendName[], context: CheckContext): Promise<CheckResult[]>;
}

export interface SuiteResults {
  readonly results: readonly CheckResult[];
  /** What was thrown that is no diagnostic, and by which test: bugs of ours. Each is a failure among the results too. */
  readonly bugs: readonly { readonly id: string; readonly thrown: unknown }[];
}

/** `contextOf` gives each test its context; `onDone` is called after each. */
export async function runTests<T extends Test>(
  tests: readonly T[],
  backends: readonly BackendName[],
  contextOf: (test: T) => CheckContext,
  onDone: (test: T) => void,
): Promise<SuiteResults> {
  const results: CheckResult[] = [];
  const bugs: { id: string; thrown: unknown }[] = [];
  for (const test of tests) {
    const { id } = test;
    try {
      results.push(...(await test.run(backends, contextOf(test))));
    } catch (thrown) {
      results.push(
        ...backends.map((backend) => ({ id, backend, status: "fail" as const, ...reason(thrown) })),
      );
      if (!(thrown instanceof CompileError || thrown instanceof RunError)) bugs.push({ id, thrown });
    }
    onDone(test);
  }
  return { results, bugs };
}

function reason(thrown: unknown): { readonly code?: string; readonly message: string } {
  const [first] = thrown instanceof CompileError || thrown instanceof RunError ? thrown.diagnostics : [];
  if (first !== undefined) return { code: first.code, message: first.message };
  return { message: `a bug in tilec: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
}
