/** Diagnostics and stack frames of a thrown error, for one program among many. */
import { CompileError, error, RunError, type Diagnostic } from "./diagnostic.js";

/** Returns the message of a thrown error, or the text of another thrown value. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/**
 * Returns the first frame (`at ...`) of an error's stack trace as a list with one entry. The list is empty
 * for a value without a stack trace.
 */
export const framesOf = (thrown: unknown): readonly string[] =>
  /^\s*(at .*)$/m.exec(thrown instanceof Error ? (thrown.stack ?? "") : "")?.slice(1) ?? [];

/**
 * Returns the diagnostics of a CompileError or RunError. Any other error gives one diagnostic (TC201) that
 * reports a bug in tilec.
 */
export function faultsOf(thrown: unknown): readonly Diagnostic[] {
  if (thrown instanceof CompileError || thrown instanceof RunError) return thrown.diagnostics;
  const notes = ["this is a bug in tilec; please report it with the command you ran", ...framesOf(thrown)];
  return [error("TC201", `internal error: ${messageOf(thrown)}`, { notes, data: { bug: true } })];
}

/** True if a diagnostic reports a bug in tilec. */
export const isBug = ({ data }: Diagnostic): boolean => data?.["bug"] === true;
