/** Two programs as the lines that differ: the text's own, with an entry of the schedule a line. */
import { createTwoFilesPatch } from "diff";
import { printFunc, printSchedule, type Func } from "../../ir/index.js";

/** Returns the schedule of a function as text with one entry, for example `tile = [4, 8]`, on each line. */
export const scheduleLines = (func: Func): string =>
  `${printSchedule(func.schedule).replaceAll(/, (?=[a-z_]+ = )/g, "\n")}\n`;

/** Returns the program text of a function without the schedule. */
export const withoutSchedule = (func: Func): string => printFunc({ ...func, schedule: {} });

/** Returns a program with its schedule above it: one long line of a text would differ as a whole. */
const linesOf = (func: Func | undefined): string =>
  func === undefined ? "" : `${scheduleLines(func).replaceAll(/^(?=.)/gm, "// ")}${withoutSchedule(func)}`;

/**
 * Returns the unified diff of two programs, `before` and `after`; an empty string for equal texts. An
 * undefined program is an empty text. `nameA`, `nameB`: names in the diff's header.
 */
export function comparedText(
  nameA: string,
  nameB: string,
  before: Func | undefined,
  after: Func | undefined,
): string {
  const [a, b] = [linesOf(before), linesOf(after)];
  if (a === b) return "";
  const patch = createTwoFilesPatch(nameA, nameB, a, b, "", "", { context: 3 });
  return patch.split("\n").slice(1).join("\n").trimEnd();
}
