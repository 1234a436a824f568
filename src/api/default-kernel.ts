/** What a search compares with, and what `--compare default` draws. */
import { CompileError, type AccessFunc, type SourceFunc } from "../../ir/index.js";
import { compile, tryCompile, type CompileOptions, type Kernel } from "./compile.js";

/**
 * The compiler's own choice of what a program leaves open; where the target's residency leaves no legal tile, that of any residency.
 * Throws a CompileError where there is none.
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
