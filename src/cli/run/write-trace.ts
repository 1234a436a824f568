/** The simulated timeline of a run's kernel, in a file. */
import { walkOf, type Func } from "../../../ir/index.js";
import { chromeTrace } from "../../../backends/sim/index.js";
import type { CompileOptions, Kernel } from "../../api/compile.js";
import { otherKernel } from "../../explain/other-schedule.js";
import { jsonSchema, outputFormats, type OutputFormat } from "../../output/mark.js";
import type { Outputs } from "../outputs.js";
import { note } from "../terminal.js";
import { UsageError } from "../usage-error.js";
import type { RunFlags } from "./run-flags.js";

/**
 * Returns the program's kernel under the schedule of `--compare`; undefined without the flag. Throws a
 * UsageError if `--compare` is given and `--trace` does not name an `.html` file.
 */
export function comparedWith(
  func: Func,
  { compare: written, trace }: RunFlags,
  targeted: Pick<CompileOptions, "target" | "findTarget" | "passes">,
): Kernel | undefined {
  if (written === undefined) return undefined;
  if (trace?.endsWith(".html") !== true) {
    throw new UsageError("--compare needs a page: --trace FILE.html", "--trace t.html");
  }
  return otherKernel(func, written, targeted);
}

/** Returns the format that the ending of a trace's file names. Throws a UsageError for another ending. */
export function traceFormat(file: string): OutputFormat {
  if (file.endsWith(".html")) return outputFormats.markup;
  if (file.endsWith(".json")) return outputFormats.json;
  throw new UsageError(`--trace ${file} ends in neither .json nor .html`);
}

/**
 * Writes the simulated timeline of a kernel to a file: an HTML page, which can also show the kernel
 * `compared`, or a Chrome trace in JSON.
 */
export async function writeTrace(
  file: string,
  kernel: Kernel,
  compared: Kernel | undefined,
  outputs: Outputs,
): Promise<void> {
  const format = traceFormat(file);
  const timing = walkOf(kernel.tile, kernel.target);
  if (format === outputFormats.markup) {
    const { timelinePage } = await import("../../report/timeline-page.js");
    const other =
      compared === undefined
        ? undefined
        : { kernel: compared, timing: walkOf(compared.tile, compared.target) };
    outputs.write(file, timelinePage(kernel, timing, other), format);
  } else outputs.write(file, JSON.stringify({ schema: jsonSchema, ...chromeTrace(timing) }), format);
  if (timing.dropped > 0)
    note(`the trace holds the first ${timing.events.length} events; ${timing.dropped} more ran`);
}
