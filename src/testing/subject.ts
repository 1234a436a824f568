/** What checks take: a kernel, what `tryCompile` gave, or a function that compiles. */
import { CompileError, error } from "../../ir/index.js";
import { checkKernel, isObject, shownValue } from "../../backends/index.js";
import { PassError } from "../../passes/index.js";
import type { CompileResult, Kernel } from "../api/compile.js";

/** What assertions take: a kernel, what `tryCompile` gave, or a function that compiles. */
export type Subject = Kernel | CompileResult | (() => Kernel | CompileResult);

/**
 * The kernel, or why there is none; a pass that breaks a program is a reason too. Throws a CompileError (TC702) for anything else
 * than a subject.
 */
export function compiled(subject: Subject): CompileResult {
  const value = typeof subject === "function" ? attempted(subject) : subject;
  if (isObject(value) && "ok" in value) return value;
  const kernel: unknown = value;
  if (!isObject(kernel) || !("tile" in kernel)) {
    const hint = "pass a kernel, the result of tryCompile, or () => compile(…)";
    throw new CompileError([error("TC702", `${shownValue(kernel)} is nothing that compiles`, { hint })]);
  }
  checkKernel(kernel);
  return { ok: true, kernel: value };
}

function attempted(compiles: () => Kernel | CompileResult): Kernel | CompileResult {
  try {
    return compiles();
  } catch (thrown) {
    if (thrown instanceof CompileError) return { ok: false, diagnostics: thrown.diagnostics };
    if (thrown instanceof PassError) return { ok: false, diagnostics: thrown.faults };
    throw thrown;
  }
}
