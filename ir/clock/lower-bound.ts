/**
 * Bounds from below on the clock of a gather, whatever schedule it gets, or whatever view, order and buffers
 * a tile gets: what a search need not look at where something else is known to take no longer, and how far a
 * schedule is from what its target could do at best. They cost little beside an estimate.
 */
import { inputsOf } from "../func.js";
import { followedBy, gatheredTable, isScatter, rowElements, walked } from "../access.js";
import { targetFacts } from "../target.js";
import { anyLegal, residencyChoices, Tiling } from "../tiling/index.js";
import { alignUp, at, byteCount, bytesFor, elementCount, meanBytes, type Shape } from "../types.js";
import { transactionBytes } from "../tiling/gather-work.js";
import { cyclesOfWork } from "./price.js";
import { noWork, type Work } from "./work.js";
import { extent, type LowerBoundLimit, type LowerBound } from "./lower-bound-limit.js";
import { favourable } from "./favourable.js";
import { leastScatter } from "./scatter-lower-bound.js";
import { readTogether } from "./read-together.js";
import { leastThroughUb } from "./ub-lower-bound.js";

/**
 * Functions that return lower bounds on the cycles of schedules with the same residency (memory that holds
 * the data). `any()`: bound for every tile; 0 if there is none. `of(tile)`: bound for every schedule with the
 * tile.
 */
export interface LowerBounds {
  /** Returns the bound for every tile; 0 if nothing is known. */
  readonly any: () => number;
  /** Returns the bound for every schedule with the tile. */
  readonly of: (tile: Shape) => number;
}

/**
 * Returns functions that compute lower bounds on the cycles of schedules. The bounds apply to schedules with
 * the residency, cores, view and target of `tiling`. They also apply to schedules with smaller views, if each
 * view has whole tiles.
 */
export function lowerBoundsOf(tiling: Tiling): LowerBounds {
  const { gather, target, scatter } = tiling;
  if (scatter !== undefined) {
    let cached: number | undefined;
    const any = (): number => (cached ??= leastScatter(scatter, target).cycles);
    return { any, of: any };
  }
  if (gather.operands.some(({ type }) => byteCount(type) === 0)) return { any: () => 0, of: () => 0 };
  return targetFacts[target.kind].gathersInPlace ? inPlace(tiling) : throughUb(tiling);
}

/**
 * Returns a lower bound on the cycles of a tiling's program over all legal schedules. From the tiling's
 * schedule, only the number of cores and the unified buffer capacity are used.
 */
export function programLowerBound({ gather, target, schedule, extents }: Tiling): LowerBound {
  const { lowering: _, ...unpinned } = schedule;
  const view = extents.map((extent) => Math.max(1, extent));
  const { max } = gather.map.reduced ?? {};
  // The tile of the least footprint has one term or all of them: the sum of some is carried.
  const reductionTiles = max === undefined || isScatter(gather.map) ? [[]] : [[1], [max]];
  const bounds = (["ub", "gm"] as const).map((data) => {
    const tilings = residencyChoices(gather, target, [data]).flatMap((residency) =>
      reductionTiles.map((some) => {
        const rest = { profile: "head", budgetRule: "spec", buffers: 1, residency } as const;
        return new Tiling(gather, { ...unpinned, ...rest, view, tile: [...view, ...some] }, target);
      }),
    );
    return { tilings, legal: tilings.some((tiling) => anyLegal(tiling)) };
  });
  // Without a legal schedule any bound holds.
  const legal = bounds.some((one) => one.legal) ? bounds.filter((one) => one.legal) : bounds;
  return legal
    .flatMap(({ tilings: [first] }) => (first === undefined ? [] : [least(first)]))
    .reduce((lower, other) => (other.cycles < lower.cycles ? other : lower));
}

/**
 * Returns the lower bound on cycles over all schedules with the residency (memory that holds the data) of
 * `tiling`.
 */
function least(tiling: Tiling): LowerBound {
  const { gather, target, scatter } = tiling;
  if (scatter !== undefined) return leastScatter(scatter, favourable(target));
  if (!targetFacts[target.kind].gathersInPlace) return leastThroughUb(tiling, favourable(target));
  if (gather.operands.some(({ type }) => byteCount(type) === 0)) return { cycles: 0, limit: "launch" };
  return leastInPlace(tiling);
}

/**
 * Returns the functions of {@link LowerBounds} for a target that gathers through the unified buffer (UB). The
 * bound for a tile is at least the issue cycles of a core's DMA stores, one store for each output tile.
 */
function throughUb(tiling: Tiling): LowerBounds {
  const { target, schedule, extents } = tiling;
  let cached: number | undefined;
  const any = (): number => (cached ??= leastThroughUb(tiling).cycles);
  return {
    any,
    of: (tile) =>
      Math.max(Math.ceil(tilesOf(extents, tile) / schedule.cores) * target.storeIssueCycles, any()),
  };
}

/** Returns the minimum number of tiles: a view can also end some tiles early. */
function tilesOf(extents: Shape, tile: Shape): number {
  let tiles = 1;
  for (let d = 0; d < extents.length; d++) tiles *= Math.ceil(at(extents, d) / at(tile, d));
  return tiles;
}

/** Share of the busiest core in the work of all tasks: at least the mean over the busy cores. */
interface Share {
  /** Fraction of the divided work that the core does. */
  readonly share: number;
  /** Tiles of that core. */
  readonly tiles: number;
  /** Busy cores, at least. */
  readonly cores: number;
}

/** Least work of all the tasks of a gather together, besides the work that each tile adds. */
interface Divided {
  /** Runs of memory that the rows of the data are. */
  readonly runs: number;
  readonly rows: number;
  readonly repeats: number;
  /** Bytes of the data that move through the caches. */
  readonly dataBytes: number;
  readonly far: number;
}

/**
 * Returns functions and sizes for the least work of a gather on a target that reads and writes global memory
 * directly (WebGPU or a CPU). Result field `divided`: returns the work of all tasks together. Result fields
 * `busiest` and `all`: return the work of the busiest core, for a given tile and for any tile.
 */
function inPlaceWork({ gather, residency, extents, schedule, target }: Tiling) {
  const { map, operands } = gather;
  const data = at(operands, gatheredTable).type;
  const size = meanBytes(data.dtype);
  const staged = residency === "ub";
  const line = transactionBytes(target);
  /** Number of output elements; `elements` is that number times the reduction elements of each. */
  const written = elementCount(extents);
  const elements = elementCount(walked(map, extents));
  const reached = operands.map(({ role, type }, table) =>
    bytesFor(role === "output" ? written : readTogether(map, table, extents, type.shape), type.dtype),
  );
  const dataReached = at(reached, gatheredTable);
  const others = inputsOf({ operands }).length;
  const otherBytes = reached.reduce((sum, bytes) => sum + bytes) - dataReached;

  /**
   * Returns the least work that all tasks share. `inner`: longest extent of a tile along the innermost dim.
   * `longest`, `shortest`: elements of the longest and of the shortest row of the data that a tile reads.
   */
  function divided(inner: number, longest: number, shortest: number): Divided {
    const row = longest * size;
    // An element of rows of several lengths costs no less than one in a row that fills its lines.
    const isOneLength = shortest === longest;
    const fetched = isOneLength ? alignUp(row, line) / longest : Math.max(size, line / longest);
    const pieces =
      isOneLength && longest > 1
        ? Math.ceil(row / target.vectorBytes) / longest
        : Math.min(1, Math.max(1 / longest, size / target.vectorBytes));
    const lines = staged ? 0 : Math.min(elements * fetched, dataReached) / line;
    return {
      runs: !staged && shortest * size >= line ? elements / longest : 0,
      rows: elements / inner,
      repeats: (elements * pieces) / target.lanes,
      dataBytes: staged ? dataReached : Math.max(elements * size, lines * line),
      far: row < line ? lines : 0,
    };
  }

  function busiest({ runs, rows, repeats, dataBytes, far }: Divided, { share, tiles }: Share): Work {
    // Loads may run beside the gathers of other tasks, but the first gather waits for its own.
    const loaded =
      staged && target.overlaps ? line : Math.max(staged ? line : tiles * line, dataBytes * share);
    return {
      ...noWork,
      instructions: others * tiles + (staged ? 1 : runs * share),
      padded: Math.max(others * tiles * line, otherBytes * share) + loaded,
      rows: Math.max(tiles, rows * share),
      repeats: Math.max(tiles, repeats * share),
      scalars: far * share,
    };
  }

  /** Returns the least work of the busiest core for any tile, as a function of the number of tasks. */
  const all = (): ((tasks: number) => Work) => {
    const longest = rowElements(map, extents, data.shape);
    const work = divided(extents[extents.length - 1] ?? 1, longest, 1);
    return (tasks) => busiest(work, { share: extent / tasks, tiles: 1, cores: tasks });
  };
  // The first of them, whatever the tile: between tiles it decides nothing, and estimates leave it out.
  const wait = staged && target.overlaps ? Math.ceil(target.syncCycles) : 0;
  return { staged, data, divided, busiest, all, wait, cores: schedule.cores };
}

/**
 * Returns the smallest lower bound on cycles over all numbers of tasks from 1 to the number of cores. Result
 * fields: the bound (`cycles`), the number of tasks with this bound (`tasks`), and the busiest core's work
 * (`work`).
 */
function leastTasks({ target }: Tiling, { all, cores }: ReturnType<typeof inPlaceWork>) {
  const workIn = all();
  let best = { cycles: Infinity, tasks: 1, work: noWork };
  for (let tasks = 1; tasks <= cores; tasks++) {
    const work = workIn(tasks);
    const cycles = cyclesOfWork(work, "V", target, tasks, 0) + Math.ceil(tasks * target.taskCycles);
    // It falls, then rises, but for what is rounded.
    if (cycles > best.cycles + 2) break;
    if (cycles < best.cycles) best = { cycles, tasks, work };
  }
  return best;
}

/**
 * Returns the lower bound on the cycles of a gather on a target that reads and writes global memory directly
 * (WebGPU or a CPU). Result field `limit`: the limit whose work alone takes the most cycles.
 */
function leastInPlace(tiling: Tiling): LowerBound {
  const { target } = tiling;
  const counted = inPlaceWork(tiling);
  const { cycles, tasks, work } = leastTasks(tiling, counted);
  const { instructions, padded, bytes, rows, repeats, scalars } = work;
  const alone = (work: Partial<Work>): number => cyclesOfWork({ ...noWork, ...work }, "V", target, tasks, 0);
  const limits: readonly (readonly [LowerBoundLimit, number])[] = [
    ["global memory", alone({ instructions, padded, bytes })],
    ["vector", alone({ rows, repeats })],
    ["scalar", alone({ scalars })],
    ["launch", Math.ceil(tasks * target.taskCycles) + counted.wait],
  ];
  const [limit] = limits.reduce((max, other) => (other[1] > max[1] ? other : max));
  return { cycles: cycles + counted.wait, limit };
}

/**
 * Returns the extent of the shortest tile along a dim. `extent`: extent of the output, which is cut into
 * views of `view` and those into tiles of `tile` elements; extent >= view >= tile.
 */
const shortestAlong = (extent: number, view: number, tile: number): number =>
  Math.min(tile, ...[view % tile, (extent % view) % tile].filter((rest) => rest > 0));

/** Returns the functions of {@link LowerBounds} for a machine that gathers directly in global memory. */
function inPlace(tiling: Tiling): LowerBounds {
  const { gather, extents, schedule, target } = tiling;
  const { map } = gather;
  const work = inPlaceWork(tiling);
  const { staged, data, divided, busiest } = work;
  const dims = followedBy(map, gatheredTable);
  return {
    any: () => leastTasks(tiling, work).cycles + work.wait,
    of(given) {
      let [tiles, tasks] = [1, 1];
      const shortest: number[] = [];
      const tile = extents.map((extent, d) => {
        const view = Math.min(at(schedule.view, d), extent);
        const entry = Math.min(at(given, d), view);
        const along = Math.ceil(extent / entry);
        tiles *= along;
        if (!staged || dims.has(d)) tasks *= along;
        shortest.push(shortestAlong(extent, view, entry));
        return entry;
      });
      const isEven = tile.every((entry, d) => entry === shortest[d]);
      const inRow = rowElements(map, tile, data.shape);
      const inShortest = isEven ? inRow : rowElements(map, shortest, data.shape);
      const work = divided(tile[tile.length - 1] ?? 1, inRow, inShortest);
      const cores = Math.min(tiles, schedule.cores);
      const max = Math.ceil(tiles / cores);
      // Tiles that are alike, one a task: no core has a part of one.
      const fraction = extent * (isEven && tasks === tiles ? max / tiles : 1 / cores);
      const share = { share: fraction, tiles: tiles * fraction, cores: Math.min(tasks, cores) };
      return (
        cyclesOfWork(busiest(work, share), "V", target, share.cores, 0) + Math.ceil(tasks * target.taskCycles)
      );
    },
  };
}
