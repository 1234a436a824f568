/** A program's access level, before any choice of its schedule. */
import {
  CompileError,
  hasErrors,
  judgeTypes,
  type AccessFunc,
  type Diagnostic,
  type Func,
  type Profile,
} from "../../ir/index.js";
import { canonicalizeAccess, runPipeline } from "../../passes/index.js";
import { boundTo, resolveTargetOf, scheduled, type CompileOptions } from "./compile.js";

/**
 * Lowers a source or access program to the access level. Returns undefined for a tile program. Throws a
 * CompileError if the program breaks a dialect rule.
 */
export const accessOf = (program: Func, options: CompileOptions = {}): AccessFunc | undefined =>
  canonicalized(program, options)?.access;

/**
 * Access level of a program under a profile, or what the dialect refuses there; a tile program has none, and
 * nothing is refused.
 */
type AccessResult =
  | { readonly ok: true; readonly access: AccessFunc }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/**
 * Lowers a program to the access level under a PyPTO rule profile. Returns the access program, or `ok: false`
 * with diagnostics if the program breaks a dialect rule. A tile program gives `ok: false` without
 * diagnostics.
 */
export function accessUnder(profile: Profile, program: Func, options: CompileOptions = {}): AccessResult {
  try {
    const access = accessOf(program, { ...options, profile });
    return access === undefined ? { ok: false, diagnostics: [] } : { ok: true, access };
  } catch (thrown) {
    if (thrown instanceof CompileError) return { ok: false, diagnostics: thrown.diagnostics };
    throw thrown;
  }
}

/**
 * Returns the warnings of the dialect's rules about a program's operator. The list is empty for a tile
 * program. Throws a CompileError if the program breaks a dialect rule.
 */
export const operatorWarnings = (program: Func, options: CompileOptions = {}): readonly Diagnostic[] =>
  canonicalized(program, options)?.diagnostics ?? [];

/**
 * Lowers a source or access program to the access level. Returns the access program with the warnings about
 * its operator; undefined for a tile program. Throws a CompileError for sizes, types or attributes that a
 * rule rejects.
 */
function canonicalized(
  program: Func,
  options: CompileOptions,
): { readonly access: AccessFunc; readonly diagnostics: readonly Diagnostic[] } | undefined {
  const bound = boundTo(program, options);
  if (!bound.ok) throw new CompileError(bound.diagnostics);
  const given = bound.func;
  if (given.level === "tile") return undefined;
  const target = resolveTargetOf(given, options);
  const input = scheduled(given, options, target);
  const taken = input.level === "access" ? judgeTypes(input, target) : [];
  const { func, diagnostics: said } = runPipeline(
    input,
    input.level === "source" ? [canonicalizeAccess] : [],
    target,
  );
  const diagnostics = [...taken, ...said];
  if (hasErrors(diagnostics)) throw new CompileError(diagnostics);
  return func.level === "access" ? { access: func, diagnostics } : undefined;
}
