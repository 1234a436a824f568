/** Diagnostics of a program or a run that an action refuses. Any other error is a bug, and fails the test. */
import { CompileError, RunError, type Diagnostic } from "../../ir/index.js";

/** The error of a program or a run; throws any other. */
export function errorOf(thrown: unknown): CompileError | RunError {
  if (thrown instanceof CompileError || thrown instanceof RunError) return thrown;
  throw thrown;
}

export const diagnosticsOf = (thrown: unknown): readonly Diagnostic[] => errorOf(thrown).diagnostics;

/** The diagnostics that an action throws, none when it is taken. */
export function refusals(action: () => unknown): readonly Diagnostic[] {
  try {
    action();
  } catch (thrown) {
    return diagnosticsOf(thrown);
  }
  return [];
}

/** Resolves to the diagnostics of a program or a run that an asynchronous action refuses. */
export const rejections = (action: () => unknown): Promise<readonly Diagnostic[]> =>
  Promise.resolve()
    .then(action)
    .then(() => [], diagnosticsOf);

/** Their codes. */
export const codesOf = (action: () => unknown): readonly string[] => refusals(action).map(({ code }) => code);

/** The first diagnostic; undefined when it is taken. */
export const refusal = (action: () => unknown): Diagnostic | undefined => refusals(action)[0];

/** The code of a refusal, or `accepted`. */
export const verdict = (action: () => unknown): string => refusal(action)?.code ?? "accepted";

/** Diagnostics as `TC101 message`. */
export const shown = (diagnostics: readonly Diagnostic[]): readonly string[] =>
  diagnostics.map(({ code, message }) => `${code} ${message}`);

/** Returns the result of an action; undefined if the action is refused. */
export function unlessRefused<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch (thrown) {
    diagnosticsOf(thrown);
    return undefined;
  }
}
