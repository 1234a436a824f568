/**
 * The space of a search as a map: for each tile shape and residency the best schedule, or why there is none.
 */
import { defined, at, formatEntry, type Buffers, type Residencies } from "../../ir/index.js";
import type { Candidate, PrunedCandidate, RefusedTiles, TuneResult } from "../tune/result.js";

interface Place {
  /** Entries of the tile along the map's dims, in elements. */
  readonly x: number;
  readonly y: number;
  /** As flags take it. */
  readonly residency: string;
}

/**
 * Cell of a search's heat map, for one tile shape and one residency: the best schedule with its cost, or the
 * refusal if no schedule is legal.
 */
export type TileCell = Place &
  (
    | {
        /** `exact`: the cost was computed or measured. `estimate`: the cost is an estimate. */
        readonly kind: "exact" | "estimate";
        /** Cost in the unit of the objective: cycles, bytes or milliseconds. */
        readonly cost: number;
        readonly schedule: Candidate | PrunedCandidate;
      }
    /** Legal, and without a figure of the objective. */
    | { readonly kind: "unknown"; readonly schedule: Candidate | PrunedCandidate }
    | { readonly kind: "refused"; readonly refused: RefusedTiles }
  );

/**
 * Data of a search's heat map: cells by residency, and by tile extents along at most two dims of the output
 * (of the domain, for a scatter).
 */
export interface TileCells {
  /** Output dims of the two axes. `y` is absent if at most one dim has several extents. */
  readonly x: number;
  readonly y?: number;
  /** Extents of tiles along each axis, in elements, ascending. */
  readonly xs: readonly number[];
  readonly ys: readonly number[];
  /** Residencies with a legal tile, by the cost of the best cell, lowest first. */
  readonly residencies: readonly string[];
  /** Places without a cell were not looked at. */
  readonly cells: readonly TileCell[];
  /**
   * Residencies without a legal tile among those that were looked at, each with the smallest tile that is
   * refused.
   */
  readonly refused: readonly RefusedResidency[];
}

/** Residency for which no tile is legal, with the smallest refused tile. */
export interface RefusedResidency {
  /** Residency in the syntax of the flag `--residency`. */
  readonly residency: string;
  readonly refused: RefusedTiles;
}

/**
 * Returns the data of a search's heat map. Undefined for a scalar output (for a domain without dims, for a
 * scatter).
 */
export function tileCells(result: TuneResult): TileCells | undefined {
  const rank = result.gather.map.domain.length;
  if (rank === 0) return undefined;
  // Off the grid there is a tile here and there, which would draw rows and columns of hardly a cell.
  const schedules = [...result.candidates, ...result.pruned].filter(
    ({ beside, id }) => !beside || id === result.best.id,
  );
  const tiles = [
    ...schedules.map(({ schedule }) => schedule.tile),
    ...result.refused.map(({ tile }) => tile),
  ];
  const entries = Array.from({ length: rank }, (_, d) =>
    [...new Set(tiles.map((tile) => at(tile, d)))].sort((a, b) => a - b),
  );
  const free = entries
    .map((list, d) => ({ d, choices: list.length }))
    .filter(({ choices }) => choices > 1)
    .sort((a, b) => b.choices - a.choices || b.d - a.d)
    .slice(0, 2)
    .map(({ d }) => d)
    .sort((a, b) => a - b);
  const x = free[free.length - 1] ?? rank - 1;
  const y = free.length > 1 ? at(free, 0) : undefined;
  const placeOf = (tile: readonly number[], residency: Residencies): Place => ({
    x: at(tile, x),
    y: y === undefined ? 0 : at(tile, y),
    residency: formatEntry(residency),
  });
  const best = new Map<string, TileCell>();
  for (const schedule of schedules) {
    const place = placeOf(schedule.schedule.tile, schedule.schedule.residency);
    const cell = legalCell(place, schedule, result);
    const previous = best.get(keyOf(place));
    if (previous === undefined || before(cell, previous)) best.set(keyOf(place), cell);
  }
  const residencies = byBest([...best.values()]);
  const without = new Map<string, RefusedTiles>();
  for (const tile of result.refused) {
    const residency = formatEntry(tile.residency);
    if (!residencies.includes(residency) && !without.has(residency)) without.set(residency, tile);
  }
  const dims = { x, ...defined({ y }) };
  const least = entries.map((list) => at(list, 0));
  const xs = at(entries, x);
  const ys = y === undefined ? [0] : at(entries, y);
  const refusedCells = residencies.flatMap((residency) =>
    ys.flatMap((down) =>
      xs.flatMap((across): TileCell[] => {
        const place = { x: across, y: down, residency };
        if (best.has(keyOf(place))) return [];
        const refused = standsAt(place, dims, least, result);
        return refused === undefined ? [] : [{ ...place, kind: "refused", refused }];
      }),
    ),
  );
  return {
    ...dims,
    xs,
    ys,
    residencies,
    cells: [...best.values(), ...refusedCells],
    refused: [...without].map(([residency, refused]) => ({ residency, refused })),
  };
}

/**
 * Returns the residencies with a legal cell in the heat map, in ascending order of the lowest cost.
 * Residencies without a known cost come last.
 */
function byBest(cells: readonly TileCell[]): readonly string[] {
  const costs = new Map<string, number>();
  for (const cell of cells)
    costs.set(
      cell.residency,
      Math.min("cost" in cell ? cell.cost : Infinity, costs.get(cell.residency) ?? Infinity),
    );
  return [...costs].sort(([a, x], [b, y]) => (x === y ? (a > b ? -1 : 1) : x - y)).map(([name]) => name);
}

const keyOf = ({ x, y, residency }: Place): string => `${residency} ${x} ${y}`;

/**
 * Returns the refused tile that proves a heat map cell illegal: the nearest one with no extent larger than
 * the cell's. Undefined if there is none. `least`: smallest tile extent of each dim, used for dims outside
 * the map.
 */
function standsAt(
  { x, y, residency }: Place,
  dims: { readonly x: number; readonly y?: number },
  least: readonly number[],
  { refused, gather }: TuneResult,
): RefusedTiles | undefined {
  const upTo = least.map((entry, d) => (d === dims.x ? x : d === dims.y ? y : entry));
  const pinned = gather.schedule.buffers;
  const fewest = (buffers: Buffers): boolean =>
    pinned === undefined ? formatEntry(buffers) === "1" : formatEntry(buffers) === formatEntry(pinned);
  let nearest: { readonly tile: RefusedTiles; readonly away: number } | undefined;
  for (const tile of refused) {
    if (formatEntry(tile.residency) !== residency || !fewest(tile.buffers)) continue;
    if (!tile.tile.every((entry, d) => entry <= at(upTo, d))) continue;
    const away = tile.tile.reduce((sum, entry, d) => sum + at(upTo, d) - entry, 0);
    if (nearest === undefined || away < nearest.away) nearest = { tile, away };
  }
  return nearest?.tile;
}

/**
 * Returns the heat map cell of a legal schedule, with the cost in the unit of the objective. For the
 * objective `ms`, an unmeasured schedule has the kind `unknown`.
 */
function legalCell(place: Place, schedule: Candidate | PrunedCandidate, { objective }: TuneResult): TileCell {
  switch (objective) {
    case "bytes":
      return { ...place, kind: "exact", cost: schedule.bytes, schedule };
    case "cycles":
      return schedule.status === "pruned"
        ? { ...place, kind: "estimate", cost: schedule.estimate, schedule }
        : { ...place, kind: "exact", cost: schedule.cycles, schedule };
    case "ms":
      return schedule.status === "measured"
        ? { ...place, kind: "exact", cost: schedule.ms, schedule }
        : { ...place, kind: "unknown", schedule };
  }
}

/**
 * True if `cell` precedes `other`. The smaller figure comes first, exact or estimated; of equal figures, the
 * exact one. A cell without a figure comes last.
 */
function before(cell: TileCell, other: TileCell): boolean {
  const costOf = (one: TileCell): number => ("cost" in one ? one.cost : Infinity);
  const [cost, otherCost] = [costOf(cell), costOf(other)];
  return cost < otherCost || (cost === otherCost && cell.kind === "exact" && other.kind !== "exact");
}
