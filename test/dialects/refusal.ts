/** The first diagnostic of what a builder or the compiler refuses; undefined when it takes it. */
import { CompileError, RunError, type Diagnostic } from "../../ir/index.js";

export function refusal(build: () => unknown): Diagnostic | undefined {
  try {
    build();
  } catch (thrown) {
    if (thrown instanceof CompileError || thrown instanceof RunError) return thrown.diagnostics[0];
    throw thrown;
  }
  return undefined;
}

/** The code of a refusal, or `accepted`. */
export const verdict = (build: () => unknown): string => refusal(build)?.code ?? "accepted";
