/**
 * Annotations of GitHub Actions: one line for each failure, at its file and line, and a notice of what passed
 * with TC912; paths from the folder that the command runs in. Escapes: docs.github.com, "Workflow commands
 * for GitHub Actions", as its toolkit writes them.
 */
import { isAbsolute, relative } from "node:path";
import type { Diagnostic } from "../../../ir/index.js";
import { ascendHint, ascendHints, resultCounts, type SuiteReport } from "./suite-report.js";

const data = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
const fromHere = (file: string): string => (isAbsolute(file) ? relative(process.cwd(), file) : file);

/**
 * Formats a report as lines for GitHub Actions. There is an annotation for each failed test, one notice if
 * tests have the hint TC912 (Ascend cores), and an annotation for each diagnostic. The last line has the
 * counts of results.
 */
export function github(report: SuiteReport): string {
  const failures = report.results.flatMap(({ status, id, backend, code, message = "", file, line = 1 }) => {
    if (status !== "fail") return [];
    const at = file === undefined ? "" : `file=${property(fromHere(file))},line=${line},`;
    const what = code === undefined ? backend : `${backend}, ${code}`;
    return [`::error ${at}title=${property(`${id} (${what})`)}::${data(message)}`];
  });
  const hints = ascendHints(report);
  const notices = hints === undefined ? [] : [`::notice title=${ascendHint}::${data(hints)}`];
  return [...failures, ...notices, ...report.diagnostics.map(annotation), resultCounts(report)].join("\n");
}

const annotation = ({ severity, code, message }: Diagnostic): string =>
  `::${severity === "error" ? "error" : "warning"} title=${property(code)}::${data(message)}`;
