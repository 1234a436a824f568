/** The program that a case is about. */
import { bindSizes, hasErrors, parseModule, type Diagnostic, type Func } from "../../ir/index.js";
import { tryProgram } from "../api/program.js";
import type { Case } from "./cases.js";

/** Program of a JSON test case, or the diagnostics that explain why no valid program exists. */
export type CaseProgram =
  | { readonly ok: true; readonly func: Func }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Returns the program of a JSON test case, built from the operator or parsed from the `tir` text. The result
 * has diagnostics if there is no valid program.
 */
export function caseProgram({ id, program, tir = "", operators, options, bind = {} }: Case): CaseProgram {
  if (program !== undefined) return tryProgram({ ...program, name: "main" });
  const { module, diagnostics } = parseModule(tir, `${id}: tir`, operators);
  const [func] = module.funcs;
  if (hasErrors(diagnostics) || func === undefined) return { ok: false, diagnostics };
  const { target, schedule } = options;
  const targeted = target === undefined ? func : { target, ...func };
  return bindSizes({ ...targeted, schedule: { ...func.schedule, ...schedule } }, bind);
}
