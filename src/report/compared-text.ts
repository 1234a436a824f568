/** Two programs as the lines that differ: the text's own, with an entry of the schedule a line. */
import { createTwoFilesPatch } from "diff";
import { printFunc, printSchedule, type Func } from "../../ir/index.js";

/**
 * Returns the schedule of a function with one entry on each line. Commas inside brackets do not split lines,
 * because digits follow them.
 */
export const scheduleLines = (func: Func): string =>
  `${printSchedule(func.schedule).replaceAll(/, (?=[a-z_]+ = )/g, "\n")}\n`;

/** Returns the text of a function without its schedule. */
export const withoutSchedule = (func: Func): string => printFunc({ ...func, schedule: {} });

/** Returns a program with its schedule above it: one long line of a text would differ as a whole. */
const linesOf = (func: Func | undefined): string =>
  func === undefined ? "" : `${scheduleLines(func).replaceAll(/^(?=.)/gm, "// ")}${withoutSchedule(func)}`;

/**
 * Returns the unified diff of two programs; an empty string if they are the same. An undefined program counts
 * as an empty text.
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
