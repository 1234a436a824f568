/** What a run of `tilec check` came to, for its reporters. */
import { counted, type Diagnostic } from "../../../ir/index.js";
import type { Code } from "../../../ir/codes.js";
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

/** The code of tests that passed on inputs of which an Ascend core may give other bits. */
export const ascendHint = "TC912" satisfies Code;

/** Returns what there is to say of tests that passed with TC912; undefined where none did. */
export function ascendHints({ results }: Pick<SuiteReport, "results">): string | undefined {
  const hinted = new Set(results.flatMap(({ id, code }) => (code === ascendHint ? [id] : []))).size;
  if (hinted === 0) return undefined;
  return `an Ascend core may give other bits for ${counted(hinted, "test")} that passed; --json names them`;
}

/** `5 passed, 1 failed, 0 skipped` */
export function resultCounts({ results, notRun }: Pick<SuiteReport, "results" | "notRun">): string {
  const [passed, failed, skipped] = (["pass", "fail", "skip"] as const).map((status) =>
    countOf(results, status),
  );
  return `${passed} passed, ${failed} failed, ${skipped} skipped${notRun === 0 ? "" : `, ${notRun} not run`}`;
}
