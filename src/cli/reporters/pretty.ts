/** For people: what did not pass, then what ran where and how long. */
import { table } from "../../report/table.js";
import { ascendHint, ascendHints, resultCounts, type SuiteReport } from "./suite-report.js";

/**
 * Formats a report as terminal text: the tests that did not pass, a table of the backends, and the counts of
 * results.
 */
export function pretty(report: SuiteReport): string {
  const { results, shares, milliseconds } = report;
  const lines = results.flatMap(({ status, id, backend, code, message = "" }) => {
    if (status === "pass") return [];
    return [`${status}  ${id}  ${backend}  ${code === undefined ? "" : `${code}: `}${message}`];
  });
  const rows = shares.map(({ backend, on, passed, failed, skipped, milliseconds: time }) => [
    backend,
    on,
    passed,
    failed,
    skipped,
    `${(time / 1000).toFixed(2)} s`,
  ]);
  const hints = ascendHints(report);
  return [
    ...lines,
    ...(rows.length === 0 ? [] : [table(["backend", "on", "passed", "failed", "skipped", "time"], rows)]),
    ...(hints === undefined ? [] : [`${ascendHint}: ${hints}`]),
    `${resultCounts(report)} in ${(milliseconds / 1000).toFixed(2)} s`,
  ].join("\n");
}
