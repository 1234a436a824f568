/** Charts of a run over time: cores, pipes, the unified buffer by address, and the tiles of the output. */
import {
  at,
  counted,
  elementCount,
  maxLifetimes,
  maxOutputTiles,
  outputOf,
  pipes,
  withCommas,
  type CoreTotal,
  type Pipe,
  type TimelineEvent,
  type Walked,
} from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";
import { chartOf, shortTick, ticksOf } from "./chart.js";
import { drawing } from "./drawing.js";
import { legendMark } from "./page.js";

/** Kernel with the timeline that the cost model simulates; input of the timeline charts. */
export interface Timeline<K = Pick<Kernel, "name" | "tile" | "target">> {
  readonly kernel: K;
  readonly timing: Walked;
}

const font = { fontSize: "13px" };
const margins = { marginLeft: 64, marginRight: 20 } as const;
const drawnIn = (width: number): number => width - margins.marginLeft - margins.marginRight;
/** Events that are drawn for a core. */
const maxDrawn = 1200;
/** Pixels that a character of a label takes. */
const characterWidth = 7.5;
const [maxHeight, minHeight] = [420, 40];
/** Pixels that a tile is drawn high and wide at least: of more tiles the first are drawn. */
const leastTile = 4;

/** Light, under black letters. A colour stands for one thing on the page: buffers and cores have others. */
const pipeColours: Readonly<Record<Pipe, string>> = {
  MTE2: "#8fb8de",
  V: "#f6b26b",
  MTE3: "#93c47d",
  S: "#e39fb6",
};
const bufferColours = ["#0f8b8d", "#8a9a00", "#a4563a", "#c9a400", "#5c6f7b"] as const;
const coreColours = ["#e3d9fa", "#54358c"] as const;

/**
 * Returns the totals (tasks, end in cycles, busy cycles) of every core that the schedule may use, by core
 * number. A core without a task ends at cycle 0.
 */
export function coresOf({ kernel, timing }: Timeline): readonly CoreTotal[] {
  const idle: CoreTotal = { tasks: 0, end: 0, busy: { MTE2: 0, V: 0, MTE3: 0, S: 0 } };
  const count = Math.max(timing.cores, kernel.tile.schedule.cores ?? 0);
  return Array.from({ length: count }, (_, core) => {
    const total = timing.coreTotals[core];
    return total === undefined || total.tasks === 0 ? idle : total;
  });
}

/** Core that the timeline draws in detail, with a label. `core`: 0-based number of the core. */
export interface OpenedCore {
  readonly core: number;
  readonly label: string;
}

/**
 * Returns the cores that the timeline draws in detail: the core that ends last and the core with the least
 * work. Returns one core if the work is equal, and none if no core has a task.
 */
function openedCores(one: Timeline): readonly OpenedCore[] {
  const cores = coresOf(one).flatMap((total, core) =>
    total.tasks === 0
      ? []
      : [{ core, end: total.end, work: pipes.reduce((sum, pipe) => sum + total.busy[pipe], 0) }],
  );
  const [first] = cores;
  if (first === undefined) return [];
  const last = cores.reduce((a, b) => (b.end > a.end ? b : a), first);
  const least = cores.reduce((a, b) => (b.work < a.work ? b : a), first);
  if (last.work === least.work) {
    const label = cores.length === 1 ? "the only one with a task" : "as busy as every other with a task";
    return [{ core: last.core, label: `core ${last.core}, ${label}` }];
  }
  return [
    { core: last.core, label: `core ${last.core}, busiest` },
    { core: least.core, label: `core ${least.core}, idlest with a task` },
  ];
}

/** Width of a chart in CSS pixels, and end of the time axis in cycles. */
export interface ChartSize {
  readonly width: number;
  readonly until: number;
}

/** Returns a bar chart (SVG markup) of the cycle at which each core finishes. */
export function coreRow(one: Timeline, { width, until }: ChartSize): string {
  const { Plot } = drawing();
  const opened = new Set(openedCores(one).map(({ core }) => core));
  const cores = coresOf(one).map(({ tasks, end, busy }, core) => ({
    core,
    end,
    tip:
      tasks === 0
        ? `core ${core}: no task`
        : `core ${core}: ${counted(tasks, "task")}, until cycle ${withCommas(end)}; ${pipes.map((pipe) => `${pipe} ${withCommas(busy[pipe])}`).join(", ")} cycles of work`,
    name: opened.has(core) ? `core ${core}` : "",
  }));
  return chartOf({
    ariaLabel: "until when each core works",
    width,
    height: 130,
    ...margins,
    marginTop: 26,
    marginBottom: 38,
    style: font,
    x: {
      domain: cores.map(({ core }) => core),
      ticks: ticksOf(cores, 16).map(({ core }) => core),
      label: "core",
    },
    y: { domain: [0, until], label: "cycles", ticks: 3, tickFormat: shortTick, grid: true },
    marks: [
      Plot.barY(cores, { x: "core", y: "end", fill: "var(--soft)", title: "tip" }),
      Plot.text(
        cores.filter(({ name }) => name !== ""),
        { x: "core", y: "end", text: "name", dy: -8, lineAnchor: "bottom" },
      ),
      Plot.ruleY([0]),
    ],
  });
}

/**
 * Returns the cycle at which the chart of a timeline ends (`until`). `complete`: true if the chart shows all
 * events, false if it is cut.
 */
export function timelineReach(one: Timeline): { readonly until: number; readonly complete: boolean } {
  const { timing } = one;
  const drawn = openedCores(one).map(({ core }) => timing.events.filter((event) => event.core === core));
  const cut = drawn.filter((events) => events.length > maxDrawn || timing.dropped > 0);
  if (cut.length === 0) return { until: timing.cycles, complete: true };
  const ends = cut.map((events) => Math.max(0, ...events.slice(0, maxDrawn).map((e) => e.start + e.cycles)));
  return { until: Math.max(...ends), complete: false };
}

const named = (names: readonly string[]): string => names.map((name) => `%${name}`).join(", ");

const tipOf = ({ name, from, to, start, cycles, bytes }: TimelineEvent): string =>
  `${name} ${named(from)} to %${to}: cycles ${withCommas(start)} to ${withCommas(start + cycles)}, ${withCommas(cycles)} cycles, ${withCommas(bytes)} B`;

/**
 * Returns a chart (SVG markup) of the hardware pipes (instruction queues) over time, for the cores drawn in
 * detail. Only the first 1,200 events and the first 1,200 waits of each core are drawn. `hatch`: id of the
 * fill pattern for waits.
 */
export function lanesOf(one: Timeline, { width, until }: ChartSize, hatch: string): string {
  const { Plot } = drawing();
  const { timing } = one;
  const opened = openedCores(one);
  const labels = new Map(opened.map(({ core, label }) => [core, label]));
  const shown = <T extends { readonly core: number; readonly start: number; readonly cycles: number }>(
    items: readonly T[],
  ) =>
    opened.flatMap(({ core, label }) =>
      items
        .filter((item) => item.core === core && item.cycles > 0 && item.start < until)
        .slice(0, maxDrawn)
        .map((item) => ({ ...item, label, end: Math.min(until, item.start + item.cycles) })),
    );
  const events = shown(timing.events).map((event) => ({
    ...event,
    tip: tipOf(event),
    text: textOf(event, drawnIn(width) / until),
  }));
  const waits = shown(timing.waits).map((wait) => ({
    ...wait,
    tip: `${wait.pipe} waits for ${wait.for}: cycles ${withCommas(wait.start)} to ${withCommas(wait.end)}`,
  }));
  const used = pipes.filter((pipe) =>
    [...timing.events, ...timing.waits].some((event) => event.pipe === pipe),
  );
  const lane = { y: "pipe", fy: "label", x1: "start", x2: "end", title: "tip" } as const;
  return chartOf({
    ariaLabel: "pipes of the opened cores over time",
    hatch,
    width,
    height: 70 + opened.length * (used.length * 26 + 26),
    ...margins,
    marginTop: 18,
    marginBottom: 40,
    style: font,
    x: { domain: [0, until], label: "cycles", tickFormat: shortTick, grid: true },
    y: { domain: used, label: null, padding: 0.12 },
    fy: { domain: [...labels.values()], axis: null, padding: 0.18 },
    color: { domain: [...pipes], range: pipes.map((pipe) => pipeColours[pipe]) },
    marks: [
      Plot.barX(waits, { ...lane, fill: `url(#${hatch})`, stroke: "var(--line)" }),
      Plot.barX(events, { ...lane, fill: "pipe", stroke: "var(--paper)", strokeWidth: 0.5 }),
      Plot.text(
        events.filter(({ text }) => text !== ""),
        {
          y: "pipe",
          fy: "label",
          x: (e: (typeof events)[number]) => (e.start + e.end) / 2,
          text: "text",
          fill: "#000",
        },
      ),
      Plot.text(opened, {
        fy: "label",
        frameAnchor: "top-left",
        text: "label",
        dy: -15,
        dx: -58,
        fontWeight: "bold",
      }),
    ],
  });
}

/**
 * Returns the label of a bar: the event and its operands, as far as the bar is wide enough; otherwise "".
 * `scale`: CSS pixels a cycle.
 */
function textOf({ from, to, name, cycles }: TimelineEvent, scale: number): string {
  const labelWidth = cycles * scale - 6;
  const long = `${name} ${named(name === "store" ? [to] : from)}`;
  const brief = named(name === "store" ? [to] : from.slice(0, 1));
  return [long, brief].find((text) => text.length * characterWidth < labelWidth) ?? "";
}

/** Chart of a timeline (SVG markup) with a caption (HTML markup). */
export interface Drawn {
  readonly chart: string;
  /** HTML markup. */
  readonly caption: string;
}

const swatch = (colour: string): string =>
  legendMark(`<rect width="14" height="14" fill="${colour}" stroke="var(--line)"/>`);

/**
 * Returns the legend that maps colours to hardware pipes (instruction queues), as HTML markup. `hatch`: id of
 * the fill pattern for waits.
 */
export const pipeKeys = (timing: Walked, hatch: string): string =>
  [
    ...pipes
      .filter((pipe) => timing.events.some((event) => event.pipe === pipe))
      .map((pipe) => `${swatch(pipeColours[pipe])} ${pipe}`),
    ...(timing.waits.length === 0 ? [] : [`${swatch(`url(#${hatch})`)} waits for another pipe`]),
  ].join(" ");

/**
 * Returns a chart, with caption, of the contents of core 0's unified buffer by address and time. Undefined if
 * no data is copied to the buffer before cycle `until`. `escape`: makes names safe for markup.
 */
export function memoryMap(
  { kernel, timing }: Timeline,
  { width, until }: ChartSize,
  escape: (text: string) => string,
): Drawn | undefined {
  const { Plot } = drawing();
  const budget = kernel.tile.schedule.ubBytes ?? kernel.target.ubBytes;
  const lifetimes = timing.lifetimes.filter(({ start }) => start < until);
  if (lifetimes.length === 0) return undefined;
  const names = [...new Set(lifetimes.map(({ buffer }) => buffer))];
  const colours = names.map((_, k) => at(bufferColours, k % bufferColours.length));
  const peak = Math.max(...timing.lifetimes.map(({ address, bytes }) => address + bytes));
  const chart = chartOf({
    ariaLabel: "the unified buffer of core 0 by address and time",
    width,
    height: 280,
    ...margins,
    marginTop: 26,
    marginBottom: 40,
    style: font,
    x: { domain: [0, until], label: "cycles", tickFormat: shortTick },
    y: { domain: [0, Math.max(budget, peak)], label: "address, bytes", tickFormat: shortTick, grid: true },
    color: { domain: names, range: colours },
    marks: [
      Plot.rect(lifetimes, {
        x1: "start",
        x2: ({ end }: (typeof lifetimes)[number]) => Math.min(until, end),
        y1: "address",
        y2: ({ address, bytes }: (typeof lifetimes)[number]) => address + bytes,
        fill: "buffer",
        stroke: "var(--paper)",
        strokeWidth: 0.5,
        title: ({ buffer, address, bytes, start, end }: (typeof lifetimes)[number]) =>
          `%${buffer}: ${withCommas(bytes)} B at address ${withCommas(address)}, cycles ${withCommas(start)} to ${withCommas(end)}`,
      }),
      Plot.ruleY([budget], { strokeDasharray: "5 4" }),
    ],
  });
  const keys = names.map((name, k) => `${swatch(at(colours, k))} %${escape(name)}`);
  const shown = timing.lifetimes.length >= maxLifetimes ? ` The first ${maxLifetimes} tiles are drawn.` : "";
  return {
    chart,
    caption: `${keys.join(" ")} Peak ${withCommas(peak)} B; the dashed line is the budget, ${withCommas(budget)} B.${shown}`,
  };
}

/**
 * Returns the two output dims along which the tiles have the most distinct offsets, in ascending order. For
 * an output of one dim, the first entry is undefined.
 */
function drawnDims(rank: number, tiles: Walked["outputTiles"]): readonly [number | undefined, number] {
  const cuts = (d: number): number => new Set(tiles.map(({ offsets }) => offsets[d])).size;
  const [first = 0, second] = Array.from({ length: rank }, (_, d) => ({ d, cut: cuts(d) }))
    .sort((a, b) => b.cut - a.cut || b.d - a.d)
    .map(({ d }) => d);
  return second === undefined ? [undefined, first] : [Math.min(first, second), Math.max(first, second)];
}

/**
 * Returns a chart, with caption, of the output's tiles along two output dims, coloured by core. Undefined for
 * a scalar or an empty output. `width`: width of the chart in CSS pixels.
 */
export function tileMap({ kernel, timing }: Timeline, width: number): Drawn | undefined {
  const { Plot } = drawing();
  const drawnWidth = drawnIn(width);
  const { shape } = outputOf(kernel.tile).type;
  if (shape.length === 0 || elementCount(shape) === 0) return undefined;
  const [down, across] = drawnDims(shape.length, timing.outputTiles);
  const others = shape.flatMap((_, d) => (d === down || d === across ? [] : [d]));
  const entry = (list: readonly number[], missing: number): number =>
    down === undefined ? missing : at(list, down);
  const written = timing.outputTiles
    .filter(({ offsets, sizes }) => elementCount(sizes) > 0 && others.every((d) => offsets[d] === 0))
    .map(({ core, task, offsets, sizes }) => ({
      core,
      x1: at(offsets, across),
      x2: at(offsets, across) + at(sizes, across),
      y1: entry(offsets, 0),
      y2: entry(offsets, 0) + entry(sizes, 1),
      tip: `core ${core}, task ${task}: offsets [${offsets.join(", ")}], sizes [${sizes.join(", ")}]`,
    }));
  // Tiles that are too small to be seen are cut off.
  const drawnOf = (extent: number, size: number, pixels: number): number =>
    Math.min(extent, size * Math.floor(pixels / leastTile));
  const largest = (sizes: readonly number[]): number => sizes.reduce((max, size) => Math.max(max, size), 1);
  const tileRows = largest(written.map(({ y1, y2 }) => y2 - y1));
  const rows = drawnOf(entry(shape, 1), tileRows, maxHeight);
  const columns = drawnOf(at(shape, across), largest(written.map(({ x1, x2 }) => x2 - x1)), drawnWidth);
  const tiles = written
    .filter(({ x1, y1 }) => x1 < columns && y1 < rows)
    .map((tile) => ({ ...tile, x2: Math.min(columns, tile.x2), y2: Math.min(rows, tile.y2) }));
  const natural = (drawnWidth * rows) / columns;
  const readable = leastTile * Math.ceil(rows / tileRows);
  const high = Math.min(maxHeight, Math.max(minHeight, readable, natural));
  const roomy = tiles.filter(
    ({ x1, x2, y1, y2 }) => ((x2 - x1) / columns) * drawnWidth > 24 && ((y2 - y1) / rows) * high > 14,
  );
  const cores = timing.cores;
  const chart = chartOf({
    ariaLabel: "tiles of the output by core",
    width,
    height: high + 70,
    ...margins,
    marginTop: 26,
    marginBottom: 44,
    style: font,
    x: { domain: [0, columns], label: `output dim ${across}, elements` },
    y: {
      domain: [0, rows],
      reverse: true,
      ...(down === undefined ? { axis: null } : { label: `output dim ${down}, elements` }),
    },
    color: { type: "linear", domain: [0, Math.max(1, cores - 1)], range: [...coreColours] },
    marks: [
      Plot.rect(tiles, {
        x1: "x1",
        x2: "x2",
        y1: "y1",
        y2: "y2",
        fill: "core",
        stroke: "var(--paper)",
        strokeWidth: 0.6,
        title: "tip",
      }),
      Plot.text(roomy, {
        x: ({ x1, x2 }: (typeof tiles)[number]) => (x1 + x2) / 2,
        y: ({ y1, y2 }: (typeof tiles)[number]) => (y1 + y2) / 2,
        text: "core",
        fill: ({ core }: (typeof tiles)[number]) => (core < cores / 2 ? "#000" : "#fff"),
      }),
    ],
  });
  const marks = [
    ...(down === undefined || rows === at(shape, down) ? [] : [[down, rows] as const]),
    ...(columns === at(shape, across) ? [] : [[across, columns] as const]),
  ].map(([d, end]) => `dim ${d} up to ${withCommas(end)} of ${withCommas(at(shape, d))}`);
  const drawn = marks.length === 0 ? "" : ` Drawn: ${marks.join(", ")}; smaller tiles could not be seen.`;
  const slice = others.length === 0 ? "" : ` Along dims ${others.join(", ")}, the first tile is drawn.`;
  const scaled = high === natural ? "" : " The axes have scales of their own.";
  const first = timing.outputTiles.length >= maxOutputTiles ? ` The first ${maxOutputTiles} are drawn.` : "";
  return {
    chart,
    caption: `Tiles as they are written, ${swatch(coreColours[0])} core 0 to ${swatch(coreColours[1])} core ${cores - 1}; numbers are cores.${drawn}${slice}${scaled}${first}`,
  };
}
