/** A suite's tests, one after the other: whatever one of them does, the others run. */
import { CompileError, RunError, type Diagnostic } from "../../ir/index.js";
import { PassError } from "../../passes/index.js";
import { nameOf, type BackendChoice } from "../api/backends.js";
import type { CheckContext, CheckResult } from "./check-case.js";
import { messageOf } from "../../ir/faults.js";

/**
 * Test of a suite: id, file, line, and the function `begin`, which prepares the test and returns the function
 * that runs the test.
 */
export interface Test {
  readonly id: string;
  /** File of the test, and its line from 1. */
  readonly file: string;
  readonly line: number;
  /**
   * Starts work that may go on while other tests run, such as the creation of a pipeline. Returns the
   * function that runs the test.
   */
  begin(backends: readonly BackendChoice[], context: CheckContext): () => Promise<CheckResult[]>;
}

/**
 * Results of a test suite: the result of each test, the errors that are bugs in tilec (`bugs`), and the
 * number of tests that were not run.
 */
export interface SuiteResults {
  readonly results: readonly CheckResult[];
  /**
   * Errors that are not diagnostics, each with the test that threw it. They are bugs in tilec; each is also a
   * failure among the results.
   */
  readonly bugs: readonly { readonly id: string; readonly thrown: unknown }[];
  /** Tests that were left out after a failure. */
  readonly notRun: number;
}

/** Options of {@link runTests}. */
export interface SuiteOptions<T extends Test> {
  /** Returns the context in which a test runs. */
  readonly contextOf: (test: T) => CheckContext;
  /** Called after each test. */
  readonly onDone?: (test: T) => void;
  /** True to end the suite at the first test that fails. Default false. */
  readonly bail?: boolean;
}

/**
 * Tests that begin before their turn: enough to keep the threads of a device busy, and they hold a program
 * each.
 */
const testsAhead = 8;

/**
 * Runs tests in order, each on all backends, and resolves to the results. A test that throws counts as
 * failed. If `bail` is true, the first failure ends the suite.
 */
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
  /** Milliseconds that it took to begin the test. */
  readonly milliseconds: number;
}

/**
 * Yields each test, in order, with the function that runs the test and the milliseconds that its preparation
 * took. `begin` prepares a test; up to 8 later tests are already prepared when a test is yielded.
 */
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

/**
 * Returns the function that `begin` returns. If `begin` throws, returns a function that throws the same
 * error.
 */
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
  return { message: `a bug in tilec: ${messageOf(thrown)}` };
}

/** Returns the diagnostics of an error; undefined if the error is a bug in tilec. */
function diagnosticsOf(thrown: unknown): readonly Diagnostic[] | undefined {
  if (thrown instanceof CompileError || thrown instanceof RunError) return thrown.diagnostics;
  return thrown instanceof PassError && !thrown.builtIn ? thrown.faults : undefined;
}
