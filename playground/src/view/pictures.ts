/** The charts of `tune` and of a run, as markup: loaded when one is first shown. */
import { replaced } from "../../../ir/index.js";
import { timelineSections } from "../../../src/report/timeline-page.js";
import type { Timeline } from "../../../src/report/timeline-charts.js";
import { heatMap, scatter, type CellLink } from "../../../src/report/tune-charts.js";
import { tileCells, type TileCell } from "../../../src/report/tune-cells.js";
import type { TuneResult } from "../../../src/tune/result.js";

/** Tile and residency (memory in which an operand is kept) that a click on a cell of the heat map applies. */
export interface CellChoice {
  readonly tile: readonly number[];
  readonly residency: string;
}

/**
 * Heat map of the cost of tiles, as markup with links. `choices` has the tile and residency (memory in which
 * an operand is kept) that a click on each cell applies.
 */
export interface SpaceMap {
  readonly markup: string;
  /** Choice of each cell by its number; the link of cell 7 is `#cell-7`. */
  readonly choices: readonly CellChoice[];
}

/**
 * Returns the heat map of a search's tile shapes as markup, `width` CSS pixels wide, with the tile that a
 * click on each cell applies. Returns undefined if {@link heatMap} has no map to draw.
 */
export function spaceMap(result: TuneResult, width: number): SpaceMap | undefined {
  const cells = tileCells(result);
  const choices: CellChoice[] = [];
  const link: CellLink = (cell) => `#cell-${choices.push(choiceOf(cell, cells)) - 1}`;
  const found = heatMap(result, { link, width });
  return found === undefined ? undefined : { markup: `${found.map}${found.legend ?? ""}`, choices };
}

/**
 * Returns the tile and residency (memory in which an operand is kept) that a cell of the heat map selects.
 */
function choiceOf(cell: TileCell, cells: ReturnType<typeof tileCells>): CellChoice {
  const { residency } = cell;
  if (cell.kind !== "refused") return { tile: cell.schedule.schedule.tile, residency };
  // One refused tile stands for every larger one: the cell's own entries are meant.
  const across = cells === undefined ? cell.refused.tile : replaced(cell.refused.tile, cells.x, cell.x);
  return { tile: cells?.y === undefined ? across : replaced(across, cells.y, cell.y), residency };
}

/** Returns the timeline charts of a kernel as HTML markup, `width` CSS pixels wide. */
export const timelineMarkup = (timeline: Timeline, width: number): string =>
  timelineSections(timeline, Math.max(leastWidth, width));

/** Width in CSS pixels from which the two charts of a search stand side by side. */
const twoColumns = 1100;
/** Width of the gap between two charts, in CSS pixels. */
const chartGap = 32;
/** Width in CSS pixels below which a chart is scrolled: its letters would run into one another. */
const leastWidth = 448;

/**
 * Returns the charts of a search as markup, `width` CSS pixels wide: the map of tiles, and bytes against
 * time.
 */
export function searchMarkup(result: TuneResult, width: number): string {
  const column = width < twoColumns ? Math.max(leastWidth, width) : Math.floor((width - chartGap) / 2);
  const map = spaceMap(result, column);
  const charts = [...(map === undefined ? [] : [map.markup]), scatter(result, { width: column })];
  return `<div class="charts">${charts.map((chart) => `<figure>${chart}</figure>`).join("")}</div>`;
}
