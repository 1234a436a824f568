/**
 * Which tiles are legal: exact counts where the output is small enough to count, a list of the ones worth looking at,
 * and the arithmetic when there are none.
 *
 * The footprint grows with every tile entry, so along the last free dim the legal entries are 1 to a largest one, found
 * by bisection: counting visits the other dims only.
 */
import {
  dtypeBytes,
  type AccessFunc,
  type ResolvedSchedule,
  type Shape,
  type Target,
} from "../../ir/index.js";
import {
  anyLegal,
  cost,
  footprintOf,
  gatherOf,
  isLegal,
  largestGatherDims,
  largestThat,
  pinnedDims,
  smallest,
  smallestArithmetic,
} from "../../passes/index.js";

export interface LegalTile {
  readonly tile: Shape;
  readonly bytes: number;
  readonly traffic: number;
  readonly tasks: number;
  readonly cycles: number;
  /** No other listed tile is as good in traffic, UB use, task count and estimated cycles. */
  readonly pareto: boolean;
}

export interface LegalTiles {
  /** Legal tiles with entries from 1 to the extents; absent when there are too many prefixes to visit. */
  readonly count?: number;
  readonly possible: number;
  /** Legal tiles of the listed grid: entries that even out the tiles along their dim. */
  readonly tiles: readonly LegalTile[];
  /** Largest legal extent of each gather dim alone: with rows padded to the block, and with the last tile entry a
   * whole number of blocks in every operand, as PyPTO's vector operations ask (FC1001). */
  readonly largestGatherDims: readonly {
    readonly dim: number;
    readonly padded: number;
    readonly aligned: number;
  }[];
  /** Why no tile is legal. */
  readonly proof?: string;
}

/** Prefixes that counting visits, and grid tiles that listing evaluates, at most. */
const maxVisits = 2_000_000;
const maxListed = 20_000;

export function legalTiles(
  func: AccessFunc,
  schedule: ResolvedSchedule,
  target: Target,
  step: (done: number, total: number) => void = () => undefined,
): LegalTiles {
  const base = smallest(func, schedule);
  const pins = pinnedDims(func, schedule);
  const limits = func.output.type.shape.map((extent, d) =>
    Math.max(1, Math.min(extent, schedule.view[d] ?? extent)),
  );
  const free = limits.map((_, d) => d).filter((d) => !pins.includes(d));
  const largest = largestGatherDims(func, schedule, target).map(({ dim, largest: padded }, k) => ({
    dim,
    padded,
    aligned: largestAligned(func, schedule, target)[k] ?? 0,
  }));
  const possible = free.reduce((product, d) => product * (limits[d] ?? 1), 1);
  if (!anyLegal(func, schedule, target)) {
    const proof = smallestArithmetic(func, schedule, target);
    return { count: 0, possible, tiles: [], largestGatherDims: largest, proof };
  }
  const legal = (tile: Shape): boolean => isLegal(func, { ...base, tile }, target);
  const count = countLegal(base.tile, free, limits, legal, step);
  return {
    ...(count === undefined ? {} : { count }),
    possible,
    tiles: listed(func, base, free, limits, target),
    largestGatherDims: largest,
  };
}

function countLegal(
  least: Shape,
  free: readonly number[],
  limits: Shape,
  legal: (tile: Shape) => boolean,
  step: (done: number, total: number) => void,
): number | undefined {
  const [last, ...prefix] = [...free].sort((a, b) => (limits[b] ?? 1) - (limits[a] ?? 1));
  if (last === undefined) return 1;
  const prefixes = prefix.reduce((product, d) => product * (limits[d] ?? 1), 1);
  if (prefixes > maxVisits) return undefined;
  let done = 0;
  const visit = (tile: Shape, rest: readonly number[]): number => {
    const [dim, ...inner] = rest;
    if (dim === undefined) {
      step(++done, prefixes);
      return largestThat(1, limits[last] ?? 1, (n) => legal(withEntry(tile, last, n))) ?? 0;
    }
    let sum = 0;
    for (let n = 1; n <= (limits[dim] ?? 1); n++) {
      const wider = withEntry(tile, dim, n);
      // Larger entries only cost more.
      if (!legal(wider)) break;
      sum += visit(wider, inner);
    }
    return sum;
  };
  return visit(least, prefix);
}

const withEntry = (tile: Shape, dim: number, entry: number): number[] =>
  tile.map((old, d) => (d === dim ? entry : old));

/** Entries that even out the tiles along a dim: ceil(limit / n) for every n. */
function evenEntries(limit: number): number[] {
  const entries = new Set<number>();
  for (let parts = 1; parts <= limit;) {
    const entry = Math.ceil(limit / parts);
    entries.add(entry);
    parts = entry === 1 ? limit + 1 : Math.ceil(limit / (entry - 1));
  }
  return [...entries].sort((a, b) => a - b);
}

function listed(
  func: AccessFunc,
  base: ResolvedSchedule,
  free: readonly number[],
  limits: Shape,
  target: Target,
): LegalTile[] {
  let grids = free.map((d) => ({ dim: d, entries: evenEntries(limits[d] ?? 1) }));
  const size = (): number => grids.reduce((product, { entries }) => product * entries.length, 1);
  // Too many to evaluate: powers of two and the whole extent stand for the rest.
  if (size() > maxListed) {
    grids = grids.map(({ dim, entries }) => ({
      dim,
      entries: entries.filter((n) => Number.isInteger(Math.log2(n)) || n === limits[dim]),
    }));
  }
  const tiles: { tile: Shape; bytes: number; traffic: number; tasks: number; cycles: number }[] = [];
  const gather = gatherOf(func);
  const visit = (tile: Shape, k: number): void => {
    const grid = grids[k];
    const schedule = { ...base, tile };
    if (!isLegal(func, schedule, target)) return;
    if (grid === undefined) {
      const { bytes } = footprintOf(func, schedule, target);
      const { cycles, traffic } = cost(gather, schedule, target);
      tiles.push({ tile, bytes, traffic: traffic.bytes, tasks: traffic.tasks, cycles: Math.round(cycles) });
      return;
    }
    for (const n of grid.entries) visit(withEntry(tile, grid.dim, n), k + 1);
  };
  visit(base.tile, 0);
  tiles.sort((a, b) => a.traffic - b.traffic || a.bytes - b.bytes || b.tasks - a.tasks);
  // Sorted by traffic, so only tiles before one can dominate it.
  const front: typeof tiles = [];
  return tiles.map((tile) => {
    const dominated = front.some(
      (f) => f.bytes <= tile.bytes && f.tasks >= tile.tasks && f.cycles <= tile.cycles,
    );
    if (!dominated) front.push(tile);
    return { ...tile, pareto: !dominated };
  });
}

/** As largestGatherDims, with tiles whose last entry fills whole blocks in data, indices and output. */
function largestAligned(func: AccessFunc, schedule: ResolvedSchedule, target: Target): number[] {
  const bytes = [func.data.type, func.indices.type].map(({ dtype }) => dtypeBytes[dtype]);
  const lanes = Math.max(1, ...bytes.map((size) => target.blockBytes / size));
  return largestGatherDims(func, schedule, target, lanes).map(({ largest }) => largest);
}
