/** A program's access level, before any choice of its schedule. */
import { CompileError, hasErrors, type AccessFunc, type Func } from "../../ir/index.js";
import { canonicalizeAccess, runPipeline } from "../../passes/index.js";
import { boundTo, resolveTargetOf, scheduled, type CompileOptions } from "./compile.js";

/** Undefined for a tile program. Throws a CompileError when a rule of the dialect is broken. */
export function accessOf(program: Func, options: CompileOptions = {}): AccessFunc | undefined {
  const bound = boundTo(program, options);
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  const given = bound.func;
  if (given.level === "tile") return undefined;
  const target = resolveTargetOf(given, options);
  const input = scheduled(given, options, target);
  const passes = input.level === "source" ? [canonicalizeAccess] : [];
  const { func, diagnostics } = runPipeline(input, passes, target);
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  return func.level === "access" ? func : undefined;
}
