/** Table of the figures that a schedule's time depends on. */
import type { Sensitivity } from "../explain/sensitivity.js";
import { inPercent, type Shape } from "../../ir/index.js";
import type { OtherChoice } from "../explain/choice-at-ends.js";
import { scheduleFlags } from "./schedule-flags.js";
import { table } from "./table.js";

/**
 * Returns the sensitivities of a program's cycles to target parameters as text, in percent of cycles per 1 %
 * of a parameter. Sensitivities below 0.005 % are omitted. `choices`: schedules that are better if a
 * parameter is at an end of its range. `extents`: elements that the schedule splits into tiles, along each
 * dim.
 */
export function renderSensitivity(
  list: readonly Sensitivity[],
  choices: readonly OtherChoice[],
  extents: Shape,
): string {
  const felt = list.filter((one) => Math.abs(one.percent) >= 0.005);
  const [first] = felt;
  if (first === undefined) return "no figure of the target changes the cycles";
  const assumed = felt.reduce((sum, one) => sum + (one.kind === "assumption" ? Math.abs(one.percent) : 0), 0);
  const rest = first.kind === "assumption" ? "an assumption" : first.kind;
  return [
    "percent of the cycles for one percent more of a figure",
    table(
      ["  figure", "percent", "known by"],
      felt.map(({ figure, percent: change, kind }) => [
        `  ${figure}`,
        `${change > 0 ? "+" : ""}${change.toFixed(2)}`,
        kind,
      ]),
    ),
    `  ${inPercent(Math.abs(first.percent))} rests on ${first.figure}, ${rest}; ${inPercent(assumed)} on assumptions`,
    ...choiceLines(choices, extents),
  ].join("\n");
}

/**
 * Returns lines that name the target parameters on which the choice of the schedule depends, with flags and
 * cycles of better schedules. If `choices` is empty, one line says that no schedule is 1 % better.
 */
function choiceLines(choices: readonly OtherChoice[], extents: Shape): readonly string[] {
  if (choices.length === 0) return ["no end of a figure's range makes another schedule 1 % better"];
  const figures = new Set(choices.map(({ figure, kind }) => `${figure} (${kind})`));
  return [
    ...choices.flatMap(({ figure, at, range: [low, high], schedule, cycles, own }) => [
      `where ${figure} is ${at}, of ${low} to ${high}:`,
      `  ${cycles.toLocaleString("en")} cycles in place of ${own.toLocaleString("en")} by another schedule`,
      `  ${scheduleFlags(schedule, extents)}`,
    ]),
    "the choice rests on",
    ...[...figures].map((figure) => `  ${figure}`),
  ];
}
