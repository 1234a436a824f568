/** Verdicts as tables on a terminal. */
import { counted } from "../../ir/index.js";
import { table } from "../report/table.js";
import type { Fit } from "./fit.js";
import type { MachineSummary, RowVerdict } from "./validate.js";

/**
 * Formats a number: 1,000 and above as a rounded integer with thousands separators, a smaller number with
 * four significant digits.
 */
export const shown = (value: number): string =>
  value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));

/**
 * Returns a terminal table with one line for each measurement: quantity, measured value, predicted value,
 * ratio, limiting resource, and role of the measurement.
 */
export const verdictLines = (rows: readonly RowVerdict[]): string =>
  table(
    ["row", "quantity", "measured", "predicted", "ratio", "limit", "role"],
    rows.map((row) => [row.id, ...verdictCells(row)]),
  );

/**
 * Returns the last cells of a measurement's line in a table: quantity, measured value, predicted value,
 * ratio, limiting resource, and role of the measurement.
 */
export const verdictCells = ({
  quantity,
  measured,
  predicted,
  ratio,
  limit,
  role,
}: RowVerdict): readonly string[] => [
  quantity,
  shown(measured),
  shown(predicted),
  ratio.toFixed(2),
  limit,
  role,
];

/**
 * Formats a summary of the validation as terminal text. Each machine has a line with the numbers of
 * measurements inside and outside the cost model and the mean factor between predicted and measured values.
 * The last line says that other people made the measurements.
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
 * Returns a terminal table of the hardware parameters that a fit determines: value, range, and ids of the
 * measurements. A last line has the prediction error. Returns only a message if no parameter was fitted.
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
