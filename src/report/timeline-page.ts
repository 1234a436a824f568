/**
 * A run, or two schedules of it one above the other, as one page: cores, pipes, the unified buffer and the
 * output's tiles.
 */
import { checkApiArgument } from "../api/argument-kinds.js";
import { checkArgument } from "../../ir/argument.js";
import { counted, printSchedule, withCommas, type Walked } from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";
import { kernelRoofline } from "../explain/kernel-roofline.js";
import { sideOf } from "../explain/side-of.js";
import { escapeMarkup, figureOf, htmlTable, pageOf, sentenceOf } from "./page.js";
import { fasterOf, sideHeads, sideRows } from "./side-by-side.js";
import {
  coresOf,
  coreRow,
  lanesOf,
  memoryMap,
  pipeKeys,
  timelineReach,
  tileMap,
  type ChartSize,
  type Timeline,
} from "./timeline-charts.js";
import { timelineStyle, zoomName, zooms, type Zoom } from "./timeline-style.js";

/** Width of charts in CSS pixels: that of a page. */
const pageWidth = 1200;

/**
 * Returns the timeline of a kernel as a self-contained HTML page without scripts. `other`: second timeline to
 * compare.
 */
export function timelinePage(kernel: Kernel, timing: Walked, other?: Timeline<Kernel>): string {
  checkArgument("timelinePage", "kernel", kernel);
  checkApiArgument("timelinePage", "timing", timing);
  const one: Timeline<Kernel> = { kernel, timing };
  if (other === undefined)
    return pageOf({
      title: `@${kernel.name} on ${kernel.target.name}`,
      style: timelineStyle,
      body: timelineSections(one),
    });
  return pageOf({
    title: `@${kernel.name} on ${kernel.target.name}: two schedules`,
    style: timelineStyle,
    body: [
      comparison(one, other),
      summary(one, "A"),
      summary(other, "B"),
      charts([one, other], pageWidth),
    ].join("\n"),
  });
}

/** Returns the HTML body of a timeline page for one schedule, with charts `width` CSS pixels wide. */
export const timelineSections = (one: Timeline, width = pageWidth): string =>
  `${summary(one, "")}\n${charts([one], width)}`;

/**
 * Returns the charts of all timelines as HTML markup, with a common axis of cycles. Charts over time are
 * drawn once for each zoom. `width`: width in CSS pixels without zoom.
 */
function charts(all: readonly Timeline[], width: number): string {
  const cycles = Math.max(...all.map(({ timing }) => timing.cycles));
  const until = Math.max(...all.map((one) => timelineReach(one).until));
  const overTime = (draw: (size: ChartSize, zoom: Zoom) => string): string =>
    zooms
      .map((zoom) => `<div class="${zoomName(zoom)}">${draw({ width: width * zoom, until }, zoom)}</div>`)
      .join("\n");
  const each = (heading: string, draw: (one: Timeline, name: string) => string): string =>
    `<h2>${heading}</h2>\n${all.map((one, k) => draw(one, all.length === 1 ? "" : nameOf(k))).join("\n")}`;
  return `<div class="timeline">
${[
  each("Cores", (one, name) =>
    one.timing.cycles === 0
      ? nothing(name)
      : headed(name, figureOf(coreRow(one, { width, until: cycles }), coresCaption(one))),
  ),
  ...(until === 0 ? [] : [zoomButtons]),
  each("Pipes over time", (one, name) => {
    if (one.timing.events.length === 0) return nothing(name);
    const chart = (size: ChartSize, zoom: Zoom): string => {
      const hatch = `wait${name}${zoom}`;
      return figureOf(lanesOf(one, size, hatch), `${pipeKeys(one.timing, hatch)}${cutCaption(one)}`);
    };
    return headed(name, overTime(chart));
  }),
  each("Unified buffer of core 0", (one, name) => {
    const chart = (size: ChartSize): string => {
      const map = memoryMap(one, size, escapeMarkup);
      return map === undefined ? "<p>Nothing is staged.</p>" : figureOf(map.chart, map.caption);
    };
    return headed(name, overTime(chart));
  }),
  each("Output tiles", (one, name) => {
    const map = tileMap(one, width);
    return headed(name, map === undefined ? "<p>No tiles to draw.</p>" : figureOf(map.chart, map.caption));
  }),
].join("\n")}
</div>`;
}

const zoomButtons = `<fieldset class="zoom"><legend>Zoom of the axis of time</legend>${zooms
  .map(
    (zoom) =>
      `<label><input type="radio" name="zoom" id="${zoomName(zoom)}"${zoom === 1 ? " checked" : ""}> ${zoom}x</label>`,
  )
  .join("")}</fieldset>
<p class="note">Point at a bar for its cycles and bytes. A zoomed chart scrolls sideways.</p>`;

const nameOf = (k: number): string => (k === 0 ? "A" : "B");
const headed = (name: string, body: string): string => (name === "" ? body : `<h3>${name}</h3>\n${body}`);
const nothing = (name: string): string => headed(name, "<p>No statement runs.</p>");

const summary = ({ kernel, timing }: Timeline, name: string): string =>
  `<p>${name === "" ? "" : `<strong>${name}</strong> `}<code>${escapeMarkup(printSchedule(kernel.tile.schedule))}</code></p>
<p>About ${withCommas(timing.cycles)} cycles on ${counted(timing.cores, "core")}, ${counted(timing.tasks, "task")}. ${escapeMarkup(timing.why)}.${rooflineText({ kernel, timing })}</p>`;

function rooflineText({ kernel, timing }: Timeline): string {
  const roofline = kernelRoofline(kernel, timing);
  return roofline === undefined ? "" : ` ${sentenceOf(roofline)}`;
}

/**
 * Returns an HTML table that compares two schedules, A and B, and a sentence that says which schedule takes
 * fewer cycles. For a tile program without an access program, only the sentence is returned.
 */
function comparison(a: Timeline<Kernel>, b: Timeline<Kernel>): string {
  const faster = fasterOf(a.timing.cycles, b.timing.cycles);
  const said = `<p>${sentenceOf(faster)} All charts of cycles have one axis.</p>`;
  if (a.kernel.access === undefined || b.kernel.access === undefined) return said;
  const rows = sideRows([sideOf(a.kernel), sideOf(b.kernel)]);
  return `${said}\n${htmlTable(
    "two schedules",
    sideHeads,
    rows.map((cells) => ({ cells })),
  )}`;
}

function coresCaption(one: Timeline): string {
  const cores = coresOf(one);
  const idle = cores.filter(({ tasks }) => tasks === 0).length;
  return `Until which cycle each core works; the pipes of the named cores are drawn below. ${idle === 0 ? "Every core has a task." : `${idle} of ${cores.length} cores have no task.`}`;
}

function cutCaption(one: Timeline): string {
  const { complete, until } = timelineReach(one);
  return complete ? "" : ` The first ${withCommas(until)} cycles are drawn; more ran.`;
}
