/** What the commands print: results on stdout, diagnostics and progress on stderr, colour only on a terminal. */
import { defined } from "../../ir/defined.js";
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

/** Files that diagnostics may quote; read again only when one does. */
function sourceText(file: string): string | undefined {
  try {
    const text = readText(file);
    // Lines of a binary file say nothing.
    return /[\0\ufffd]/.test(text) ? undefined : visible(text);
  } catch {
    return undefined;
  }
}

export function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) {
    const file = diagnostic.span?.file;
    const source = (): string | undefined => (file === undefined ? undefined : sourceText(file));
    process.stderr.write(`${renderDiagnostic(shown(diagnostic), { source, paint })}\n`);
  }
}

/** Prints diagnostics of what the command goes on without: errors as warnings. */
export function printWarnings(diagnostics: readonly Diagnostic[]): void {
  printDiagnostics(
    diagnostics.map((diagnostic) =>
      diagnostic.severity === "error" ? { ...diagnostic, severity: "warning" as const } : diagnostic,
    ),
  );
}

/** Its words without control characters. */
const shown = ({ message, span, notes, hint, ...rest }: Diagnostic): Diagnostic => ({
  ...rest,
  message: visible(message),
  ...(span === undefined ? {} : { span: { ...span, file: visible(span.file) } }),
  ...defined({ notes: notes?.map(visible) }),
  ...(hint === undefined ? {} : { hint: visible(hint) }),
});

const lineOf = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

export const print = (text: string): void => {
  process.stdout.write(visible(lineOf(text)));
};

/** A report, folded to the width of the terminal; as it is where the standard output is none. */
export const printReport = (text: string): void => {
  const { columns, isTTY } = process.stdout;
  print(isTTY && columns > 0 ? folded(text, columns) : text);
};

/** A file's text as it is, but on a terminal. */
export const printFile = (text: string): void => {
  if (process.stdout.isTTY) print(text);
  else process.stdout.write(lineOf(text));
};

export const note = (text: string): void => {
  process.stderr.write(`${visible(text)}\n`);
};

export function printJson(value: Readonly<Record<string, unknown>>): void {
  const big = (_: string, inner: unknown): unknown => (typeof inner === "bigint" ? inner.toString() : inner);
  print(JSON.stringify({ schema: jsonSchema, ...value }, big, 2));
}
