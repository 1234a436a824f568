/** The programs that a model needs, as `plan` counts them. */
import { defined } from "../../ir/index.js";
import type { CompileOptions } from "../api/compile.js";
import { listGathers } from "./list-model.js";
import { loadModel, programsOf, withoutGather } from "./load-model.js";
import type { LoadedProgram, Refuse } from "./loaded-program.js";
import type { ProgramFlags, ProjectFlags } from "./options.js";
import { isSeparateProgram, placePrograms } from "./place-programs.js";

/**
 * Loads the programs that `tilec plan` lists for an ONNX model: each gather, merged with neighbouring nodes
 * if that compiles. `refuse` receives the diagnostics of refused gathers. Throws a UsageError for a model
 * without gathers, and a CompileError if no gather has a program.
 */
export function loadNeededPrograms(
  file: string,
  flags: ProgramFlags & ProjectFlags,
  pipeline: Pick<CompileOptions, "passes">,
  {
    target,
    refuse,
  }: { readonly target: Pick<CompileOptions, "target" | "findTarget">; readonly refuse: Refuse },
): LoadedProgram[] {
  const { gathers, warnings, uses } = loadModel(file, flags, target);
  const listed = listGathers(
    gathers.filter(({ without }) => without !== "uncompiled"),
    flags,
    pipeline,
  );
  if (listed.length === 0) throw withoutGather(file, "at all", gathers);
  const { chosen, placed } = placePrograms(uses, listed);
  const programs = [...chosen.values()].flatMap((program) =>
    isSeparateProgram(program, placed) ? [program.listed] : [],
  );
  return programsOf(
    programs.map(({ name, diagnostics, kernel, loaded, verdict }) => ({
      name,
      diagnostics,
      ...(verdict === "legal" ? {} : { without: verdict }),
      ...defined({ loaded: kernel && loaded }),
    })),
    warnings,
    refuse,
  );
}
