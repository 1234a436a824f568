/** Default kernel of a program: the baseline of a search, and the kernel that `--compare default` draws. */
import { CompileError, type AccessFunc, type SourceFunc } from "../../ir/index.js";
import { compile, tryCompile, type CompileOptions, type Kernel } from "./compile.js";

/**
 * Compiles a program and returns the kernel; the compiler chooses the schedule entries that the program does
 * not state. Throws a CompileError if no schedule is legal.
 */
export function defaultKernel(
  program: AccessFunc | SourceFunc,
  options: Pick<CompileOptions, "target" | "findTarget" | "passes" | "afterPass">,
): Kernel {
  const compiled = tryCompile(program, options);
  if (compiled.ok) return compiled.kernel;
  if (program.schedule.residency !== undefined) throw new CompileError(compiled.diagnostics);
  return compile(program, { ...options, residency: "auto" });
}
