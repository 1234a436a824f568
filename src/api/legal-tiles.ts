/**
 * Which tiles are legal: exact counts where the output is small enough to count, a list of the ones worth looking at,
 * and the arithmetic when there are none.
 *
 * The footprint grows with every tile entry, so along the last free dim the legal entries are 1 to a largest one, found
 * by bisection: counting visits the other dims only.
 */
import {
  CompileError,
  dtypeBytes,
  error,
  gmAllowed,
  hasErrors,
  inputsOf,
  isLegal,
  judge,
  largestGatherDims,
  largestThat,
  pinnedDims,
  replaced,
  shapeRefusals,
  smallest,
  smallestArithmetic,
  type AccessFunc,
  type Func,
  type Residency,
  type ResolvedSchedule,
  type Shape,
  type Target,
  type Tiling,
} from "../../ir/index.js";
import { clockOf, withDefaults } from "../../passes/index.js";
import { accessOf } from "./access.js";
import { resolveTargetOf, type CompileOptions } from "./compile.js";

export interface LegalTile {
  readonly tile: Shape;
  readonly residency: Residency;
  readonly bytes: number;
  readonly traffic: number;
  readonly tasks: number;
  readonly cycles: number;
  /** No other listed tile is as good in traffic, UB use, task count and estimated cycles. */
  readonly pareto: boolean;
}

export interface LegalTiles {
  readonly name: string;
  readonly target: string;
  /** What all tiles share; `auto` stands for each residency that is open. */
  readonly schedule: Omit<ResolvedSchedule, "tile" | "residency"> & {
    readonly residency: Residency | "auto";
  };
  /** Tiles with entries from 1 to the extents that some open residency takes; absent when there are too many to visit. */
  readonly count?: number;
  readonly possible: number;
  /** Legal tiles of the listed grid: entries that even out the tiles along their dim. */
  readonly tiles: readonly LegalTile[];
  /** Largest legal extent of each gather dim alone, of a full load: with rows padded to the block, and with the last tile
   * entry a whole number of blocks in every operand, as PyPTO's vector operations ask (FC1001). */
  readonly largestGatherDims: readonly {
    readonly dim: number;
    readonly padded: number;
    readonly aligned: number;
  }[];
  /** Why no tile is legal. */
  readonly proof?: string;
}

export interface LegalOptions extends CompileOptions {
  /** Called while tiles are counted. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Prefixes that counting visits, and grid tiles that listing evaluates, at most. */
const maxVisits = 2_000_000;
const maxListed = 20_000;

/**
 * The legal tiles of a program; a tile that it states counts as not given. Throws a CompileError for what is no program, no
 * schedule, or a tile program.
 */
export function legalTiles(program: Func, options: LegalOptions = {}): LegalTiles {
  const target = resolveTargetOf(program, options);
  const access = accessOf(program, options);
  if (access === undefined) {
    const hint = "explain shows its footprint; give legal the source program";
    throw new CompileError([
      error("TC702", `@${program.name} is a tile program: its tile is chosen`, { hint }),
    ]);
  }
  const { tile: _, ...open } = access.schedule;
  const gather: AccessFunc = { ...access, schedule: open };
  const faults = shapeRefusals(gather, open);
  if (hasErrors(faults)) throw new CompileError(faults);
  const asked = open.residency ?? target.defaultResidency;
  const residencies = residenciesOf(gather, asked, target);
  const found = residencies.map((residency) =>
    under(withDefaults(gather, residency, target), options.onProgress ?? (() => undefined)),
  );
  // Data that stays in global memory takes less of UB, and no rule pins its dims: the last residency takes every tile
  // that an earlier one takes.
  const widest = found.reduce((_wide, last) => last);
  const tiles = found.flatMap((part) => part.tiles);
  const { tile: __, ...schedule } = withDefaults(gather, widest.residency, target).schedule;
  return {
    name: access.name,
    target: target.name,
    schedule: { ...schedule, residency: asked },
    ...(widest.count === undefined ? {} : { count: widest.count }),
    possible: widest.possible,
    tiles,
    largestGatherDims: found.flatMap((part) => part.largestGatherDims),
    ...(widest.proof === undefined ? {} : { proof: widest.proof }),
  };
}

/** Full load first. A residency that the operator does not have is judged all the same when it is asked for. */
function residenciesOf(
  gather: AccessFunc,
  asked: Residency | "auto",
  target: Target,
): readonly [Residency, ...Residency[]] {
  if (asked !== "auto") return [asked];
  return gmAllowed(gather, target) ? ["ub", "gm"] : ["ub"];
}

interface Part extends Pick<LegalTiles, "count" | "possible" | "tiles" | "largestGatherDims" | "proof"> {
  readonly residency: Residency;
}

function under(tiling: Tiling, step: (done: number, total: number) => void): Part {
  const { gather, schedule, extents } = tiling;
  const { residency } = schedule;
  const base = smallest(tiling).with({ view: schedule.view });
  const pins = pinnedDims(gather, schedule);
  const limits = extents.map((extent, d) => Math.max(1, Math.min(extent, schedule.view[d] ?? extent)));
  const free = limits.map((_, d) => d).filter((d) => !pins.includes(d));
  const largestGatherDims = residency === "gm" ? [] : largestDims(tiling);
  const possible = free.reduce((product, d) => product * (limits[d] ?? 1), 1);
  if (!isLegal(base)) {
    return { residency, count: 0, possible, tiles: [], largestGatherDims, proof: proofOf(base) };
  }
  const count = countLegal(base, free, limits, step);
  return {
    residency,
    ...(count === undefined ? {} : { count }),
    possible,
    tiles: listed(base, free, limits),
    largestGatherDims,
  };
}

/** The rule that even the smallest tile breaks. */
function proofOf(base: Tiling): string {
  const [first] = judge(base).filter((verdict) => !verdict.pass);
  return first === undefined || first.rule.startsWith("ub-") ? smallestArithmetic(base) : first.detail;
}

function countLegal(
  least: Tiling,
  free: readonly number[],
  limits: Shape,
  step: (done: number, total: number) => void,
): number | undefined {
  const [last, ...prefix] = [...free].sort((a, b) => (limits[b] ?? 1) - (limits[a] ?? 1));
  if (last === undefined) return 1;
  const prefixes = prefix.reduce((product, d) => product * (limits[d] ?? 1), 1);
  if (prefixes > maxVisits) return undefined;
  const legal = (tile: Shape): boolean => isLegal(least.with({ tile }));
  let done = 0;
  const visit = (tile: Shape, rest: readonly number[]): number => {
    const [dim, ...inner] = rest;
    if (dim === undefined) {
      step(++done, prefixes);
      return largestThat(1, limits[last] ?? 1, (n) => legal(replaced(tile, last, n))) ?? 0;
    }
    let sum = 0;
    for (let n = 1; n <= (limits[dim] ?? 1); n++) {
      const wider = replaced(tile, dim, n);
      // Larger entries only cost more.
      if (!legal(wider)) break;
      sum += visit(wider, inner);
    }
    return sum;
  };
  return visit(least.schedule.tile, prefix);
}

/** Entries that even out the tiles along a dim: ceil(limit / n) for every n; powers of two stand for them where they are many. */
function evenEntries(limit: number): number[] {
  const entries = new Set<number>();
  for (let parts = 1; parts <= limit && entries.size <= maxListed;) {
    const entry = Math.ceil(limit / parts);
    entries.add(entry);
    parts = entry === 1 ? limit + 1 : Math.ceil(limit / (entry - 1));
  }
  if (entries.size > maxListed) return [...powers(limit)];
  return [...entries].sort((a, b) => a - b);
}

function powers(limit: number): Set<number> {
  const entries = new Set([limit]);
  for (let n = 1; n < limit; n *= 2) entries.add(n);
  return new Set([...entries].sort((a, b) => a - b));
}

function listed(base: Tiling, free: readonly number[], limits: Shape): LegalTile[] {
  let grids = free.map((d) => ({ dim: d, entries: evenEntries(limits[d] ?? 1) }));
  const size = (): number => grids.reduce((product, { entries }) => product * entries.length, 1);
  // Too many to evaluate: powers of two and the whole extent stand for the rest.
  if (size() > maxListed) {
    grids = grids.map(({ dim, entries }) => ({
      dim,
      entries: entries.filter((n) => Number.isInteger(Math.log2(n)) || n === limits[dim]),
    }));
  }
  const tiles: Omit<LegalTile, "pareto">[] = [];
  const visit = (tile: Shape, k: number): void => {
    const grid = grids[k];
    const candidate = base.with({ tile });
    if (!isLegal(candidate)) return;
    if (grid === undefined) {
      const { traffic, footprint, schedule } = candidate;
      tiles.push({
        tile,
        residency: schedule.residency,
        bytes: footprint.bytes,
        traffic: traffic.bytes,
        tasks: traffic.tasks,
        cycles: clockOf(candidate).cycles,
      });
      return;
    }
    for (const n of grid.entries) visit(replaced(tile, grid.dim, n), k + 1);
  };
  visit(base.schedule.tile, 0);
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

function largestDims(tiling: Tiling): LegalTiles["largestGatherDims"] {
  const bytes = inputsOf(tiling.gather).map(({ type }) => dtypeBytes[type.dtype]);
  const lanes = Math.max(1, ...bytes.map((size) => tiling.target.blockBytes / size));
  const aligned = largestGatherDims(tiling, lanes);
  return largestGatherDims(tiling).map(({ dim, largest: padded }, k) => ({
    dim,
    padded,
    aligned: aligned[k]?.largest ?? 0,
  }));
}
