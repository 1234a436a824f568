/** Two programs as the lines that differ: the text's own, with an entry of the schedule a line. */
import { createTwoFilesPatch } from "diff";
import { printFunc, printSchedule, type Func } from "../../ir/index.js";

/** An entry a line. Commas inside brackets are followed by digits. */
export const scheduleLines = (func: Func): string =>
  `${printSchedule(func.schedule).replaceAll(/, (?=[a-z_]+ = )/g, "\n")}\n`;

export const withoutSchedule = (func: Func): string => printFunc({ ...func, schedule: {} });

/** A program with its schedule above it: one long line of a text would differ as a whole. */
const linesOf = (func: Func | undefined): string =>
  func === undefined ? "" : `${scheduleLines(func).replaceAll(/^(?=.)/gm, "// ")}${withoutSchedule(func)}`;

/** The unified difference of two programs, empty where they are the same; a side without a program is an empty text. */
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
