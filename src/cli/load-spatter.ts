/** Programs of a file of Spatter's; apart, since few commands read one. */
import { CompileError } from "../../ir/index.js";
import { readText } from "../formats/files.js";
import {
  patternTensor,
  readSpatter,
  spatterProgram,
  writtenLast,
  type SpatterEntry,
} from "../formats/spatter.js";
import { withFlags, type LoadedProgram } from "./loaded-program.js";
import type { ProgramFlags } from "./options.js";
import { printWarnings } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/**
 * Returns the configurations of a file of the gather benchmark Spatter, or only the configuration of
 * `--case`. Throws a CompileError (TC021) for a malformed file, and a UsageError if no configuration has the
 * name of `--case`.
 */
export function spatterEntries(file: string, flags: ProgramFlags): readonly SpatterEntry[] {
  const all = readSpatter(readText(file), file);
  const chosen = all.filter(({ id }) => flags.case === undefined || id === flags.case);
  if (chosen.length > 0) return chosen;
  throw new UsageError(`${file} has no configuration ${flags.case ?? ""}`, `0 to ${all.length - 1}`);
}

/**
 * Returns the program of a configuration of the gather benchmark Spatter, with the configuration's pattern as
 * indices. Throws a CompileError for a configuration that defines no program.
 */
export function spatterLoaded(entry: SpatterEntry, flags: ProgramFlags): LoadedProgram {
  if (entry.kind !== "program") throw new CompileError([entry.diagnostic]);
  const { id, name, kernel } = entry;
  return {
    id,
    func: withFlags(spatterProgram(kernel, name), flags),
    given: { p: () => patternTensor(kernel) },
    result: (output) => writtenLast(output, kernel),
  };
}

/**
 * Loads the programs of a file of the gather benchmark Spatter. Configurations without a program are printed
 * as warnings. Throws a CompileError if no configuration has a program.
 */
export function loadSpatter(file: string, flags: ProgramFlags): LoadedProgram[] {
  const entries = spatterEntries(file, flags);
  const refused = entries.flatMap((entry) => (entry.kind === "program" ? [] : [entry.diagnostic]));
  if (refused.length === entries.length) throw new CompileError(refused);
  printWarnings(refused);
  return entries.flatMap((entry) => (entry.kind === "program" ? [spatterLoaded(entry, flags)] : []));
}
