/** A self-contained page: swim lanes per core and pipe, the UB memory map, and the tile map of the output. */
import { maxLifetimes, outputOf, pipes, printSchedule, type Pipe, type Walked } from "../../ir/index.js";
import type { Kernel } from "../api/compile.js";

const width = 1000;
const laneHeight = 14;
const mapHeight = 200;
/** Lanes and cells that a page draws, whatever the program. */
const maxCores = 8;
const maxCells = 64;

const colours: Readonly<Record<Pipe, string>> = {
  MTE2: "#4c78a8",
  V: "#f58518",
  MTE3: "#54a24b",
  S: "#b279a2",
};

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** HTML without scripts or outside resources. */
export function timelinePage(kernel: Kernel, timing: Walked): string {
  const title = `@${kernel.name} on ${kernel.target.name}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${escape(title)}</title>
<style>body{font:14px/1.5 system-ui,sans-serif;margin:2rem;max-width:${width + 100}px}text{font-size:11px}</style>
<h1>${escape(title)}</h1>
<p><code>${escape(printSchedule(kernel.tile.schedule))}</code></p>
<p>About ${Math.round(timing.cycles)} cycles on ${timing.cores} cores, ${timing.tasks} tasks. ${escape(timing.why)}.</p>
<h2>Timeline</h2>
${swimLanes(timing)}
<p>${pipes.map((pipe) => `<span style="color:${colours[pipe]}">&#9632;</span> ${pipe}`).join(" ")}
${timing.dropped > 0 ? `The first ${timing.events.length} events; ${timing.dropped} more ran.` : ""}</p>
<h2>Unified buffer</h2>
${memoryMap(kernel, timing)}
<h2>Output tiles</h2>
${tileMap(kernel)}
</html>
`;
}

function swimLanes(timing: Walked): string {
  const cores = [...new Set(timing.events.map((event) => event.core))]
    .sort((a, b) => a - b)
    .slice(0, maxCores);
  const lanes = cores.flatMap((core) => pipes.map((pipe) => ({ core, pipe })));
  const scale = timing.cycles === 0 ? 0 : (width - 90) / timing.cycles;
  const bars = timing.events.flatMap((event) => {
    const lane = lanes.findIndex((l) => l.core === event.core && l.pipe === event.pipe);
    if (lane === -1) return [];
    const x = (90 + event.start * scale).toFixed(2);
    const w = Math.max(0.5, event.cycles * scale).toFixed(2);
    const tip = `${event.name}: ${Math.round(event.cycles)} cycles from ${Math.round(event.start)}`;
    return [
      `<rect x="${x}" y="${lane * laneHeight + 1}" width="${w}" height="${laneHeight - 2}" fill="${colours[event.pipe]}"><title>${tip}</title></rect>`,
    ];
  });
  const labels = lanes.map(
    ({ core, pipe }, k) => `<text x="0" y="${k * laneHeight + 11}">core ${core} ${pipe}</text>`,
  );
  return `<svg width="${width}" height="${lanes.length * laneHeight}" role="img">${labels.join("")}${bars.join("")}</svg>`;
}

/** What UB holds on core 0: time to the right, addresses downwards. */
function memoryMap(kernel: Kernel, timing: Walked): string {
  const budget = kernel.tile.schedule.ubBytes ?? kernel.target.ubBytes;
  const { lifetimes } = timing;
  if (lifetimes.length === 0) return "<p>Nothing is staged.</p>";
  const names = [...new Set(lifetimes.map((life) => life.buffer))];
  const palette = Object.values(colours);
  const colourOf = (name: string): string => palette[names.indexOf(name) % palette.length] ?? "#888";
  const until = Math.max(...lifetimes.map((life) => life.end));
  const peak = Math.max(...lifetimes.map((life) => life.address + life.bytes));
  const [x, y] = [(width - 10) / Math.max(1, until), mapHeight / Math.max(1, budget)];
  const tiles = lifetimes.map(({ buffer, address, bytes, start, end }) => {
    const box = [start * x, address * y, Math.max(0.5, (end - start) * x), Math.max(1, bytes * y)];
    const [left, top, wide, high] = box.map((value) => value.toFixed(2));
    const tip = `%${buffer}: ${bytes} B at ${address}, cycles ${Math.round(start)} to ${Math.round(end)}`;
    return `<rect x="${left}" y="${top}" width="${wide}" height="${high}" fill="${colourOf(buffer)}" stroke="#fff" stroke-width="0.3"><title>${escape(tip)}</title></rect>`;
  });
  const frame = `<rect x="0" y="0" width="${width - 10}" height="${mapHeight}" fill="none" stroke="${peak >= 0.95 * budget ? "#c00" : "#333"}"/>`;
  const legend = names.map((name) => `<span style="color:${colourOf(name)}">&#9632;</span> %${escape(name)}`);
  const shown = lifetimes.length >= maxLifetimes ? ` The first ${maxLifetimes} tiles are drawn.` : "";
  return (
    `<svg width="${width}" height="${mapHeight + 2}" role="img">${tiles.join("")}${frame}</svg>` +
    `<p>${legend.join(" ")}</p><p>Core 0: time to the right, ${Math.round(until)} cycles; addresses downwards. ` +
    `Peak ${peak} B of ${budget} B.${shown}</p>`
  );
}

/** The last two dims of the output, cut by the tile; a cell's shade tells its task. */
function tileMap(kernel: Kernel): string {
  const shape = outputOf(kernel.tile).type.shape;
  const { tile } = kernel.tile.schedule;
  if (tile === undefined || shape.length === 0) return "<p>A single element.</p>";
  const cut = (d: number): number =>
    d < 0 ? 1 : Math.ceil((shape[d] ?? 1) / Math.min(tile[d] ?? 1, shape[d] ?? 1));
  const [rows, columns] = [cut(shape.length - 2), cut(shape.length - 1)];
  const [shownRows, shownColumns] = [Math.min(rows, maxCells), Math.min(columns, maxCells)];
  const [w, h] = [Math.min(40, (width - 10) / shownColumns), Math.min(20, 400 / shownRows)];
  const cells: string[] = [];
  for (let r = 0; r < shownRows; r++) {
    for (let c = 0; c < shownColumns; c++) {
      const shade = 60 + (((r * columns + c) * 37) % 30);
      cells.push(
        `<rect x="${(c * w).toFixed(1)}" y="${(r * h).toFixed(1)}" width="${w.toFixed(1)}" height="${h.toFixed(1)}" fill="hsl(210 60% ${shade}%)" stroke="#fff"/>`,
      );
    }
  }
  const rest =
    rows > shownRows || columns > shownColumns ? `; the first ${shownRows} by ${shownColumns} are drawn` : "";
  return `<svg width="${width}" height="${Math.ceil(shownRows * h)}" role="img">${cells.join("")}</svg><p>${rows} by ${columns} tiles of [${tile.join(", ")}] over the last two dims${rest}.</p>`;
}
