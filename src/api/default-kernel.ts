/** Default kernel of a program: the baseline of a search, and the kernel that `--compare default` draws. */
import { CompileError, type AccessFunc, type SourceFunc } from "../../ir/index.js";
import { compile, tryCompile, type CompileOptions, type Kernel } from "./compile.js";

/**
 * Compiles a program with the compiler's choice for each schedule entry that the program leaves open. If no
 * tile is legal under the residency of the target, the choice is among all residencies. Throws a CompileError
 * if no schedule is legal.
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
