/**
 * A run, or two schedules of it one above the other, as one page: cores, pipes, the unified buffer and the
 * output's tiles.
 */
import { checkApiArgument } from "../api/argument-kinds.js";
import { checkArgument } from "../../ir/argument.js";
import { counted, printSchedule, type Walked } from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";
import { kernelRoofline } from "../explain/kernel-roofline.js";
import { sideOf } from "../explain/side-of.js";
import { escapeMarkup, figureOf, htmlTable, pageOf } from "./page.js";
import { fasterOf, sideHeads, sideRows } from "./side-by-side.js";
import {
  coresOf,
  coreRow,
  lanesOf,
  memoryMap,
  pipeKeys,
  timelineReach,
  tileMap,
  type Timeline,
} from "./timeline-charts.js";

/**
 * Returns the timeline of a kernel as a self-contained HTML page without scripts. If `other` is given, the
 * page compares the two timelines in a table and draws the charts of both.
 */
export function timelinePage(kernel: Kernel, timing: Walked, other?: Timeline<Kernel>): string {
  checkArgument("timelinePage", "kernel", kernel);
  checkApiArgument("timelinePage", "timing", timing);
  const one: Timeline<Kernel> = { kernel, timing };
  if (other === undefined)
    return pageOf({ title: `@${kernel.name} on ${kernel.target.name}`, body: timelineSections(one) });
  return pageOf({
    title: `@${kernel.name} on ${kernel.target.name}: two schedules`,
    body: [summary(one, "A"), summary(other, "B"), comparison(one, other), charts([one, other])].join("\n"),
  });
}

/** Returns the HTML markup of one timeline: its summary and its charts. */
export const timelineSections = (one: Timeline): string => `${summary(one, "")}\n${charts([one])}`;

/**
 * Returns the HTML markup of the charts of all given timelines. Each chart has a separate axis, because a
 * much slower schedule would compress the chart of a faster one.
 */
function charts(all: readonly Timeline[]): string {
  const each = (heading: string, draw: (one: Timeline, name: string) => string): string =>
    `<h2>${heading}</h2>\n${all.map((one, k) => draw(one, all.length === 1 ? "" : nameOf(k))).join("\n")}`;
  return [
    each("Cores", (one, name) =>
      one.timing.cycles === 0
        ? nothing(name)
        : headed(name, figureOf(coreRow(one, one.timing.cycles), coresCaption(one))),
    ),
    each("Pipes over time", (one, name) => {
      if (one.timing.events.length === 0) return nothing(name);
      const hatch = `wait${name}`;
      const caption = `${pipeKeys(one.timing, hatch)}${cutCaption(one)}`;
      return headed(name, figureOf(lanesOf(one, timelineReach(one).until, hatch), caption));
    }),
    each("Unified buffer of core 0", (one, name) => {
      const map = memoryMap(one, timelineReach(one).until, escapeMarkup);
      return headed(name, map === undefined ? "<p>Nothing is staged.</p>" : figureOf(map.chart, map.caption));
    }),
    each("Output tiles", (one, name) => {
      const map = tileMap(one);
      return headed(name, map === undefined ? "<p>No tiles to draw.</p>" : figureOf(map.chart, map.caption));
    }),
  ].join("\n");
}

const nameOf = (k: number): string => (k === 0 ? "A" : "B");
const headed = (name: string, body: string): string => (name === "" ? body : `<h3>${name}</h3>\n${body}`);
const nothing = (name: string): string => headed(name, "<p>No statement runs.</p>");

const summary = ({ kernel, timing }: Timeline, name: string): string =>
  `<p>${name === "" ? "" : `<strong>${name}</strong> `}<code>${escapeMarkup(printSchedule(kernel.tile.schedule))}</code></p>
<p>About ${Math.round(timing.cycles).toLocaleString("en")} cycles on ${counted(timing.cores, "core")}, ${counted(timing.tasks, "task")}. ${escapeMarkup(timing.why)}.${rooflineText({ kernel, timing })}</p>`;

function rooflineText({ kernel, timing }: Timeline): string {
  const roofline = kernelRoofline(kernel, timing);
  return roofline === undefined
    ? ""
    : ` ${escapeMarkup(roofline.charAt(0).toUpperCase() + roofline.slice(1))}.`;
}

/**
 * Returns an HTML table that compares two schedules, A and B, and a sentence that says which takes fewer
 * cycles. For a hand-written tile program only the sentence is returned, because the source of its tiling is
 * unknown.
 */
function comparison(a: Timeline<Kernel>, b: Timeline<Kernel>): string {
  const faster = fasterOf(a.timing.cycles, b.timing.cycles);
  const said = `<p>${faster.charAt(0).toUpperCase()}${faster.slice(1)}. Each chart has an axis of its own.</p>`;
  if (a.kernel.access === undefined || b.kernel.access === undefined) return said;
  const rows = sideRows([sideOf(a.kernel), sideOf(b.kernel)]);
  return `${htmlTable(
    "two schedules",
    sideHeads,
    rows.map((cells) => ({ cells })),
  )}\n${said}`;
}

function coresCaption(one: Timeline): string {
  const cores = coresOf(one);
  const idle = cores.filter(({ tasks }) => tasks === 0).length;
  return `Until which cycle each core works. ${idle === 0 ? "Every core has a task." : `${idle} of ${cores.length} cores have no task.`}`;
}

function cutCaption(one: Timeline): string {
  const { complete, until } = timelineReach(one);
  return complete ? "" : ` The first ${Math.round(until).toLocaleString("en")} cycles are drawn; more ran.`;
}
