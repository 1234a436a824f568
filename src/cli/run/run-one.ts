/** `tilec run` of one program. */
import { throwIfErrors, unbound } from "../../../ir/index.js";
import type { LoadedProgram } from "../loaded-program.js";
import { printJson, printReport } from "../terminal.js";
import type { RunFlags } from "./run-flags.js";
import { runProgram } from "./run-program.js";

/**
 * Compiles and runs one gather, prints the result and resolves to the exit code. Rejects with a CompileError
 * if the program has dynamic sizes.
 */
export async function runOne(loaded: LoadedProgram, flags: RunFlags): Promise<number> {
  throwIfErrors(unbound(loaded.func));
  const { code, document, text } = await runProgram(loaded, flags);
  if (flags.json === true) printJson({ command: "run", ...document });
  else printReport(text);
  return code;
}
