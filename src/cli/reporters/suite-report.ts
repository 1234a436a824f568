/** Report of a run of `tilec check`, for its reporters. */
import { counted, type Diagnostic } from "../../../ir/index.js";
import type { Code } from "../../../ir/codes.js";
import type { CheckResult } from "../../testing/check-case.js";

/**
 * Results of one backend in a run of the test suite: the counts of passed, failed and skipped tests, and the
 * total time in milliseconds.
 */
export interface BackendShare {
  readonly backend: string;
  /** Executor or device that ran the tests of the backend. */
  readonly on: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly milliseconds: number;
}

/**
 * Report of one run of `tilec check`: the result of each test on each backend, the test counts of each
 * backend (passed, failed, skipped), and diagnostics about the run itself.
 */
export interface SuiteReport {
  readonly results: readonly CheckResult[];
  readonly shares: readonly BackendShare[];
  /** Tests left out after a failure. */
  readonly notRun: number;
  readonly milliseconds: number;
  /** Diagnostics about the run as a whole. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Returns the number of results whose status is `status`. */
export const countOf = (results: readonly CheckResult[], status: CheckResult["status"]): number =>
  results.filter((result) => result.status === status).length;

/**
 * Returns the test counts and the time in milliseconds of each backend, in the order in which backends first
 * occur. `on` returns the executor or device that ran a backend.
 */
export function sharesOf(results: readonly CheckResult[], on: (backend: string) => string): BackendShare[] {
  const backends = [...new Set(results.map(({ backend }) => backend))];
  return backends.map((backend) => {
    const ofBackend = results.filter((result) => result.backend === backend);
    return {
      backend,
      on: on(backend),
      passed: countOf(ofBackend, "pass"),
      failed: countOf(ofBackend, "fail"),
      skipped: countOf(ofBackend, "skip"),
      milliseconds: ofBackend.reduce((sum, { milliseconds = 0 }) => sum + milliseconds, 0),
    };
  });
}

/** Diagnostic code of a hint for a passed test: an Ascend core may give other output bits. */
export const ascendHint = "TC912" satisfies Code;

/**
 * Returns a sentence with the number of passed tests for which an Ascend core may give other output bits
 * (TC912). Returns undefined if the number is 0.
 */
export function ascendHints({ results }: Pick<SuiteReport, "results">): string | undefined {
  const hinted = new Set(results.flatMap(({ id, code }) => (code === ascendHint ? [id] : []))).size;
  if (hinted === 0) return undefined;
  return `an Ascend core may give other bits for ${counted(hinted, "test")} that passed; --json names them`;
}

/**
 * Formats the counts of results: `5 passed, 1 failed, 0 skipped`. The number of tests that were not run is
 * added if above 0.
 */
export function resultCounts({ results, notRun }: Pick<SuiteReport, "results" | "notRun">): string {
  const [passed, failed, skipped] = (["pass", "fail", "skip"] as const).map((status) =>
    countOf(results, status),
  );
  return `${passed} passed, ${failed} failed, ${skipped} skipped${notRun === 0 ? "" : `, ${notRun} not run`}`;
}
