/** A run, or two schedules of it one above the other, as one page: cores, pipes, the unified buffer and the output's tiles. */
import { counted, printSchedule, type Walked } from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";
import { kernelStanding } from "../explain/kernel-standing.js";
import { escapeMarkup, figureOf, pageOf } from "./page.js";
import {
  coresOf,
  coreStrip,
  lanesOf,
  memoryMap,
  pipeKeys,
  timelineReach,
  tileMap,
  type Timeline,
} from "./timeline-charts.js";

/** Self-contained HTML without scripts. */
export const timelinePage = (kernel: Kernel, timing: Walked, other?: Timeline): string =>
  pageOf({
    title: `@${kernel.name} on ${kernel.target.name}${other === undefined ? "" : ": two schedules"}`,
    body: timelineSections({ kernel, timing }, other),
  });

/** Its body. With another schedule both have the same axes, so that lengths compare. */
export function timelineSections(one: Timeline, other?: Timeline): string {
  const { timing } = one;
  const all: readonly Timeline[] = [one, ...(other === undefined ? [] : [other])];
  const slowest = Math.max(...all.map((one) => one.timing.cycles));
  const reach = Math.max(...all.map((one) => timelineReach(one).until));
  const each = (heading: string, draw: (one: Timeline, name: string) => string): string =>
    `<h2>${heading}</h2>\n${all.map((one, k) => draw(one, other === undefined ? "" : nameOf(k))).join("\n")}`;
  return [
    ...all.map((one, k) => summary(one, other === undefined ? "" : nameOf(k))),
    other === undefined ? "" : comparison(timing, other.timing),
    each("Cores", (one, name) =>
      slowest === 0 ? nothing(name) : headed(name, figureOf(coreStrip(one, slowest), coresCaption(one))),
    ),
    each("Pipes over time", (one, name) => {
      if (one.timing.events.length === 0) return nothing(name);
      const hatch = `wait${name}`;
      const caption = `${pipeKeys(one.timing, hatch)}${cutCaption(one)}`;
      return headed(name, figureOf(lanesOf(one, reach, hatch), caption));
    }),
    each("Unified buffer of core 0", (one, name) => {
      const map = memoryMap(one, reach, escapeMarkup);
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
<p>About ${Math.round(timing.cycles).toLocaleString("en")} cycles on ${counted(timing.cores, "core")}, ${counted(timing.tasks, "task")}. ${escapeMarkup(timing.why)}.${standing({ kernel, timing })}</p>`;

function standing({ kernel, timing }: Timeline): string {
  const found = kernelStanding(kernel, timing);
  return found === undefined ? "" : ` ${escapeMarkup(found.charAt(0).toUpperCase() + found.slice(1))}.`;
}

function comparison(a: Walked, b: Walked): string {
  if (a.cycles === b.cycles) return "<p>Both take as long.</p>";
  const [fast, slow, name] = a.cycles < b.cycles ? [a, b, "A"] : [b, a, "B"];
  return `<p>${name} is ${(slow.cycles / Math.max(1, fast.cycles)).toFixed(2)} times as fast. The axes of both are the same.</p>`;
}

function coresCaption(one: Timeline): string {
  const cores = coresOf(one);
  const idle = cores.filter(({ tasks }) => tasks === 0).length;
  return `Until which cycle each core works. ${idle === 0 ? "Every core has a task." : `${idle} of ${cores.length} cores have no task.`}`;
}

function cutCaption(one: Timeline): string {
  const { whole, until } = timelineReach(one);
  return whole ? "" : ` The first ${Math.round(until).toLocaleString("en")} cycles are drawn; more ran.`;
}
