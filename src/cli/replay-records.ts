/** Schedules of records in place of a program's own; apart, since a command seldom needs what hashes gathers. */
import { CompileError, type Func } from "../../ir/index.js";
import { accessOf } from "../api/access.js";
import { resolveTargetOf, type CompileOptions } from "../api/compile.js";
import { readRecords } from "../formats/record-file.js";
import { gatherHash } from "../tune/records/record.js";
import { ofAnotherTask, replayed } from "../tune/records/replay.js";
import { note, printDiagnostics } from "./terminal.js";

/** The program with the schedule that records hold for it; with a warning its own where they hold none. Throws a CompileError in its place when `strict`. */
export function replay(
  func: Func,
  file: string,
  { strict }: { readonly strict?: boolean },
  options: CompileOptions,
): Func {
  const gather = accessOf(func, options);
  const passes = options.passes === undefined ? {} : { passes: options.passes };
  const { records } = readRecords(file);
  const found =
    gather === undefined
      ? undefined
      : replayed(records, gatherHash({ gather, target: resolveTargetOf(func, options), ...passes }));
  if (found !== undefined) {
    note(`@${func.name}: the schedule of ${file}, found by ${found.task.objective}`);
    return { ...func, schedule: found.best.given ?? found.best.schedule };
  }
  const other = ofAnotherTask(file, func.name);
  if (strict === true) throw new CompileError([other]);
  printDiagnostics([{ ...other, severity: "warning" }]);
  return func;
}
