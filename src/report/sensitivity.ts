/** What a schedule's time rests on, as a table. */
import type { Sensitivity } from "../explain/sensitivity.js";
import { table } from "./table.js";

const percent = (value: number): string => `${Math.round(value)} %`;

/** Figures without an effect are left out. */
export function renderSensitivity(list: readonly Sensitivity[]): string {
  const felt = list.filter((one) => Math.abs(one.percent) >= 0.005);
  const [first] = felt;
  if (first === undefined) return "no figure of the target changes the cycles";
  const assumed = felt.reduce((sum, one) => sum + (one.kind === "assumption" ? Math.abs(one.percent) : 0), 0);
  const rest = first.kind === "assumption" ? "an assumption" : first.kind;
  return [
    "percent of the cycles for one percent more of a figure",
    table(
      ["  figure", "percent", "known by"],
      felt.map(({ figure, percent: own, kind }) => [
        `  ${figure}`,
        `${own > 0 ? "+" : ""}${own.toFixed(2)}`,
        kind,
      ]),
    ),
    `  ${percent(100 * Math.abs(first.percent))} rests on ${first.figure}, ${rest}; ${percent(100 * assumed)} on assumptions`,
  ].join("\n");
}
