/** What a search found as charts: cost by tile shape, and bytes against time. */
import * as Plot from "@observablehq/plot";
import {
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

/** Of charts before they are scaled to the page, in CSS pixels. */
export const chartWidth = 640;
const font = { fontSize: "12px" };
const unitOf: Readonly<Record<Objective, string>> = { cycles: "cycles", bytes: "bytes", ms: "ms" };
/** Fractions of a millisecond are no "20m". */
const tickFormatOf = (objective: Objective): string => (objective === "ms" ? plain : short);
/** Steps of the legend's ramp. */
const steps = 64;
const scheme = "viridis";

/** Ids of the rows that cells and dots lead to. */
export const rowOf = (candidate: Candidate): string => `s-${candidate.id}`;
export const refusedRow = (index: number): string => `refused-${index}`;

/** Star and diamond, in both charts. */
const symbols = { best: "star", default: "diamond" } as const;

interface Marked {
  readonly mark: keyof typeof symbols;
  readonly candidate: Candidate;
}

/** One mark where the default is the best. */
const markedOf = (result: TuneResult): readonly Marked[] => [
  { mark: "best", candidate: result.best },
  ...(result.best.id === result.default.id ? [] : [{ mark: "default" as const, candidate: result.default }]),
];

const number = (value: number): string =>
  value.toLocaleString("en", {
    ...(value < 100 ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: 0 }),
  });

export interface HeatMap {
  readonly map: string;
  /** Absent where all cells cost the same. */
  readonly legend?: string;
  readonly cells: TileCells;
}

/** Where a cell leads to; null: nowhere. */
export type CellLink = (cell: TileCell) => string | null;

/**
 * Undefined where there is no tile to choose, or nothing to compare: an output without elements costs nothing. Cells lead to
 * the rows of `tunePage`, or where `link` says.
 */
export function heatMap(
  result: TuneResult,
  link: CellLink = (cell) => rowLink(cell, result),
): HeatMap | undefined {
  const found = tileCells(result);
  if (found === undefined) return undefined;
  const { cells, xs, ys, residencies } = found;
  const costs = cells.flatMap((cell) => ("cost" in cell ? [cell.cost] : []));
  if (costs.length === 0 || costs.some((cost) => cost <= 0)) return undefined;
  const domain = [Math.min(...costs), Math.max(...costs)] as const;
  const legal = (kind: TileCell["kind"]) =>
    cells.flatMap((cell) => (cell.kind === kind && "schedule" in cell ? [cell] : []));
  const refused = cells.flatMap((cell) => (cell.kind === "refused" ? [cell] : []));
  const place = { x: "x", y: "y", fy: "residency" } as const;
  const title = (cell: TileCell): string => tipOf(cell, result.objective);
  const high = Math.min(30, Math.max(12, 400 / (ys.length * residencies.length)));
  const map = chartOf({
    ariaLabel: `${unitOf[result.objective]} of the best schedule by tile shape`,
    hatch: "illegal",
    width: chartWidth,
    height: 60 + residencies.length * (ys.length * high + 8),
    marginLeft: 60,
    marginRight: 40,
    marginBottom: 42,
    style: { ...font },
    x: { domain: xs, ticks: ticksOf(xs, 14), label: dimLabel(found.x, result), padding: 0.06 },
    y: {
      domain: ys,
      ticks: found.y === undefined ? [] : ticksOf(ys, 12),
      label: found.y === undefined ? null : dimLabel(found.y, result),
      padding: 0.06,
    },
    fy: { domain: residencies, label: "residency", padding: 0.08 },
    color: costScale(domain),
    marks: [
      Plot.cell(refused, { ...place, fill: "url(#illegal)", stroke: "var(--line)", title, href: link }),
      Plot.cell(legal("unknown"), { ...place, fill: "none", stroke: "var(--soft)", title, href: link }),
      Plot.cell(legal("estimate"), {
        ...place,
        fill: "cost",
        inset: Math.min(high, (chartWidth - 100) / xs.length) / 5,
        title,
        href: link,
      }),
      Plot.cell(legal("exact"), { ...place, fill: "cost", title, href: link }),
      markDots(
        markedOf(result).map(({ mark, candidate: { schedule } }) => ({
          mark,
          x: schedule.tile[found.x],
          y: found.y === undefined ? 0 : schedule.tile[found.y],
          residency: formatEntry(schedule.residency),
        })),
        place,
      ),
    ],
  });
  const [least, most] = domain;
  return { map, cells: found, ...(least === most ? {} : { legend: legendOf(domain, result.objective) }) };
}

type Range = readonly [number, number];

/** Colours and their ramp: logarithmic, unless the costs are close to one another. */
const isLog = ([least, most]: Range): boolean => most / least >= 2;

/** The least is the brightest. */
const costScale = (domain: Range): Plot.ScaleOptions =>
  domain[0] === domain[1]
    ? { type: "linear", scheme, domain: [domain[0] - 1, domain[0]] }
    : { type: isLog(domain) ? "log" : "linear", scheme, reverse: true, domain: [...domain] };

/** The ramp of the colours with its axis. */
function legendOf(domain: Range, objective: Objective): string {
  const [least, most] = domain;
  const log = isLog(domain);
  const edge = (k: number): number =>
    log ? least * (most / least) ** (k / steps) : least + ((most - least) * k) / steps;
  const ramp = Array.from({ length: steps }, (_, k) => ({
    from: edge(k),
    to: edge(k + 1),
    cost: edge(k + 0.5),
  }));
  return chartOf({
    ariaLabel: `colours, from ${number(least)} to ${number(most)} ${unitOf[objective]}`,
    width: chartWidth,
    height: 58,
    marginLeft: 60,
    marginRight: 40,
    marginTop: 4,
    marginBottom: 36,
    style: { ...font },
    x: {
      type: log ? "log" : "linear",
      domain: [...domain],
      label: `${unitOf[objective]}${log ? ", log scale" : ""}; the brighter, the fewer`,
      tickFormat: tickFormatOf(objective),
      ticks: most / least < 10 ? 4 : 6,
    },
    color: costScale(domain),
    marks: [Plot.rect(ramp, { x1: "from", x2: "to", y1: 0, y2: 1, fill: "cost" })],
    y: { axis: null },
  });
}

const dimLabel = (d: number, { gather }: TuneResult): string => {
  const extent = gather.operands.find(({ role }) => role === "output")?.type.shape[d] ?? 1;
  return `tile entries along output dim ${d}, of ${extent} elements`;
};

function markDots(data: readonly object[], place: Plot.DotOptions): Plot.Markish {
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

/** What a schedule is and costs, in lines. */
export function describeSchedule(schedule: Candidate | PrunedCandidate): string {
  const { bytes, ubBytes, tasks } = schedule;
  const time =
    schedule.status === "pruned"
      ? `estimated at ${number(schedule.estimate)} cycles; pruned: ${schedule.reason}`
      : `${number(schedule.cycles)} cycles, ${formatRatio(schedule.floor.ratio)} the floor`;
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

/** Pruned schedules have no row: there may be thousands. */
function rowLink(cell: TileCell, { refused }: TuneResult): string | null {
  if (cell.kind === "refused") return `#${refusedRow(refused.indexOf(cell.refused))}`;
  return cell.schedule.status === "pruned" ? null : `#${rowOf(cell.schedule)}`;
}

/** What time is counted in: milliseconds where they were measured, else cycles. */
export const timeUnitOf = (objective: Objective): "ms" | "cycles" => (objective === "ms" ? "ms" : "cycles");

export interface Timed {
  readonly candidate: Candidate;
  readonly bytes: number;
  readonly time: number;
}

/** Every schedule that has a time: one that failed took none. */
export const timedOf = ({ candidates, objective }: TuneResult): readonly Timed[] =>
  candidates.flatMap((candidate) => {
    const { bytes, cycles } = candidate;
    if (objective !== "ms") return [{ candidate, bytes, time: cycles }];
    return candidate.status === "measured" ? [{ candidate, bytes, time: candidate.ms }] : [];
  });

/** Those that none beats in both bytes and time, by bytes. */
export function paretoOf(timed: readonly Timed[]): readonly Timed[] {
  const front: Timed[] = [];
  for (const one of [...timed].sort((a, b) => a.bytes - b.bytes || a.time - b.time)) {
    if (one.time < (front[front.length - 1]?.time ?? Infinity)) front.push(one);
  }
  return front;
}

/** Bytes against time of every costed schedule, with those that none beats in both joined by a line. */
export function scatter(result: TuneResult): string {
  const { objective } = result;
  const timed = timedOf(result);
  const unit = timeUnitOf(objective);
  const place = { x: "bytes", y: "time" } as const;
  const shared = { r: 4, stroke: "currentColor", strokeOpacity: 0.75 } as const;
  const title = ({ candidate }: Timed): string => describeSchedule(candidate);
  const href = ({ candidate }: Timed): string => `#${rowOf(candidate)}`;
  const of = (residency: string) =>
    timed.filter(({ candidate }) => dataResidency(result.gather, candidate.schedule) === residency);
  return chartOf({
    ariaLabel: `bytes moved against ${unit} of every costed schedule`,
    width: chartWidth,
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
      Plot.line(paretoOf(timed), { ...place, curve: "step-after", stroke: "var(--link)", strokeWidth: 2 }),
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

/** A log scale where values differ much, else one that does not begin at 0. */
function axisOf(values: readonly number[], tickFormat: string): Plot.ScaleOptions {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const log = least > 0 && most / least > 4;
  return { type: log ? "log" : "linear", tickFormat, nice: true, ticks: 6 };
}
