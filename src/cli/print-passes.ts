/** The IR before and after passes, as `--print-before`, `--print-after` and `--time-passes` ask for it. */
import { printFunc, type Func } from "../../ir/index.js";
import type { Pass } from "../../passes/index.js";
import { UsageError } from "./usage-error.js";
import { note } from "./terminal.js";

interface PrintFlags {
  readonly printBefore?: string;
  readonly printAfter?: string;
  readonly timePasses?: boolean;
}

/**
 * Returns callbacks to run before and after each pass of a pipeline. The callbacks write the IR that the
 * flags request, and print the times of `--time-passes` in milliseconds. Throws a UsageError for an unknown
 * pass name.
 */
export function passPrinter(flags: PrintFlags, passes: readonly Pass[], write: (text: string) => void) {
  const { printBefore, printAfter, timePasses } = flags;
  const names = passes.map((pass) => pass.name);
  const check = (flag: string, when: string | undefined, words: readonly string[]): void => {
    if (when !== undefined && ![...words, ...names].includes(when))
      throw new UsageError(`--${flag} ${when}: no pass of that name runs`, [...words, ...names].join(", "));
  };
  check("print-before", printBefore, ["all"]);
  check("print-after", printAfter, ["all", "changed"]);
  return {
    beforePass(pass: Pass, before: Func): void {
      if (printBefore === "all" || printBefore === pass.name)
        write(`// before ${pass.name}\n${printFunc(before)}`);
    },
    afterPass(pass: Pass, before: Func, after: Func, milliseconds: number): void {
      const text = printFunc(after);
      const changed = printFunc(before) !== text;
      if (printAfter === "all" || printAfter === pass.name || (printAfter === "changed" && changed))
        write(`// after ${pass.name}${changed ? "" : " (unchanged)"}\n${text}`);
      if (timePasses === true) note(`${pass.name.padEnd(20)} ${milliseconds.toFixed(3)} ms`);
    },
  };
}
