/**
 * Diagnostics are data: a stable code, one sentence with the numbers, the place, notes, and a hint that works
 * when followed. Passes collect them; the API throws them once, as one CompileError.
 */
import type { Code } from "./codes.js";
import type { Shape, Span } from "./shape.js";

/** Severity of a diagnostic. Only an `error` stops the compilation or the execution. */
export type Severity = "error" | "warning" | "hint";

/** Values in a diagnostic's message, by name, for tools and tests. */
export type DiagnosticData = Readonly<
  Record<
    string,
    number | string | boolean | Shape | readonly string[] | Readonly<Record<string, number | string>>
  >
>;

/**
 * Diagnostic: a compiler message about a program or an execution. Has a code, a severity and a message; a
 * source position and a suggested change are optional.
 */
export interface Diagnostic {
  readonly code: Code;
  readonly severity: Severity;
  /** One sentence, lower case, with the numbers. Bytes are bytes, extents are elements. */
  readonly message: string;
  readonly span?: Span;
  readonly notes?: readonly string[];
  /** Suggested change, after which the diagnostic disappears. */
  readonly hint?: string;
  readonly data?: DiagnosticData;
}

/**
 * Optional fields of a diagnostic: source position, notes, suggested change, and the values in the message.
 */
export type DiagnosticDetails = Omit<Diagnostic, "code" | "severity" | "message" | "span"> & {
  readonly span?: Span | undefined;
};

/** Returns a diagnostic of severity `error`, which stops the compilation or the execution. */
export const error = (code: Code, message: string, details: DiagnosticDetails = {}): Diagnostic =>
  diagnostic("error", code, message, details);
/** Returns a diagnostic of severity `warning`, which does not stop the compilation. */
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
  /** Returns the text of a file, from which lines are quoted; undefined for an unknown file. */
  readonly source?: (file: string) => string | undefined;
  /** Returns `text`, such as `error[TC301]`, with colours. Absent: no colours. */
  readonly paint?: (severity: Severity, text: string) => string;
}

/**
 * Returns a diagnostic as text: severity, code, message, source position, quoted line, notes and suggested
 * change.
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

/** Returns diagnostics as text, one after another, separated by line ends. */
export const renderDiagnostics = (diagnostics: readonly Diagnostic[]): string =>
  diagnostics.map((diagnostic) => renderDiagnostic(diagnostic)).join("\n");

/** Base class of errors that carry diagnostics. The error message contains every diagnostic in full. */
export abstract class DiagnosticError extends Error {
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(renderDiagnostics(diagnostics));
  }
}

/** Error in the user's program, input or schedule, with all diagnostics. */
export class CompileError extends DiagnosticError {
  override readonly name = "CompileError";
}

/** Error in one execution of a correct program, such as an index value out of range. */
export class RunError extends DiagnosticError {
  override readonly name = "RunError";
}

/** Throws one CompileError with all diagnostics if any diagnostic is an error. */
export function throwIfErrors(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
}
