/**
 * Output of the commands: results on stdout, diagnostics and progress on stderr, colour only on a terminal.
 */
import { existsSync } from "node:fs";
import { defined } from "../../ir/defined.js";
import { shownPath } from "../config/find-config.js";
import { packageFile } from "../device/package-files.js";
import pc from "picocolors";
import { renderDiagnostic, type Diagnostic, type Severity } from "../../ir/diagnostic.js";
import { readText } from "../formats/files.js";
import { folded } from "../report/fold.js";
import { jsonSchema } from "../output/mark.js";
import { visible } from "./visible.js";

const colours = pc.createColors(pc.isColorSupported && process.stderr.isTTY);

const paint = (severity: Severity, text: string): string => {
  if (severity === "error") return colours.bold(colours.red(text));
  return severity === "warning" ? colours.bold(colours.yellow(text)) : colours.bold(colours.cyan(text));
};

/**
 * Returns the text of a source file for quoting in diagnostics, with control characters escaped. Undefined if
 * the file is binary or cannot be read.
 */
function sourceText(file: string): string | undefined {
  try {
    const text = readText(file);
    // Lines of a binary file say nothing.
    return /[\0\ufffd]/.test(text) ? undefined : visible(text);
  } catch {
    return undefined;
  }
}

/** Prints diagnostics to stderr, with the source line of each diagnostic if the source file can be read. */
export function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) {
    const file = diagnostic.span?.file;
    const source = (): string | undefined => (file === undefined ? undefined : sourceText(file));
    process.stderr.write(`${renderDiagnostic(shown(diagnostic), { source, paint })}\n`);
  }
}

/** Prints diagnostics of problems that do not stop the command. Errors are printed as warnings. */
export function printWarnings(diagnostics: readonly Diagnostic[]): void {
  printDiagnostics(
    diagnostics.map((diagnostic) =>
      diagnostic.severity === "error" ? { ...diagnostic, severity: "warning" as const } : diagnostic,
    ),
  );
}

/**
 * Returns a diagnostic for the terminal: its texts contain no raw control characters, and its hint has the
 * paths of the pages that it names.
 */
const shown = ({ message, span, notes, hint, ...rest }: Diagnostic): Diagnostic => ({
  ...rest,
  message: visible(message),
  ...defined({ span: span && { ...span, file: visible(span.file) } }),
  ...defined({ notes: notes?.map(visible) }),
  ...(hint === undefined ? {} : { hint: visible(withPages(hint)) }),
});

/**
 * Returns a hint in which a page of the documentation, such as `docs/cases.md`, has the path of its file in
 * the tilec package: `node_modules/tilec/docs/cases.md` in a project that has tilec installed.
 */
const withPages = (hint: string): string =>
  hint.replaceAll(/\bdocs\/[\w-]+\.md\b/g, (page) => {
    const file = packageFile(page);
    if (!existsSync(file)) return page;
    const path = shownPath(file);
    return path.startsWith("..") ? file : path;
  });

const lineOf = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** Prints a text to stdout with control characters escaped and a line break at the end. */
export const print = (text: string): void => {
  process.stdout.write(visible(lineOf(text)));
};

/** Prints a report to stdout. On a terminal, long lines are wrapped to the terminal's width. */
export const printReport = (text: string): void => {
  const { columns, isTTY } = process.stdout;
  print(isTTY && columns > 0 ? folded(text, columns) : text);
};

/**
 * Prints the text of a file to stdout: unchanged, or with control characters escaped if stdout is a terminal.
 */
export const printFile = (text: string): void => {
  if (process.stdout.isTTY) print(text);
  else process.stdout.write(lineOf(text));
};

/** Prints a line to stderr with control characters escaped. */
export const note = (text: string): void => {
  process.stderr.write(`${visible(text)}\n`);
};

/**
 * Prints a JSON document to stdout, with the version of the document format as the first key, `schema`. A
 * bigint is printed as a string.
 */
export function printJson(value: Readonly<Record<string, unknown>>): void {
  const big = (_: string, inner: unknown): unknown => (typeof inner === "bigint" ? inner.toString() : inner);
  print(JSON.stringify({ schema: jsonSchema, ...value }, big, 2));
}
