/** Another schedule of a program, as `--compare` takes it. */
import { CompileError, error, parseSchedule, unscheduled, type Func } from "../../ir/index.js";
import { compile, type CompileOptions, type Kernel } from "../api/compile.js";
import { defaultKernel } from "../api/default-kernel.js";

/**
 * The program under a schedule as printed, in braces or without, or under `default`, the compiler's own choice. Throws a CompileError
 * for a text that is no schedule, for one that is not legal, and for a tile program (TC702).
 */
export function otherKernel(
  program: Func,
  written: string,
  options: Pick<CompileOptions, "target" | "findTarget" | "passes">,
): Kernel {
  if (program.level === "tile") {
    const message = `@${program.name} is a tile program: its schedule is chosen, and there is no other to compare`;
    throw new CompileError([error("TC702", message, { hint: "give the source or access program" })]);
  }
  if (written === "default") return defaultKernel(unscheduled(program), options);
  const { schedule, diagnostics } = parseSchedule(written, "--compare");
  if (diagnostics.length > 0) throw new CompileError(diagnostics);
  return compile({ ...program, schedule }, options);
}
