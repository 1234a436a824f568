/** Charts of a search result: cost by tile shape, and bytes against time. */
import type * as Plot from "@observablehq/plot";
import { isScatter } from "../../ir/access.js";
import {
  at,
  counted,
  dataResidency,
  formatEntry,
  formatRatio,
  formatShape,
  printSchedule,
} from "../../ir/index.js";
import type { Candidate, Objective, PrunedCandidate, RefusedTiles, TuneResult } from "../tune/result.js";
import { chartOf, plain, short, ticksOf } from "./chart.js";
import { tileCells, type TileCell, type TileCells } from "./tune-cells.js";
import { drawing } from "./drawing.js";

/** Width of charts in CSS pixels, before scaling to the page. */
export const chartWidth = 640;
const font = { fontSize: "12px" };
const unitOf: Readonly<Record<Objective, string>> = { cycles: "cycles", bytes: "bytes", ms: "ms" };
/** Fractions of a millisecond are no "20m". */
const tickFormatOf = (objective: Objective): string => (objective === "ms" ? plain : short);
const scheme = "viridis";
/** Limits of a cell's cost over the best one's, above which it has the next colour. */
const limits = [1, 1.1, 1.5, 2, 4] as const;
/** Labels of the legend for the colours between the limits. */
const classNames = ["best", "to 1.1x", "to 1.5x", "to 2x", "to 4x", "more"] as const;
/** Least width of a cell with room for its ratio, and largest width of the map, in CSS pixels. */
const [leastCell, widestMap] = [27, 1180] as const;
/** Margins at the sides of the map and its legend, in CSS pixels, and their sum. */
const margins = { marginLeft: 60, marginRight: 24 } as const;
const sides = margins.marginLeft + margins.marginRight;
/** Height of the cells of a map together, and least height of a cell that shows its ratio, in CSS pixels. */
const [mapHeight, leastHeight] = [330, 14] as const;
/** Least width of a tick's label with the space around it, in CSS pixels. */
const tickWidth = 44;

/** Returns the HTML id of the table row of a costed schedule, to which heat map cells and chart dots link. */
export const candidateRow = (candidate: Candidate): string => `s-${candidate.id}`;
/**
 * Returns the HTML id of the table row of a rejected tile. `index`: 0-based index of the tile among the
 * rejected tiles.
 */
export const refusedRow = (index: number): string => `refused-${index}`;

/** Star and diamond, in both charts. */
const symbols = { best: "star", default: "diamond" } as const;

interface Marked {
  readonly mark: keyof typeof symbols;
  readonly candidate: Candidate;
}

/** Returns one mark where the default is the best. */
const markedOf = (result: TuneResult): readonly Marked[] => [
  { mark: "best", candidate: result.best },
  ...(result.best.id === result.default.id ? [] : [{ mark: "default" as const, candidate: result.default }]),
];

const number = (value: number): string =>
  value.toLocaleString("en", {
    ...(value < 100 ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: 0 }),
  });

/** Heat map of a search result: chart and legend as SVG markup, and data of the cells. */
export interface HeatMap {
  readonly map: string;
  /** SVG markup of the legend. Absent if all cells have the same cost. */
  readonly legend?: string;
  readonly cells: TileCells;
}

/** Function that returns the URL to which a heat map cell links; null for no link. */
export type CellLink = (cell: TileCell) => string | null;

/** Options of {@link heatMap}. */
export interface HeatMapOptions {
  /** Default: links to the rows of {@link tunePage}. */
  readonly link?: CellLink;
  /** Width of the map in CSS pixels. Default: wide enough for a ratio in each cell, at most 1180. */
  readonly width?: number;
}

/**
 * Returns the heat map of the costs of tile shapes in a search. Undefined if there is no tile to choose, no
 * known cost, or a cost of 0.
 */
export function heatMap(
  result: TuneResult,
  { link = (cell) => rowLink(cell, result), width: given }: HeatMapOptions = {},
): HeatMap | undefined {
  const { Plot } = drawing();
  const drawn = tileCells(result);
  if (drawn === undefined) return undefined;
  const { cells, xs, ys, residencies } = drawn;
  const costs = cells.flatMap((cell) => ("cost" in cell ? [cell.cost] : []));
  if (costs.length === 0 || costs.some((cost) => cost <= 0)) return undefined;
  const least = Math.min(...costs);
  const width = given ?? Math.min(widestMap, Math.max(chartWidth, sides + leastCell * xs.length));
  const across = (width - sides) / xs.length;
  const high = Math.min(30, Math.max(leastHeight, mapHeight / (ys.length * residencies.length)));
  const marked = markedCells(drawn, result);
  const map = chartOf({
    ariaLabel: `${unitOf[result.objective]} of the best schedule by tile shape`,
    hatch: "illegal",
    width,
    height: 66 + residencies.length * (ys.length * high + 30),
    marginTop: 24,
    ...margins,
    marginBottom: 42,
    style: { ...font },
    x: {
      domain: xs,
      ticks: ticksOf(xs, Math.min(14, Math.floor(width / tickWidth))),
      label: dimLabel(drawn.x, result),
      padding: 0.06,
    },
    y: {
      domain: ys,
      ticks: drawn.y === undefined ? [] : ticksOf(ys, 12),
      label: drawn.y === undefined ? null : dimLabel(drawn.y, result),
      padding: 0.06,
    },
    fy: { domain: residencies, axis: null, padding: Math.min(0.5, 26 / (ys.length * high + 30)) },
    color: classScale,
    marks: [
      Plot.text(residencies, {
        fy: (name: string) => name,
        text: (name: string) => `residency ${name}`,
        frameAnchor: "top-left",
        textAnchor: "start",
        lineAnchor: "bottom",
        dy: -5,
        fontWeight: 600,
      }),
      ...cellMarks(cells, least, Math.min(high, across) / 8, { objective: result.objective, link }),
      ratioMark(
        cells.filter((cell) => !marked.some((one) => isAt(one, cell))),
        least,
        across,
      ),
      markDots(marked, cellPlace),
    ],
  });
  const max = Math.max(...costs);
  return {
    map,
    cells: drawn,
    ...(least === max ? {} : { legend: legendOf(least, result.objective, Math.min(width, chartWidth)) }),
  };
}

/** Position of a cell, as channels of a mark. */
const cellPlace = { x: "x", y: "y", fy: "residency" } as const;

/** Returns the position of the best and of the default schedule in a heat map, each with its mark. */
const markedCells = (drawn: TileCells, result: TuneResult) =>
  markedOf(result).map(({ mark, candidate: { schedule } }) => ({
    mark,
    x: schedule.tile[drawn.x],
    y: drawn.y === undefined ? 0 : schedule.tile[drawn.y],
    residency: formatEntry(schedule.residency),
  }));

/**
 * Returns the Observable Plot marks that draw the cells of a heat map. `least`: lowest cost of a cell.
 * `inset`: distance, in CSS pixels, from the border of the cell to the colour of an estimate.
 */
function cellMarks(
  cells: readonly TileCell[],
  least: number,
  inset: number,
  { objective, link }: { readonly objective: Objective; readonly link: CellLink },
): Plot.Markish[] {
  const { Plot } = drawing();
  const ofKind = (kind: TileCell["kind"]): TileCell[] => cells.filter((cell) => cell.kind === kind);
  const title = (cell: TileCell): string =>
    `${"cost" in cell ? `${formatRatio(cell.cost / least)} the best\n` : ""}${tipOf(cell, objective)}`;
  const fill = (cell: TileCell): number => colourOf(cell, least);
  const common = { ...cellPlace, title, href: link };
  return [
    Plot.cell(ofKind("refused"), { ...common, fill: "url(#illegal)", stroke: "var(--line)" }),
    Plot.cell(ofKind("unknown"), { ...common, fill: "none", stroke: "var(--soft)" }),
    Plot.cell(ofKind("estimate"), { ...common, fill, inset }),
    Plot.cell(ofKind("exact"), { ...common, fill }),
  ];
}

/**
 * Returns the Observable Plot mark that writes the ratio of each cell's cost to the lowest cost, `least`.
 * Cells are `across` CSS pixels wide; a cell without room for its ratio has none.
 */
function ratioMark(cells: readonly TileCell[], least: number, across: number): Plot.Markish {
  const { Plot } = drawing();
  const ratios = cells.flatMap((cell) =>
    "cost" in cell ? [{ ...cell, ratio: formatShortRatio(cell.cost / least) }] : [],
  );
  return Plot.text(
    ratios.filter(({ ratio }) => ratioWidth(ratio) <= across),
    {
      ...cellPlace,
      text: "ratio",
      fontSize: 10,
      pointerEvents: "none",
      // Dark letters on the bright colours of a low ratio.
      fill: (cell: TileCell) => (colourOf(cell, least) < 3 ? "#000" : "#fff"),
    },
  );
}

/** Returns the number of a cell's colour, from 0 for the best; 0 for a cell without a cost. */
const colourOf = (cell: TileCell, least: number): number => ("cost" in cell ? classOf(cell.cost / least) : 0);

const isAt = (
  one: { readonly x?: number | undefined; readonly y?: number | undefined; readonly residency: string },
  cell: TileCell,
): boolean => one.x === cell.x && one.y === cell.y && one.residency === cell.residency;

/** Returns a figure that a cell has room for. */
const formatShortRatio = (ratio: number): string =>
  ratio < 9.95
    ? ratio.toFixed(1)
    : ratio < 999.5
      ? String(Math.round(ratio))
      : ratio < 99_950
        ? `${Math.round(ratio / 1000)}k`
        : ">99k";

/** Returns the width of a ratio in a cell with the space around it, in CSS pixels. */
const ratioWidth = (text: string): number =>
  4 + Array.from(text).reduce((sum, character) => sum + (character === "." ? 3.2 : 6.4), 0);

const classOf = (ratio: number): number => {
  const level = limits.findIndex((limit) => ratio <= limit);
  return level === -1 ? limits.length : level;
};

/** The best is the brightest. */
const classScale: Plot.ScaleOptions = {
  type: "linear",
  scheme,
  reverse: true,
  domain: [0, classNames.length - 1],
};

/**
 * Returns the legend of the heat map's colours as SVG markup, `width` CSS pixels wide. The limit of each
 * colour is printed as a ratio to the best cost, `least`, and as a cost in the unit of the objective.
 */
function legendOf(least: number, objective: Objective, width: number): string {
  const { Plot } = drawing();
  const classes = classNames.map((name, k) => {
    const limit = limits[k];
    const unit = width < chartWidth ? "" : ` ${unitOf[objective]}`;
    return { name, k, upTo: limit === undefined ? "" : `${number(limit * least)}${unit}` };
  });
  return chartOf({
    ariaLabel: `colours, by ratio to the best of ${number(least)} ${unitOf[objective]}`,
    width,
    height: 54,
    ...margins,
    marginTop: 2,
    marginBottom: 36,
    style: { ...font },
    x: { domain: classNames, label: null, padding: 0.04, axis: null },
    color: classScale,
    marks: [
      Plot.cell(classes, { x: "name", fill: "k" }),
      Plot.text(classes, { x: "name", text: "name", frameAnchor: "bottom", dy: 14 }),
      Plot.text(classes, {
        x: "name",
        text: "upTo",
        frameAnchor: "bottom",
        dy: 29,
        fontSize: 11,
        fill: "var(--soft)",
      }),
    ],
  });
}

const dimLabel = (d: number, { gather }: TuneResult): string => {
  const [of, unit] = isScatter(gather.map) ? ["domain", "points"] : ["output", "elements"];
  return `tile entries along ${of} dim ${d}, of ${at(gather.map.domain, d)} ${unit}`;
};

/**
 * Returns the Observable Plot mark that draws the best schedule as a star and the default schedule as a
 * diamond. `data`: entries to draw. `place`: channels for the position.
 */
function markDots(data: readonly object[], place: Plot.DotOptions): Plot.Markish {
  const { Plot } = drawing();
  return Plot.dot(data, {
    ...place,
    symbol: (entry: { mark: Marked["mark"] }) => symbols[entry.mark],
    r: 7,
    fill: "#fff",
    stroke: "#000",
    strokeWidth: 1.5,
    title: "mark",
  });
}

/**
 * Returns a description of a schedule as text of several lines: entries, costs, and the error of a failed
 * measurement.
 */
export function describeSchedule(schedule: Candidate | PrunedCandidate): string {
  const { bytes, ubBytes, tasks } = schedule;
  const time =
    schedule.status === "pruned"
      ? `estimated at ${number(schedule.estimate)} cycles; pruned: ${schedule.reason}`
      : `${number(schedule.cycles)} cycles, ${formatRatio(schedule.floor.ratio)} the lower bound`;
  const measured = schedule.status === "measured" ? `, ${number(schedule.ms)} ms` : "";
  const failed = "code" in schedule ? `\n${schedule.status}, ${schedule.code}: ${schedule.reason}` : "";
  return `${printSchedule(schedule.schedule)}\n${time}${measured}\n${number(bytes)} B moved, ${number(ubBytes)} B of unified buffer, ${counted(tasks, "task")}${failed}`;
}

function describeRefused({ x, y }: TileCell, refused: RefusedTiles): string {
  const place = y === 0 ? String(x) : `${y}, ${x}`;
  const { code, ubBytes, budget, tile, reason } = refused;
  return `${code}: tile ${formatShape(tile)} needs ${number(ubBytes)} B of ${number(budget)} B; tiles with entries ${place} need no less\n${reason}`;
}

const tipOf = (cell: TileCell, objective: Objective): string => {
  switch (cell.kind) {
    case "refused":
      return describeRefused(cell, cell.refused);
    case "unknown":
      return `no ${unitOf[objective]}\n${describeSchedule(cell.schedule)}`;
    case "exact":
    case "estimate":
      return describeSchedule(cell.schedule);
  }
};

/**
 * Returns the link from a cell to its row in the table. Returns null for a pruned schedule, which has no row
 * because there may be thousands.
 */
function rowLink(cell: TileCell, { refused }: TuneResult): string | null {
  if (cell.kind === "refused") return `#${refusedRow(refused.indexOf(cell.refused))}`;
  return cell.schedule.status === "pruned" ? null : `#${candidateRow(cell.schedule)}`;
}

/**
 * Returns the unit of a schedule's time: milliseconds (measured) for the objective `ms`, cycles for any other
 * objective.
 */
export const timeUnitOf = (objective: Objective): "ms" | "cycles" => (objective === "ms" ? "ms" : "cycles");

/**
 * Schedule with the number of bytes moved and the exact time. The time is in milliseconds for the objective
 * `ms`, else in cycles.
 */
export interface Timed {
  readonly candidate: Candidate | PrunedCandidate;
  readonly bytes: number;
  readonly time: number;
}

/**
 * Returns the costed schedules of a search with times. For the objective `ms`, unmeasured schedules are left
 * out.
 */
export const timedOf = ({ candidates, objective }: TuneResult): readonly Timed[] =>
  candidates.flatMap((candidate) => {
    const { bytes, cycles } = candidate;
    if (objective !== "ms") return [{ candidate, bytes, time: cycles }];
    return candidate.status === "measured" ? [{ candidate, bytes, time: candidate.ms }] : [];
  });

/** Returns the schedules on the Pareto front of bytes and time, in ascending order of bytes. */
export function paretoOf(timed: readonly Timed[]): readonly Timed[] {
  const front: Timed[] = [];
  for (const one of [...timed].sort((a, b) => a.bytes - b.bytes || a.time - b.time)) {
    if (one.time < (front[front.length - 1]?.time ?? Infinity)) front.push(one);
  }
  return front;
}

/** Options of {@link scatter}. */
export interface ScatterOptions {
  /** Schedules with exact times. Default: the schedules that the search costed. */
  readonly timed?: readonly Timed[];
  /** Width of the chart in CSS pixels. Default: 640. */
  readonly width?: number;
}

/** Returns a chart (SVG markup) of bytes moved against time, with the Pareto front as a line. */
export function scatter(
  result: TuneResult,
  { timed = timedOf(result), width = chartWidth }: ScatterOptions = {},
): string {
  const { Plot } = drawing();
  const { objective } = result;
  const unit = timeUnitOf(objective);
  const place = { x: "bytes", y: "time" } as const;
  const shared = { r: 4, stroke: "currentColor", strokeOpacity: 0.75 } as const;
  const title = ({ candidate, time }: Timed): string =>
    candidate.status === "pruned"
      ? `${printSchedule(candidate.schedule)}\n${number(time)} ${unit}, ${number(candidate.bytes)} B moved`
      : describeSchedule(candidate);
  const href = ({ candidate }: Timed): string | null =>
    candidate.status === "pruned" ? null : `#${candidateRow(candidate)}`;
  const front = paretoOf(timed);
  const large = timed.filter((one) => one.candidate.status !== "pruned" || front.includes(one));
  const of = (residency: string) =>
    large.filter(({ candidate }) => dataResidency(result.gather, candidate.schedule) === residency);
  return chartOf({
    ariaLabel: `bytes moved against ${unit}`,
    width,
    height: 340,
    marginLeft: 60,
    marginRight: 30,
    marginBottom: 42,
    marginTop: 28,
    style: { ...font },
    x: {
      ...axisOf(
        timed.map(({ bytes }) => bytes),
        short,
      ),
      label: "bytes between global memory and the cores",
    },
    y: {
      ...axisOf(
        timed.map(({ time }) => time),
        tickFormatOf(objective),
      ),
      label: unit,
    },
    grid: true,
    marks: [
      Plot.dot(
        timed.filter((one) => !large.includes(one)),
        { ...place, r: 1.5, fill: "var(--soft)", fillOpacity: 0.5 },
      ),
      Plot.line(front, { ...place, curve: "step-after", stroke: "var(--link)", strokeWidth: 2 }),
      Plot.dot(of("ub"), { ...place, ...shared, symbol: "circle", title, href }),
      Plot.dot(of("gm"), { ...place, ...shared, symbol: "square", title, href }),
      markDots(
        markedOf(result).flatMap(({ mark, candidate }) =>
          timed
            .filter((one) => one.candidate === candidate)
            .map(({ bytes, time }) => ({ mark, bytes, time })),
        ),
        place,
      ),
    ],
  });
}

/** Returns a log scale where values differ much, else one that does not begin at 0. */
function axisOf(values: readonly number[], tickFormat: string): Plot.ScaleOptions {
  const [least, max] = [Math.min(...values), Math.max(...values)];
  const log = least > 0 && max / least > 4;
  return { type: log ? "log" : "linear", tickFormat, nice: true, ticks: 6 };
}
