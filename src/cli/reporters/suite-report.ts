/** What a run of `tilec check` came to, for its reporters. */
import type { Diagnostic } from "../../../ir/index.js";
import type { CheckResult } from "../../testing/check-case.js";

/** One backend's share of the run. */
export interface BackendShare {
  readonly backend: string;
  /** What ran there: an executor, a device. */
  readonly on: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly milliseconds: number;
}

export interface SuiteReport {
  readonly results: readonly CheckResult[];
  readonly shares: readonly BackendShare[];
  /** Tests left out after a failure. */
  readonly notRun: number;
  readonly milliseconds: number;
  /** What is wrong with the run as a whole. */
  readonly diagnostics: readonly Diagnostic[];
}

export const countOf = (results: readonly CheckResult[], status: CheckResult["status"]): number =>
  results.filter((result) => result.status === status).length;

/** The shares, in the order in which backends first occur. `on` tells what ran there. */
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

/** `5 passed, 1 failed, 0 skipped` */
export function resultCounts({ results, notRun }: Pick<SuiteReport, "results" | "notRun">): string {
  const [passed, failed, skipped] = (["pass", "fail", "skip"] as const).map((status) =>
    countOf(results, status),
  );
  return `${passed} passed, ${failed} failed, ${skipped} skipped${notRun === 0 ? "" : `, ${notRun} not run`}`;
}
