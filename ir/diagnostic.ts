/**
 * Diagnostics are data: a stable code, one sentence with the numbers, the place, notes, and a hint that works
 * when followed. Passes collect them; the API throws them once, as one CompileError.
 */
import type { Code } from "./codes.js";
import type { Shape, Span } from "./shape.js";

/** An error refuses; a warning and a hint do not. */
export type Severity = "error" | "warning" | "hint";

/** For tools and tests: the numbers of the message by name. */
export type DiagnosticData = Readonly<
  Record<
    string,
    number | string | boolean | Shape | readonly string[] | Readonly<Record<string, number | string>>
  >
>;

/** What the compiler has to say: a code, the numbers, the place, a hint that works when followed. */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** One sentence, lower case, with the numbers. Bytes are bytes, extents are elements. */
  readonly message: string;
  readonly span?: Span;
  readonly notes?: readonly string[];
  /** What to do instead. Following it makes the diagnostic go away. */
  readonly hint?: string;
  readonly data?: DiagnosticData;
}

/** Place, notes, hint and figures of a diagnostic. */
export type DiagnosticDetails = Omit<Diagnostic, "code" | "severity" | "message" | "span"> & {
  readonly span?: Span | undefined;
};

/** A diagnostic that refuses. */
export const error = (code: Code, message: string, details: DiagnosticDetails = {}): Diagnostic =>
  diagnostic("error", code, message, details);
/** A diagnostic about a program that compiles. */
export const warning = (code: Code, message: string, details: DiagnosticDetails = {}): Diagnostic =>
  diagnostic("warning", code, message, details);
/** A diagnostic that proposes. */
export const hint = (code: Code, message: string, details: DiagnosticDetails = {}): Diagnostic =>
  diagnostic("hint", code, message, details);

function diagnostic(severity: Severity, code: Code, message: string, details: DiagnosticDetails): Diagnostic {
  const { span, ...rest } = details;
  return span === undefined
    ? { code, severity, message, ...rest }
    : { code, severity, message, span, ...rest };
}

/** Whether any of them refuses. */
export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((d) => d.severity === "error");

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

/** Returns the message of an error that carries these diagnostics: each with its place, notes and hint, one after the other. */
export const messageOf = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map((diagnostic) => renderDiagnostic(diagnostic)).join("\n");

/** Base of the errors that carry diagnostics; its message has all of each, so that who prints an error prints its hint. */
export abstract class DiagnosticError extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(messageOf(diagnostics));
  }
}

/** The user's program, input or schedule is wrong. Carries every diagnostic found. */
export class CompileError extends DiagnosticError {
  override readonly name = "CompileError";
}

/** The program is fine, but this run of it is not: an index out of range, a trap of the checked executor. */
export class RunError extends DiagnosticError {
  override readonly name = "RunError";
}

/** Throws one CompileError if any of the diagnostics is an error. */
export function throwIfErrors(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
}
