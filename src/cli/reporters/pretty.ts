/** For people: what did not pass, then what ran where and how long. */
import { counted } from "../../../ir/index.js";
import type { Code } from "../../../ir/codes.js";
import { table } from "../../report/table.js";
import { resultCounts, type SuiteReport } from "./suite-report.js";

const ascendHint = "TC912" satisfies Code;

export function pretty(report: SuiteReport): string {
  const { results, shares, milliseconds } = report;
  const lines = results.flatMap(({ status, id, backend, message = "" }) =>
    status === "pass" ? [] : [`${status}  ${id}  ${backend}  ${message}`],
  );
  const rows = shares.map(({ backend, on, passed, failed, skipped, milliseconds: time }) => [
    backend,
    on,
    passed,
    failed,
    skipped,
    `${(time / 1000).toFixed(2)} s`,
  ]);
  const hinted = new Set(results.flatMap(({ id, code }) => (code === ascendHint ? [id] : []))).size;
  const params = `${ascendHint}: an Ascend core may give other bits for ${counted(hinted, "test")} that passed; --json names them`;
  return [
    ...lines,
    ...(rows.length === 0 ? [] : [table(["backend", "on", "passed", "failed", "skipped", "time"], rows)]),
    ...(hinted === 0 ? [] : [params]),
    `${resultCounts(report)} in ${(milliseconds / 1000).toFixed(2)} s`,
  ].join("\n");
}
