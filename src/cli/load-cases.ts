/** Programs of case files; apart, since what reads them is slow to load. */
import { CompileError, UniqueNames } from "../../ir/index.js";
import { hintFor } from "../../ir/did-you-mean.js";
import { caseProgram } from "../formats/case-program.js";
import { malformed } from "../formats/case-tensor.js";
import { readCaseList, type Case } from "../formats/cases.js";
import { readText } from "../formats/files.js";
import { isPyptoDump } from "../formats/pypto-dump.js";
import { loadDump } from "./load-dump.js";
import { withFlags, type LoadedProgram } from "./loaded-program.js";
import type { ProgramFlags, ProjectFlags } from "./options.js";
import { printDiagnostics } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Returns the graph that PyPTO dumped as JSON in `text`; undefined for any other text. */
export function dumpIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isPyptoDump(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Loads the programs of a file with JSON test cases or a PyPTO graph dump, or only the program of `--case`.
 * Throws a UsageError if no program has the name of `--case`, and a CompileError if the only test case is
 * invalid.
 */
export function loadCases(file: string, flags: ProgramFlags & ProjectFlags): LoadedProgram[] {
  const text = readText(file);
  const dump = dumpIn(text);
  if (dump !== undefined) return [...loadDump(dump, file, flags)];
  const cases = readCaseList(text, file, flags.project.operators);
  const chosen = cases.filter((test) => flags.case === undefined || test.id === flags.case);
  if (chosen.length === 0)
    throw withoutCase(
      file,
      flags.case,
      cases.map(({ id }) => id),
    );
  const one = chosen.length === 1;
  const names = new UniqueNames();
  return chosen.flatMap((test) => {
    // One bad case among many must not hide the rest; chosen alone, it is what the user asked about.
    if ("malformed" in test) {
      if (one) throw new CompileError(test.malformed);
      printDiagnostics(test.malformed.map((diagnostic) => ({ ...diagnostic, severity: "warning" as const })));
      return [];
    }
    if (!one && !caseProgram(test).ok) return [];
    return [loadedCase(test, one ? "main" : names.next(test.id), flags)];
  });
}

/**
 * Returns the error for a case file without a case (TC013), or without the case `which` (TC701). The hint
 * names a similar case, or the first cases of the file. `ids`: ids of all cases of the file.
 */
function withoutCase(file: string, which: string | undefined, ids: readonly string[]): CompileError {
  if (which === undefined || ids.length === 0)
    return new CompileError([malformed(file, "there is no case in it")]);
  const some = `ids are ${ids.slice(0, 3).join(", ")}${ids.length > 3 ? `, and ${ids.length - 3} others` : ""}`;
  return new UsageError(`${file} has no case with the id ${which}`, hintFor(which, ids, some));
}

/**
 * Returns the program and the inputs of a JSON test case, under the given name. Throws a CompileError if the
 * test case breaks a rule of the operator.
 */
export function loadedCase(test: Case, name: string, flags: ProgramFlags): LoadedProgram {
  const result = caseProgram(test);
  if (!result.ok) throw new CompileError(result.diagnostics);
  return {
    id: test.id,
    func: withFlags({ ...result.func, name }, flags),
    inputs: Object.fromEntries(
      Object.entries(test.inputs).map(([key, tensor]) => [key, () => tensor.read()]),
    ),
  };
}
