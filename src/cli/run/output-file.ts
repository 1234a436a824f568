/** The file of a run's output. */
import { keyOf, outputOf, type Func } from "../../../ir/index.js";
import { UsageError } from "../usage-error.js";
import { fileAssignments } from "./file-assignments.js";
import type { RunFlags } from "./run-flags.js";

/**
 * Returns the file path of `--out name=file`; undefined without the flag. Throws a UsageError if two flags
 * name the output.
 */
export function outputFile({ out }: RunFlags, func: Func): string | undefined {
  const operand = outputOf(func);
  const names = new Set([operand.role, keyOf(operand), operand.name]);
  const [first, second] = [...fileAssignments(out, "out", [...names])];
  if (first !== undefined && second !== undefined)
    throw new UsageError(`--out ${first[0]} and --out ${second[0]} name the same operand`);
  return first?.[1];
}
