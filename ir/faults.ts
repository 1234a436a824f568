/** What a thrown error says of one program among many. */
import { CompileError, error, RunError, type Diagnostic } from "./diagnostic.js";

/** Returns where an error was thrown, if it says. */
export const framesOf = (thrown: unknown): readonly string[] =>
  /^\s*(at .*)$/m.exec(thrown instanceof Error ? (thrown.stack ?? "") : "")?.slice(1) ?? [];

/** Returns the diagnostics that an error carries, or for a bug in tilec one (TC201) that says so: it must not cost other programs. */
export function faultsOf(thrown: unknown): readonly Diagnostic[] {
  if (thrown instanceof CompileError || thrown instanceof RunError) return thrown.diagnostics;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const notes = ["this is a bug in tilec; please report it with the command you ran", ...framesOf(thrown)];
  return [error("TC201", `internal error: ${message}`, { notes, data: { bug: true } })];
}

/** True if a diagnostic tells of a bug in tilec. */
export const isBug = ({ data }: Diagnostic): boolean => data?.["bug"] === true;
