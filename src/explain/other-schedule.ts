/** Another schedule of a program, as `--compare` takes it. */
import { CompileError, error, parseSchedule, unscheduled, type Func } from "../../ir/index.js";
import { compile, type CompileOptions, type Kernel } from "../api/compile.js";
import { defaultKernel } from "../api/default-kernel.js";

/** Hint for a text that is no schedule. */
const example = '--compare "tile = [8, 64], residency = gm", or --compare default';

/**
 * Returns the kernel of a program under another schedule. `written`: schedule as text, or `default` for the
 * compiler's choice. Throws a CompileError for an invalid or illegal schedule, or for a tile program (TC702).
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
  if (written === "default") return defaultKernel(unscheduled(program), options).kernel;
  const { schedule, diagnostics } = parseSchedule(written, "--compare");
  if (diagnostics.length > 0) throw new CompileError(diagnostics.map((one) => ({ hint: example, ...one })));
  return compile({ ...program, schedule }, options);
}
