/** SVG image of a search result, for places that show only images. */
import { checkApiArgument } from "../api/argument-kinds.js";
import { baselineMark, baselineText } from "../tune/marks.js";
import type { TuneResult } from "../tune/result.js";
import { escapeMarkup, imageOf } from "./page.js";
import { timedSchedules } from "./timed-schedules.js";
import { chartWidth, heatMap, scatter, timeUnitOf } from "./tune-charts.js";

const margin = 16;
const gap = 28;
/** Characters. */
const lineLength = 90;

/** Returns the result of a search as a self-contained SVG image in the viewer's light or dark theme. */
export function tuneSvg(result: TuneResult): string {
  checkApiArgument("tuneSvg", "search result", result);
  const heat = heatMap(result);
  const charts = [
    ...(heat === undefined
      ? []
      : [[`tile shape against ${result.objective}; hatched: no schedule is legal`, heat.map]]),
    ...(heat?.legend === undefined ? [] : [["", heat.legend]]),
    [
      `bytes against ${timeUnitOf(result.objective)}, with the Pareto front`,
      scatter(result, { timed: timedSchedules(result) }),
    ],
  ] as const;
  const verdict = linesOf(result.verdict);
  let y = margin + 34 + 18 * verdict.length;
  const placed = charts.map(([title = "", chart = ""]) => {
    if (title !== "") y += gap;
    const text =
      title === "" ? "" : `<text x="${margin}" y="${y - 10}" font-weight="600">${escapeMarkup(title)}</text>`;
    const drawn = chart.replace("<svg ", `<svg x="${margin}" y="${y}" `);
    y += sizeOf(chart, "height");
    return text + drawn;
  });
  const width = Math.max(chartWidth, ...charts.map(([, chart]) => sizeOf(chart, "width"))) + 2 * margin;
  const height = y + margin;
  const marks =
    result.best.id === result.default.id
      ? `star: best, ${baselineText(result)}`
      : `star: best; diamond: ${baselineMark(result)}`;
  return imageOf(
    width,
    height,
    `<text x="${margin}" y="${margin + 10}" font-size="16" font-weight="600">${escapeMarkup(`@${result.name} on ${result.target.name}, by ${result.objective}`)}</text>
${verdict.map((line, k) => `<text x="${margin}" y="${margin + 32 + 18 * k}">${escapeMarkup(line)}</text>`).join("\n")}
<text x="${margin}" y="${margin + 32 + 18 * verdict.length}" fill="var(--soft)">${marks}</text>
${placed.join("\n")}`,
  );
}

/** Returns a text as lines of at most 90 characters. A longer word is not split. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = lines.length === 0 ? word : `${lines[lines.length - 1]} ${word}`;
    if (lines.length > 0 && longer.length <= lineLength) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const sizeOf = (chart: string, side: "width" | "height"): number =>
  Number(new RegExp(` ${side}="([\\d.]+)"`).exec(chart)?.[1]);
