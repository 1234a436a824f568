/**
 * Diagnostics are data: a stable code, one sentence with the numbers, the place, notes, and a hint that works
 * when followed. Passes collect them; the API throws them once, as one CompileError.
 */
import type { Code } from "./codes.js";
import type { Shape, Span } from "./types.js";

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

/** The user's program, input or schedule is wrong. Carries every diagnostic found. */
export class CompileError extends Error {
  override readonly name = "CompileError";
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map((d) => `${d.severity}[${d.code}]: ${d.message}`).join("\n"));
  }
}

/** The program is fine, but this run of it is not: an index out of range, a trap of the checked executor. */
export class RunError extends Error {
  override readonly name = "RunError";
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map((d) => `${d.severity}[${d.code}]: ${d.message}`).join("\n"));
  }
}

/** Throws one CompileError if any of the diagnostics is an error. */
export function throwIfErrors(diagnostics: readonly Diagnostic[]): void {
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
}
