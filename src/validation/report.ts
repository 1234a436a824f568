/** Verdicts as tables on a terminal. */
import { counted } from "../../ir/index.js";
import { table } from "../report/table.js";
import type { Fit } from "./fit.js";
import type { MachineSummary, RowVerdict } from "./validate.js";

/** Formats a number: rounded to an integer from 1,000 on, to four significant digits below. */
export const shown = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));

/** Returns a table of each row's measured and predicted value as terminal text. */
export const verdictLines = (rows: readonly RowVerdict[]): string =>
  table(
    ["row", "quantity", "measured", "predicted", "ratio", "limit", "role"],
    rows.map(({ id, quantity, measured, predicted, ratio, limit, role }) => [
      id,
      quantity,
      shown(measured),
      shown(predicted),
      ratio.toFixed(2),
      limit,
      role,
    ]),
  );

/**
 * Returns the mean factor between predicted and measured values of each machine as terminal text. A note says
 * that the boards are other people's and nothing was run here.
 */
export const summaryLines = (summary: readonly MachineSummary[]): string =>
  [
    "",
    ...summary.map(({ machine, rows, mean, worst, outside }) => {
      const farthest = worst === undefined ? "" : `; farthest ${worst.id}, ${worst.ratio.toFixed(2)}`;
      return `${machine}: ${counted(rows, "row")} inside the model, mean factor ${mean.toFixed(3)}${farthest}; ${outside} outside`;
    }),
    "Other people's boards: nothing was run here.",
  ].join("\n");

/**
 * Returns the figures of a fit with their ranges as terminal text. A last line has the mean factors between
 * predicted and measured values on rows left out of the fit.
 */
export function fittedLines({ machine, figures, splits }: Fit): string {
  if (figures.length === 0) return `\nno row fixes a figure of ${machine}`;
  return [
    "",
    table(
      [`figure of ${machine}`, "value", "range", "rows"],
      figures.map(({ figure, value, range: [low, high], rows }) => [
        figure,
        String(value),
        `${low} to ${high}`,
        rows.join(", "),
      ]),
    ),
    `${splits.draws} random thirds left out: median factor ${splits.median.toFixed(3)}, eight of ten ${splits.low.toFixed(3)} to ${splits.high.toFixed(3)}`,
  ].join("\n");
}
