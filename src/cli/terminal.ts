/** What the commands print: results on stdout, diagnostics and progress on stderr, colour only on a terminal. */
import { readFileSync } from "node:fs";
import pc from "picocolors";
import type { Diagnostic, Severity } from "../../ir/diagnostic.js";
import { renderDiagnostic } from "../../ir/text/render.js";

const colours = pc.createColors(pc.isColorSupported && process.stderr.isTTY);

const paint = (severity: Severity, text: string): string => {
  if (severity === "error") return colours.bold(colours.red(text));
  return severity === "warning" ? colours.bold(colours.yellow(text)) : colours.bold(colours.cyan(text));
};

/** Files that diagnostics may quote; read again only when one does. */
function sourceText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

export function printDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) {
    process.stderr.write(`${renderDiagnostic(diagnostic, { source: sourceText, paint })}\n`);
  }
}

export const print = (text: string): void => {
  process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
};

export const note = (text: string): void => {
  process.stderr.write(`${text}\n`);
};

/** The one version of every command's JSON. */
const jsonSchema = 1;

export function printJson(value: Readonly<Record<string, unknown>>): void {
  const big = (_: string, inner: unknown): unknown => (typeof inner === "bigint" ? inner.toString() : inner);
  process.stdout.write(`${JSON.stringify({ schema: jsonSchema, ...value }, big, 2)}\n`);
}
