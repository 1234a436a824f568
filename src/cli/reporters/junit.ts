/**
 * JUnit's XML, as Jenkins' xunit plugin and most CI services read it: a suite for each file, a case for each
 * test and backend.
 */
import { defined } from "../../../ir/defined.js";
import { create } from "xmlbuilder2";
import type { CheckResult } from "../../testing/check-case.js";
import { countOf, type SuiteReport } from "./suite-report.js";

/**
 * Replaces the characters that XML 1.0 does not allow. Below the blank it allows only tab, line feed and
 * carriage return.
 */
const printable = (text: string): string =>
  text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3);

/** Formats a report as JUnit XML, with a suite for each file and a case for each test and backend. */
export function junit({ results, diagnostics, milliseconds }: SuiteReport): string {
  const files = [...new Set(results.map(({ file = "" }) => file))];
  const root = create({ version: "1.0", encoding: "UTF-8" }).ele("testsuites", {
    name: "tilec check",
    tests: results.length,
    failures: countOf(results, "fail"),
    errors: diagnostics.length,
    time: seconds(milliseconds),
  });
  for (const file of files) {
    const inFile = results.filter((result) => (result.file ?? "") === file);
    const suite = root.ele("testsuite", {
      name: printable(file),
      tests: inFile.length,
      failures: countOf(inFile, "fail"),
      errors: 0,
      skipped: countOf(inFile, "skip"),
      time: seconds(inFile.reduce((sum, { milliseconds: each = 0 }) => sum + each, 0)),
      file: printable(file),
    });
    for (const result of inFile) addCase(suite, result);
  }
  if (diagnostics.length > 0) {
    const suite = root.ele("testsuite", {
      name: "tilec check",
      tests: 1,
      failures: 0,
      errors: diagnostics.length,
    });
    const test = suite.ele("testcase", { name: "every backend ran", classname: "tilec" });
    for (const { code, message } of diagnostics)
      test.ele("error", { type: code, message: printable(message) });
  }
  return root.end({ prettyPrint: true });
}

/**
 * Adds one result to a JUnit suite as a `testcase` element. A result that did not pass gets a `skipped` or
 * `failure` child element.
 */
function addCase(
  suite: ReturnType<ReturnType<typeof create>["ele"]>,
  { id, backend, status, code, message = "", file = "", line = 1, milliseconds = 0 }: CheckResult,
): void {
  const test = suite.ele("testcase", {
    name: printable(id),
    classname: backend,
    time: seconds(milliseconds),
  });
  if (status === "pass") return;
  const type = defined({ type: code });
  const said = { ...type, message: printable(message) };
  if (status === "skip") test.ele("skipped", said);
  else
    test
      .ele("failure", said)
      .txt(printable(message.startsWith(`${file}:`) ? message : `${file}:${line}: ${message}`));
}
