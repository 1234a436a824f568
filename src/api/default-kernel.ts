/** Default kernel of a program: the baseline of a search, and the kernel that `--compare default` draws. */
import { CompileError, type AccessFunc, type Diagnostic, type SourceFunc } from "../../ir/index.js";
import { compile, tryCompile, type CompileOptions, type Kernel } from "./compile.js";

/** Result of {@link defaultKernel}. */
export interface DefaultKernel {
  readonly kernel: Kernel;
  /** Error by which the compiler refuses the program without a residency; absent if it does not. */
  readonly refusal?: Diagnostic;
}

/**
 * Compiles a program; the compiler chooses the schedule entries that the program does not state. If the
 * program is refused without a residency, it is compiled with residency `auto`. Throws a CompileError if no
 * schedule is legal.
 */
export function defaultKernel(
  program: AccessFunc | SourceFunc,
  options: Pick<CompileOptions, "target" | "findTarget" | "passes" | "afterPass">,
): DefaultKernel {
  const compiled = tryCompile(program, options);
  if (compiled.ok) return { kernel: compiled.kernel };
  const { diagnostics } = compiled;
  const refusal = diagnostics.find(({ severity }) => severity === "error");
  if (program.schedule.residency !== undefined || refusal === undefined) throw new CompileError(diagnostics);
  return { kernel: compile(program, { ...options, residency: "auto" }), refusal };
}
