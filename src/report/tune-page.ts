/**
 * Page of a search result: the best schedule beside the default, cost by tile, bytes against time, and the
 * refused tiles.
 */
import { checkApiArgument } from "../api/argument-kinds.js";
import {
  clockVersion,
  formatEntry,
  formatRoofline,
  formatShape,
  printFunc,
  printSchedule,
  ratesOf,
  targetFacts,
  Tiling,
  withCommas,
} from "../../ir/index.js";
import { clockOf } from "../../passes/index.js";
import { baselineMark, baselineText, marksOf } from "../tune/marks.js";
import { candidateStatuses, type Candidate, type Objective, type TuneResult } from "../tune/result.js";
import { escapeMarkup, figureOf, htmlTable, legendMark, pageOf, sentenceOf, type Row } from "./page.js";
import { figureLabels, figureTexts } from "./figures.js";
import { farthest, timedSchedules } from "./timed-schedules.js";
import { heatMap, refusedRow, candidateRow, scatter, timeUnitOf, type HeatMap } from "./tune-charts.js";

/**
 * Origin of a search result: the command and the tilec version, from which a reader can reproduce the result.
 */
export interface PageOrigin {
  /** Command line, quoted for a shell. */
  readonly command?: string;
  /** Version of tilec, such as `0.1.0`. */
  readonly version?: string;
}

/** Returns the result of a search as a self-contained HTML page, without scripts or outside resources. */
export function tunePage(result: TuneResult, origin: PageOrigin = {}): string {
  checkApiArgument("tunePage", "search result", result);
  const title = `@${result.name} on ${result.target.name}: schedules by ${result.objective}`;
  const heat = heatMap(result);
  const timed = timedSchedules(result);
  const drawn =
    result.objective === "ms" || result.passes !== undefined
      ? ""
      : ` Small dots: schedules that the search did not cost. Not drawn: schedules whose estimate is over ${farthest} times the line.`;
  return pageOf({
    title,
    body: `<p><strong>${escapeMarkup(result.verdict)}.</strong>${result.complete ? "" : " The search was stopped before its end."}</p>
<p>The best: ${escapeMarkup(formatRoofline(result.best, ratesOf(result.target)))}.${reason(result)}</p>
<pre aria-label="the program">${escapeMarkup(printFunc(result.program).trim())}</pre>
${originOf(result, origin)}
${chosen(result)}
<p>${accounts(result)}</p>
<h2 id="map">Tile shape against ${result.objective}</h2>
${heat === undefined ? "<p>There is one tile, or nothing to move: no map.</p>" : mapFigure(heat, result)}
<h2 id="scatter">Bytes against ${timeUnitOf(result.objective)}</h2>
<p><a class="skip" href="#schedules">Skip the chart</a></p>
${figureOf(
  scatter(result, { timed }),
  `${key("circle")} data in the unified buffer (ub) ${key("square")} rows from global memory (gm) ${markKeys(result)} The line joins the schedules that no other one beats in both.${drawn}`,
)}
<h2 id="schedules">Costed schedules</h2>
${schedules(result)}
<h2 id="refusals">Refused tiles</h2>
${refusals(result)}`,
  });
}

/**
 * Returns the reason why the best schedule takes as long as it does. Empty for targets without a DMA engine,
 * and for programs that passes of the user made.
 */
function reason({ best, gather, target, passes }: TuneResult): string {
  if (passes !== undefined || !targetFacts[target.kind].dmaEngine) return "";
  const { why } = clockOf(new Tiling(gather, best.schedule, target));
  return ` ${sentenceOf(why)}`;
}

/**
 * Returns the HTML note on the origin of a search result: command, target, passes, and the versions of tilec
 * and of the cost model.
 */
function originOf({ target, passes }: TuneResult, { command, version }: PageOrigin): string {
  const versions = [...(version === undefined ? [] : [`tilec ${version}`]), `clock ${clockVersion}`];
  const made = [
    ...(command === undefined ? [] : [`<code>${escapeMarkup(command)}</code>`]),
    `target ${escapeMarkup(target.name)}`,
    ...(passes === undefined ? [] : [`passes ${escapeMarkup(passes.join(", "))}`]),
    versions.join(", "),
  ];
  return `<p class="note">${made.join("; ")}</p>`;
}

const shapes = {
  circle: `<circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" stroke-width="1.5"/>`,
  square: `<rect x="3" y="3" width="8" height="8" fill="none" stroke="currentColor" stroke-width="1.5"/>`,
  star: `<path d="M7,1 8.5,5.3 13,5.3 9.4,8 10.7,12.5 7,9.8 3.3,12.5 4.6,8 1,5.3 5.5,5.3Z" fill="#fff" stroke="#000"/>`,
  diamond: `<path d="M7,1 11,7 7,13 3,7Z" fill="#fff" stroke="#000"/>`,
  illegal: `<rect x="1" y="1" width="12" height="12" fill="url(#illegal)" stroke="var(--line)"/>`,
  small: `<rect x="4" y="4" width="6" height="6" fill="currentColor"/>`,
  frame: `<rect x="2" y="2" width="10" height="10" fill="none" stroke="var(--soft)"/>`,
} as const;

const key = (shape: keyof typeof shapes): string => legendMark(shapes[shape]);

function markKeys(result: TuneResult): string {
  const isOne = result.best.id === result.default.id;
  return isOne
    ? `${key("star")} best, ${baselineText(result)}.`
    : `${key("star")} best, ${key("diamond")} ${baselineMark(result)}.`;
}

/** Returns the heat map of a search as HTML: chart, legend, and the residencies without a legal tile. */
function mapFigure({ map, legend, cells }: HeatMap, result: TuneResult): string {
  const rank = result.best.schedule.tile.length;
  const others = Array.from({ length: rank }, (_, d) => d).filter((d) => d !== cells.x && d !== cells.y);
  const kinds = new Set(cells.cells.map(({ kind }) => kind));
  const rest =
    others.length === 0 ? "" : `tile entries along dim${others.length > 1 ? "s" : ""} ${others.join(", ")}, `;
  const keys = [
    markKeys(result),
    ...(kinds.has("refused") ? [`${key("illegal")} no schedule is legal.`] : []),
    ...(kinds.has("estimate") ? [`${key("small")} small: estimated, not costed.`] : []),
    ...(kinds.has("unknown") ? [`${key("frame")} frame: not measured.`] : []),
  ];
  const folded =
    cells.refused.length === 0
      ? ""
      : `<details><summary>No legal tile: ${cells.refused.map(({ residency }) => escapeMarkup(residency)).join("; ")}</summary>
<ul>${cells.refused.map(({ residency, refused }) => `<li>${escapeMarkup(`${residency}: ${refused.code}, ${refused.reason}`)}</li>`).join("")}</ul></details>`;
  const cellCount = cells.xs.length * cells.ys.length * cells.residencies.length;
  if (cells.cells.length < cellCount) keys.push("Blank: not looked at.");
  return `<p><a class="skip" href="#scatter">Skip the chart</a></p>
${figureOf(
  `${map}${legend ?? ""}`,
  `Each cell is the best schedule of its tile over ${rest}loop orders, views and buffers. ${keys.join(" ")} The number is the ratio to the best cell. Cells that were costed or refused lead to their rows.`,
)}
${folded}`;
}

const costColumns = [
  "cycles",
  "over_floor",
  "bytes",
  "ub_bytes",
  "tasks",
  "idle_cores",
  "busiest",
  "busy_share",
] as const;
const tileColumns = ["tile", "residency"] as const;
const otherColumns = ["view", "order", "buffers"] as const;

/** Returns the heads of the cost columns, that of the objective first. */
const costHead = (objective: Objective): readonly string[] => [
  ...(objective === "ms" ? ["ms"] : []),
  ...figureLabels(costColumns),
];

const costOf = (candidate: Candidate, objective: Objective): readonly (string | number)[] => [
  ...(objective === "ms" ? [candidate.status === "measured" ? candidate.ms : candidate.status] : []),
  ...figureTexts(costColumns, candidate),
];

/**
 * Returns an HTML table that compares the best schedule of a search with the default schedule. The table has
 * one row if the two schedules are the same.
 */
function chosen(result: TuneResult): string {
  const { best, default: standard, objective } = result;
  const row = (candidate: Candidate): Row => ({
    cells: [marksOf(candidate, result), printSchedule(candidate.schedule), ...costOf(candidate, objective)],
  });
  return htmlTable(
    "the best schedule beside the default",
    ["", "schedule", ...costHead(objective)],
    (best.id === standard.id ? [standard] : [best, standard]).map(row),
  );
}

function accounts({ counts, space, seed, objective }: TuneResult): string {
  const all = candidateStatuses.flatMap((status) =>
    counts[status] === 0 ? [] : [`${withCommas(counts[status])} ${status}`],
  );
  return `${all.join(", ")}; ${withCommas(space.tiles)} tiles${space.thinned ? ", and those around the best" : ""}.${objective === "ms" ? ` Seed ${seed}.` : ""}`;
}

/** Returns an HTML table of the costed schedules of a search. */
function schedules(result: TuneResult): string {
  const { candidates, objective } = result;
  const rows = candidates.map((candidate): Row => ({
    id: candidateRow(candidate),
    cells: [
      marksOf(candidate, result),
      ...figureTexts(tileColumns, candidate),
      ...costOf(candidate, objective),
      ...figureTexts(otherColumns, candidate),
    ],
  }));
  const head = ["", ...figureLabels(tileColumns), ...costHead(objective), ...figureLabels(otherColumns)];
  return htmlTable("costed schedules", head, rows);
}

/** Returns an HTML table of the rejected tiles of a search; a sentence if no tile was rejected. */
function refusals({ refused, counts }: TuneResult): string {
  if (refused.length === 0) return "<p>No tile was refused.</p>";
  const rows = refused.map(({ tile, view, residency, buffers, code, ubBytes, budget, reason }, k): Row => ({
    id: refusedRow(k),
    cells: [
      code,
      formatShape(tile),
      formatEntry(residency),
      formatShape(view),
      formatEntry(buffers),
      ubBytes,
      budget,
      reason,
    ],
  }));
  return `<p>Footprints grow with entries: a line stands for every tile that is as large along each dim, ${withCommas(counts.refused)} schedules in all. <code>tilec explain TC401</code> explains a code.</p>
${htmlTable("refused tiles", ["code", "tile", "residency", "view", "buffers", "UB needed (B)", "UB allowed (B)", "why"], rows)}`;
}
