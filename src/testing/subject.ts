/** Subjects of checks: a kernel, the result of `tryCompile`, or a function that compiles. */
import { CompileError, error } from "../../ir/index.js";
import { checkKernel, isObject, shownValue } from "../../backends/index.js";
import { PassError } from "../../passes/index.js";
import type { CompileResult, Kernel } from "../api/compile.js";

/**
 * Kernel under test: a kernel, the result of `tryCompile`, or a function that returns a kernel or a
 * `tryCompile` result.
 */
export type Subject = Kernel | CompileResult | (() => Kernel | CompileResult);

/**
 * Returns the kernel under test, or the diagnostics of a failed compilation. Throws a CompileError (TC702) if
 * `subject` is not a kernel, a compile result or a function.
 */
export function compiled(subject: Subject): CompileResult {
  const value = typeof subject === "function" ? attempted(subject) : subject;
  if (isObject(value) && "ok" in value) return value;
  const kernel: unknown = value;
  if (!isObject(kernel) || !("tile" in kernel)) {
    const hint = "pass a kernel, the result of tryCompile, or () => compile(…)";
    throw new CompileError([
      error("TC702", `${shownValue(kernel)} is not a kernel or a function that compiles one`, { hint }),
    ]);
  }
  checkKernel(kernel);
  return { ok: true, kernel: value };
}

/**
 * Returns the result of calling `compiles`, or the diagnostics of a thrown CompileError or PassError. Throws
 * any other error of `compiles`.
 */
function attempted(compiles: () => Kernel | CompileResult): Kernel | CompileResult {
  try {
    return compiles();
  } catch (thrown) {
    if (thrown instanceof CompileError) return { ok: false, diagnostics: thrown.diagnostics };
    if (thrown instanceof PassError) return { ok: false, diagnostics: thrown.faults };
    throw thrown;
  }
}
