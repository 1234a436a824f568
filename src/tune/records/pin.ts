/**
 * The best of a task as a `.tir` test: the program with its schedule, and CHECK lines for what is exact.
 * Never milliseconds.
 */
import { checkApiArgument } from "../../api/argument-kinds.js";
import {
  CompileError,
  error,
  parseModule,
  printFunc,
  printSchedule,
  withCommas,
  type Func,
  type Operators,
} from "../../../ir/index.js";
import type { BestRecord } from "./best.js";

/**
 * Returns a text test (a file with RUN and CHECK lines) of a program with the best schedule of a search. The
 * test checks schedule, estimated cycles and bytes. Throws a CompileError (TC016) if the program does not
 * parse, or if the search used passes of the user.
 */
export function pinnedTest(record: BestRecord, operators?: Operators): string {
  checkApiArgument("pinnedTest", "best record", record);
  const { task, best } = record;
  if (task.pipeline !== undefined) {
    throw new CompileError([
      error("TC016", `@${task.name} was searched with the pipeline ${task.pipeline.passes}`, {
        hint: 'write its test by hand: // RUN: tilec explain --load FILE --pipeline "LIST" %s',
      }),
    ]);
  }
  const program = programInRecord(task.program, operators);
  const text = printFunc({ ...program, schedule: best.schedule });
  return [
    "// RUN: tilec explain %s",
    `// The best schedule that a search by ${task.objective} found.`,
    // Another clock's cycles are no regression: its version is checked first.
    `// CHECK-DAG: (cost model ${best.clock})`,
    `// CHECK-DAG: estimated    ${withCommas(best.cycles)} cycles`,
    `// CHECK: schedule  ${printSchedule(best.schedule)}`,
    `// CHECK: total ${withCommas(best.bytes)} B,`,
    text.trimEnd(),
    "",
  ].join("\n");
}

/**
 * Parses the program text of a task record and returns the program. `operators` has the operators that the
 * program may use. Throws a CompileError (TC016) if the text does not parse.
 */
export function programInRecord(text: string, operators?: Operators): Func {
  const { module, diagnostics } = parseModule(text, "records", operators);
  const [func] = module.funcs;
  if (func === undefined) {
    throw new CompileError([...diagnostics, error("TC016", "the task's program does not parse")]);
  }
  return func;
}
