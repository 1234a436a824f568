/** A suite's tests, one after the other: whatever one of them does, the others run. */
import { CompileError, RunError, type Diagnostic } from "../../ir/index.js";
import { PassError } from "../../passes/index.js";
import { nameOf, type BackendChoice } from "../api/backends.js";
import type { CheckContext, CheckResult } from "./check-case.js";

export interface Test {
  readonly id: string;
  /** Where it stands; the line from 1. */
  readonly file: string;
  readonly line: number;
  /** Begins what goes on beside other tests, such as a pipeline; what it returns runs the test. */
  begin(backends: readonly BackendChoice[], context: CheckContext): () => Promise<CheckResult[]>;
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

/** Tests that begin before their turn: enough to keep the threads of a device busy, and they hold a program each. */
const testsAhead = 8;

export async function runTests<T extends Test>(
  tests: readonly T[],
  backends: readonly BackendChoice[],
  { contextOf, onDone, bail = false }: SuiteOptions<T>,
): Promise<SuiteResults> {
  const results: CheckResult[] = [];
  const bugs: { id: string; thrown: unknown }[] = [];
  let done = 0;
  for (const { test, run, milliseconds } of begunAhead(tests, (test) =>
    test.begin(backends, contextOf(test)),
  )) {
    const { id, file, line } = test;
    const start = performance.now();
    let ofTest: readonly CheckResult[];
    try {
      ofTest = await run();
    } catch (thrown) {
      ofTest = backends.map((backend) => ({
        id,
        backend: nameOf(backend),
        status: "fail" as const,
        ...reason(thrown),
      }));
      if (diagnosticsOf(thrown) === undefined) bugs.push({ id, thrown });
    }
    const each = (milliseconds + performance.now() - start) / Math.max(1, ofTest.length);
    results.push(...ofTest.map((result) => ({ file, line, milliseconds: each, ...result })));
    onDone?.(test);
    done++;
    if (bail && ofTest.some(({ status }) => status === "fail")) break;
  }
  return { results, bugs, notRun: tests.length - done };
}

type Run = () => Promise<readonly CheckResult[]>;

interface Begun<T extends Test> {
  readonly test: T;
  /** Throws what was thrown when the test began. */
  readonly run: Run;
  /** What it took to begin. */
  readonly milliseconds: number;
}

/** Tests in their order, each begun some tests before its turn. */
function* begunAhead<T extends Test>(tests: readonly T[], begin: (test: T) => Run): Generator<Begun<T>> {
  const begun: Begun<T>[] = [];
  for (const test of tests) {
    const start = performance.now();
    const run = orThrowLater(() => begin(test));
    begun.push({ test, run, milliseconds: performance.now() - start });
    if (begun.length > testsAhead) yield* begun.splice(0, 1);
  }
  yield* begun;
}

function orThrowLater(begin: () => Run): Run {
  try {
    return begin();
  } catch (thrown) {
    return () => {
      throw thrown;
    };
  }
}

function reason(thrown: unknown): { readonly code?: string; readonly message: string } {
  const [first] = diagnosticsOf(thrown) ?? [];
  if (first !== undefined) return { code: first.code, message: first.message };
  return { message: `a bug in tilec: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
}

/** Undefined for what is a bug in tilec. */
function diagnosticsOf(thrown: unknown): readonly Diagnostic[] | undefined {
  if (thrown instanceof CompileError || thrown instanceof RunError) return thrown.diagnostics;
  return thrown instanceof PassError && !thrown.builtIn ? thrown.faults : undefined;
}
