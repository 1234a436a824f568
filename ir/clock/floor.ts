/**
 * Bounds from below on the clock of a gather, whatever schedule it gets, or whatever view, order and buffers a tile gets: what a
 * search need not look at where something else is known to take no longer. They cost little beside an estimate.
 */
import {
  followedBy,
  followedDims,
  gatheredTable,
  inputTile,
  pickedFrom,
  rowElements,
  walked,
  type AccessMap,
} from "../access.js";
import { outputOf } from "../func.js";
import { targetFacts } from "../target.js";
import type { Tiling } from "../tiling/index.js";
import { alignUp, at, byteCount, bytesFor, elementCount, meanBytes, type Shape } from "../types.js";
import { cyclesOfWork, granule, noWork } from "../tiling/gather-work.js";

/** Cycles that no schedule of a gather with one residency is under. */
export interface Floor {
  /** Whatever the tile; 0 where nothing is known. */
  readonly any: () => number;
  /** Whatever is beside the tile. */
  readonly of: (tile: Shape) => number;
}

/** The floor of the schedules with the residency, the cores, the view and the target of this one. */
export function floorOf(tiling: Tiling): Floor {
  const { gather, target } = tiling;
  if (gather.operands.some(({ type }) => byteCount(type) === 0)) return { any: () => 0, of: () => 0 };
  return targetFacts[target.kind].gathersInPlace ? inPlace(tiling) : throughUb(tiling);
}

/**
 * Memory takes all that is written once; each tile that is stored is a DMA instruction of its core, and so are two rows that are
 * fetched.
 */
function throughUb({ gather, target, schedule, extents, residency }: Tiling): Floor {
  const written = byteCount(outputOf(gather).type) / target.gmBytesPerCycle;
  const rows = residency === "gm" ? elementCount(extents.slice(0, pickedFrom(gather.map))) : 0;
  const least = Math.max(written, ((below * rows) / 2 / schedule.cores) * target.loadStartupCycles);
  return {
    any: () => least,
    of: (tile) =>
      Math.max(Math.ceil(tilesOf(extents, tile) / schedule.cores) * target.storeStartupCycles, least),
  };
}

/** Tiles at least: views end some early. */
function tilesOf(extents: Shape, tile: Shape): number {
  let tiles = 1;
  for (let d = 0; d < extents.length; d++) tiles *= Math.ceil(at(extents, d) / at(tile, d));
  return tiles;
}

/** Keeps a whole number of cycles from being rounded to the next one. */
const below = 1 - 2 ** -40;

/** How the work of all tasks together falls to the core that has most of it, where no core has less than the mean. */
interface Share {
  /** Of what is divided. */
  readonly part: number;
  /** Tiles of that core. */
  readonly tiles: number;
  /** Busy cores, at least. */
  readonly cores: number;
}

/** What all the tasks of a gather do together at least, beside what each tile does. */
interface Divided {
  /** Runs of memory that the rows of the data are. */
  readonly runs: number;
  readonly rows: number;
  readonly repeats: number;
  /** Of the data, as it moves through the caches. */
  readonly dataBytes: number;
  readonly far: number;
}

/**
 * Elements of an input that the tiles of the extents read together at least, however they are cut. 0 where that is not known: tiles that
 * step over elements, and tiles of a dim that two coordinates follow, hold less together than all of it.
 */
function readTogether(map: AccessMap, table: number, extents: Shape, shape: Shape): number {
  const seen = new Set<number>();
  for (const followed of followedDims(map, table)) {
    for (const { by, of } of followed?.form.terms ?? []) {
      if (of.kind !== "dim") continue;
      if (seen.has(of.dim) || Math.abs(by) > 1 + (followed?.spread ?? 0)) return 0;
      seen.add(of.dim);
    }
  }
  return elementCount(inputTile(map, table, walked(map, extents), shape));
}

/**
 * Where a machine gathers in place, each tile is a run of memory of each operand that stays there, and as much as a cache line
 * of it; data that is staged is loaded once at least in each task, before its gather. Beside that, all tasks together read and
 * write every byte that the gather reaches, and gather every element (`direct` of statement.ts). More tasks share that, and
 * take longer to start.
 */
function inPlace({ gather, residency, extents, schedule, target }: Tiling): Floor {
  const { map, operands } = gather;
  const data = at(operands, gatheredTable).type;
  const size = meanBytes(data.dtype);
  const staged = residency === "ub";
  const line = granule(target);
  const elements = elementCount(extents);
  const reached = operands.map(({ role, type }, table) =>
    bytesFor(role === "output" ? elements : readTogether(map, table, extents, type.shape), type.dtype),
  );
  const dataReached = at(reached, gatheredTable);
  const others = operands.length - 1;
  const otherBytes = reached.reduce((sum, bytes) => sum + bytes) - dataReached;
  const follows = followedBy(map, gatheredTable);

  /** `fetched`: bytes of whole lines for each element of a row in place, at least. */
  function divided(
    inner: number,
    inRow: number,
    pieces: number,
    fetched: number,
    row: "line" | "less" | "any",
  ): Divided {
    const lines = staged ? 0 : Math.min(elements * fetched, dataReached) / line;
    return {
      runs: !staged && row === "line" ? elements / inRow : 0,
      rows: elements / inner,
      repeats: (elements * pieces) / target.lanes,
      dataBytes: staged ? dataReached : Math.max(elements * size, lines * line),
      far: row === "less" ? lines : 0,
    };
  }

  function busiest({ runs, rows, repeats, dataBytes, far }: Divided, { part, tiles, cores }: Share): number {
    // Loads may run beside the gathers of other tasks, but the first gather waits for its own.
    const loaded =
      staged && target.overlaps ? line : Math.max(staged ? line : tiles * line, dataBytes * part);
    const work = {
      ...noWork,
      instructions: others * tiles + (staged ? 1 : runs * part),
      padded: Math.max(others * tiles * line, otherBytes * part) + loaded,
      rows: Math.max(tiles, rows * part),
      repeats: Math.max(tiles, repeats * part),
      scalars: far * part,
    };
    return cyclesOfWork(work, "V", target, cores);
  }

  return {
    any() {
      const longest = rowElements(map, extents, data.shape);
      const work = divided(
        extents[extents.length - 1] ?? 1,
        longest,
        Math.min(1, Math.max(1 / longest, size / target.vectorBytes)),
        Math.max(size, line / longest),
        longest * size < line ? "less" : "any",
      );
      // The first of them, whatever the tile: between tiles it decides nothing, and estimates leave it out.
      const wait = staged && target.overlaps ? Math.ceil(target.syncCycles) : 0;
      let least = Infinity;
      for (let tasks = 1; tasks <= schedule.cores; tasks++) {
        const busy = busiest(work, { part: below / tasks, tiles: 1, cores: tasks });
        const cycles = busy + Math.ceil(tasks * target.taskCycles);
        // It falls, then rises, but for what is rounded.
        if (cycles > least + 2) break;
        least = Math.min(least, cycles);
      }
      return least + wait;
    },
    of(given) {
      let [tiles, tasks, whole] = [1, 1, true];
      const tile = extents.map((extent, d) => {
        const view = at(schedule.view, d);
        const entry = Math.min(at(given, d), view, extent);
        const along = Math.ceil(extent / entry);
        tiles *= along;
        if (!staged || follows.has(d)) tasks *= along;
        if (extent % entry !== 0 || (view < extent && view % entry !== 0)) whole = false;
        return entry;
      });
      const inRow = rowElements(map, tile, data.shape);
      const row = inRow * size;
      const work = divided(
        tile[tile.length - 1] ?? 1,
        inRow,
        inRow === 1 ? 1 : Math.ceil(row / target.vectorBytes) / inRow,
        alignUp(row, line) / inRow,
        row < line ? "less" : "line",
      );
      const cores = Math.min(tiles, schedule.cores);
      const most = Math.ceil(tiles / cores);
      // Tiles that are alike, one a task: no core has a part of one.
      const part = below * (whole && tasks === tiles ? most / tiles : 1 / cores);
      return (
        busiest(work, { part, tiles: tiles * part, cores: Math.min(tasks, cores) }) +
        Math.ceil(tasks * target.taskCycles)
      );
    },
  };
}
