/** The best schedule and the default over a figure of the target: as a table, and as a chart. */
import { printSchedule } from "../../ir/index.js";
import type { Sweep, SweepPoint } from "../tune/sweep.js";
import { chartOf, short } from "./chart.js";
import { escapeMarkup, figureOf, htmlTable, imageOf, pageOf } from "./page.js";
import { drawing } from "./drawing.js";

/** True if values belong on a logarithmic axis: the largest is more than 4 times the smallest. */
const wide = (values: readonly number[]): boolean => Math.max(...values) / Math.min(...values) > 4;

const legalOf = (points: readonly SweepPoint[]) =>
  points.flatMap(({ value, best, default: standard }) => [
    ...(best === null ? [] : [{ value, cycles: best.cycles, of: "best" }]),
    ...(standard === null ? [] : [{ value, cycles: standard.cycles, of: "default" }]),
  ]);

/**
 * Returns a chart (SVG markup) of the cycles of the best and the default schedule against the swept target
 * parameter. Undefined if no schedule is legal.
 */
function sweepChart({ figure, points }: Sweep): string | undefined {
  const { Plot } = drawing();
  const drawn = legalOf(points);
  if (drawn.length === 0) return undefined;
  const cycles = drawn.map((one) => one.cycles);
  const values = points.map(({ value }) => value);
  const place = { x: "value", y: "cycles" } as const;
  const best = drawn.filter(({ of }) => of === "best");
  const defaults = drawn.filter(({ of }) => of === "default");
  return chartOf({
    ariaLabel: `cycles of the best schedule and of the default against ${figure}`,
    width: 640,
    height: 340,
    marginLeft: 60,
    marginRight: 60,
    marginBottom: 42,
    style: { fontSize: "12px" },
    x: { type: wide(values) ? "log" : "linear", label: figure, tickFormat: short, ticks: 6 },
    y: { type: wide(cycles) ? "log" : "linear", label: "cycles", tickFormat: short, nice: true, grid: true },
    marks: [
      Plot.line(defaults, { ...place, stroke: "currentColor", strokeDasharray: "5 4" }),
      Plot.dot(defaults, { ...place, stroke: "currentColor", symbol: "diamond", title: "cycles" }),
      Plot.line(best, { ...place, stroke: "var(--link)", strokeWidth: 2 }),
      Plot.dot(best, { ...place, fill: "var(--link)", title: "cycles" }),
    ],
  });
}

/**
 * Returns the chart of a sweep as a complete SVG image in the viewer's light or dark theme; undefined if no
 * schedule is legal.
 */
export function sweepSvg(sweep: Sweep): string | undefined {
  const chart = sweepChart(sweep);
  if (chart === undefined) return undefined;
  const title = `@${sweep.name} on ${sweep.target}: the best schedule (line) and the default (dashed) over ${sweep.figure}`;
  return imageOf(
    672,
    400,
    `<text x="16" y="28" font-weight="600">${escapeMarkup(title)}</text>
${chart.replace("<svg ", '<svg x="16" y="44" ')}`,
  );
}

/**
 * Returns the result of a sweep as a self-contained HTML page with a chart and a table, without scripts or
 * external resources.
 */
export function sweepPage(sweep: Sweep): string {
  const { name, target, figure, points } = sweep;
  const chart = sweepChart(sweep);
  return pageOf({
    title: `@${name} on ${target}: cycles over ${figure}`,
    body: `${
      chart === undefined
        ? "<p>Nothing is legal at any value.</p>"
        : figureOf(
            chart,
            "The line: the best schedule that was found. Dashed: what the compiler chooses without a search.",
          )
    }
${htmlTable(
  `cycles over ${figure}`,
  [figure, "best, cycles", "default, cycles", "best schedule"],
  points.map(({ value, best, default: standard, reason = "" }) => ({
    cells: [
      value,
      best?.cycles ?? "",
      standard?.cycles ?? "",
      best === null ? reason : printSchedule(best.schedule),
    ],
  })),
)}`,
  });
}
