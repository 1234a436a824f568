/** A diagnostic as terminal text: code, place, source line with a caret, notes, hint. */
import type { Diagnostic, Severity } from "../diagnostic.js";

/** How diagnostics are shown. */
export interface RenderOptions {
  /** The text of a file that spans point into, to quote its line. */
  readonly source?: (file: string) => string | undefined;
  /** Colours the `error[TC301]` part; identity when absent. */
  readonly paint?: (severity: Severity, text: string) => string;
}

/** A diagnostic as text: the place, the line, the notes, the hint. */
export function renderDiagnostic(diagnostic: Diagnostic, options: RenderOptions = {}): string {
  const { severity, code, message, span, notes = [], hint } = diagnostic;
  const head = `${severity}[${code}]`;
  const lines = [`${options.paint?.(severity, head) ?? head}: ${message}`];
  if (span !== undefined) {
    lines.push(`  --> ${span.file}:${span.line}:${span.column}`);
    const quoted = options.source?.(span.file)?.split("\n")[span.line - 1];
    if (quoted !== undefined) {
      const caret = " ".repeat(Math.max(0, span.column - 1)) + "^".repeat(Math.max(1, span.length));
      lines.push(`   | ${quoted.replaceAll("\t", " ")}`, `   | ${caret}`);
    }
  }
  for (const note of notes) lines.push(`   = note: ${note}`);
  if (hint !== undefined) lines.push(`   = hint: ${hint}`);
  return lines.join("\n");
}
