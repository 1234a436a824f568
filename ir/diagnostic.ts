/**
 * Diagnostics are data: a stable code, one sentence with the numbers, the place, notes, and a hint that works
 * when followed. Passes collect them; the API throws them once, as one CompileError.
 */
import type { Code } from "./codes.js";
import type { Shape, Span } from "./shape.js";

/** Severity of a diagnostic. Only an `error` stops the compilation or the execution. */
export type Severity = "error" | "warning" | "hint";

/** Values in a diagnostic's message, by name. Tools and tests read them. */
export type DiagnosticData = Readonly<
  Record<
    string,
    number | string | boolean | Shape | readonly string[] | Readonly<Record<string, number | string>>
  >
>;

/**
 * Diagnostic: a message of the compiler about a program or its execution. It has a code, a severity, a text
 * with numbers and, where available, a place in the source and a suggested change.
 */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** One sentence, lower case, with the numbers. Bytes are bytes, extents are elements. */
  readonly message: string;
  readonly span?: Span;
  readonly notes?: readonly string[];
  /** Change to make instead. Following it makes the diagnostic go away. */
  readonly hint?: string;
  readonly data?: DiagnosticData;
}

/**
 * Optional fields of a diagnostic: place in the source, notes, suggested change, and the values in its
 * message.
 */
export type DiagnosticDetails = Omit<Diagnostic, "code" | "severity" | "message" | "span"> & {
  readonly span?: Span | undefined;
};

/** Returns a diagnostic of severity `error`. The program is not compiled, or its execution stops. */
export const error = (code: Code, message: string, details: DiagnosticDetails = {}): Diagnostic =>
  diagnostic("error", code, message, details);
/** Returns a diagnostic of severity `warning`. The program is still compiled. */
export const warning = (code: Code, message: string, details: DiagnosticDetails = {}): Diagnostic =>
  diagnostic("warning", code, message, details);
/** Returns a diagnostic of severity `hint`, which proposes a change. */
export const hint = (code: Code, message: string, details: DiagnosticDetails = {}): Diagnostic =>
  diagnostic("hint", code, message, details);

function diagnostic(severity: Severity, code: Code, message: string, details: DiagnosticDetails): Diagnostic {
  const { span, ...rest } = details;
  return span === undefined
    ? { code, severity, message, ...rest }
    : { code, severity, message, span, ...rest };
}

/** True if any of the diagnostics is an error. */
export const hasErrors = (diagnostics: readonly Diagnostic[]): boolean =>
  diagnostics.some((d) => d.severity === "error");

/**
 * Options of {@link renderDiagnostic}: the source text for quoted lines, and a function that adds colours.
 */
export interface RenderOptions {
  /** The text of a file that spans point into, to quote its line. */
  readonly source?: (file: string) => string | undefined;
  /** Colours the `error[TC301]` part; identity when absent. */
  readonly paint?: (severity: Severity, text: string) => string;
}

/**
 * Returns a diagnostic as text: severity, code and message, then the place in the source, the quoted line,
 * the notes and the suggested change.
 */
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

/**
 * Returns the message of an error that carries these diagnostics: each diagnostic as text with its place,
 * notes and suggested change, one after the other.
 */
export const messageOf = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map((diagnostic) => renderDiagnostic(diagnostic)).join("\n");

/**
 * Base class of errors that carry diagnostics. The error's message contains every diagnostic in full,
 * including suggested changes.
 */
export abstract class DiagnosticError extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(messageOf(diagnostics));
  }
}

/** Error in the user's program, input or schedule; it carries every diagnostic that was found. */
export class CompileError extends DiagnosticError {
  override readonly name = "CompileError";
}

/**
 * Error in one execution of a correct program, such as an index value out of range, or a trap of the checked
 * executor.
 */
export class RunError extends DiagnosticError {
  override readonly name = "RunError";
}

/** Throws one CompileError with all of the diagnostics if any of them is an error. */
export function throwIfErrors(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
}
