/** For people: what did not pass, then what ran where and how long. */
import { table } from "../../report/table.js";
import { resultCounts, type SuiteReport } from "./suite-report.js";

export function pretty(report: SuiteReport): string {
  const { results, shares, milliseconds } = report;
  const lines = results.flatMap(({ status, id, backend, message = "" }) =>
    status === "pass" ? [] : [`${status}  ${id}  ${backend}  ${message}`],
  );
  const rows = shares.map(({ backend, on, passed, failed, skipped, milliseconds: own }) => [
    backend,
    on,
    passed,
    failed,
    skipped,
    `${(own / 1000).toFixed(2)} s`,
  ]);
  return [
    ...lines,
    ...(rows.length === 0 ? [] : [table(["backend", "on", "passed", "failed", "skipped", "time"], rows)]),
    `${resultCounts(report)} in ${(milliseconds / 1000).toFixed(2)} s`,
  ].join("\n");
}
