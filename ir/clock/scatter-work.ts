/**
 * Work of a scatter statement on its pipe. In UB the scalar unit takes the points one by one; in global
 * memory each row of points that lie together is a store. That several stores of one address wait for each
 * other is not modelled.
 */
import { indexDims, isRead, walked, type AccessMap } from "../access.js";
import { inputOf, outputOf, type TileFunc } from "../func.js";
import { isParam } from "../regions.js";
import { targetFacts, type Target } from "../target.js";
import { touchedBy, transactionBytes } from "../tiling/gather-work.js";
import { rowPoints } from "../tiling/scatter-traffic.js";
import { firstTable, type ScatterStmt } from "../tile.js";
import { alignUp, at, elementCount, meanBytes, type Shape } from "../types.js";
import { operationsIn } from "../values/expression.js";
import { noWork, type Work } from "./work.js";

/** Properties of a scatter from which the work (instruction and byte counts) of a tile is computed. */
export interface ScatterSetting {
  readonly func: Pick<TileFunc, "operands">;
  readonly map: AccessMap;
  /** True if points are written to global memory. */
  readonly writesGm: boolean;
  /** True if an input is read in global memory. */
  readonly readsGm: (table: number) => boolean;
}

/**
 * Returns the properties of a scatter statement from which the work (instruction and byte counts) of a tile
 * is computed.
 */
export function scatterSetting(stmt: ScatterStmt, func: TileFunc): ScatterSetting {
  const first = firstTable(stmt, func.operands.length - 1);
  return {
    func,
    map: stmt.map,
    writesGm: isParam(func, stmt.to.buffer),
    readsGm: (table) => table >= first && isParam(func, at(stmt.from, table - first).buffer),
  };
}

/** 8 bytes move through the scalar unit as words of 4. */
const wordsOf = (bytes: number): number => Math.max(1, bytes / 4);

/** Counts of a scatter's work. */
type Counts = { -readonly [Name in keyof Work]: Work[Name] };

/**
 * Returns the work of a scatter on one tile: counts of instructions, accesses and bytes. `sizes`: extents of
 * the tile, in points.
 */
export function scatterWork(setting: ScatterSetting, sizes: Shape, target: Target): Work {
  if (elementCount(sizes) === 0) return noWork;
  const counts: Counts = { ...noWork };
  addReads(counts, setting, sizes, target);
  addWrites(counts, setting, sizes, target);
  return counts;
}

/**
 * Adds the work of a scatter's reads and value computation on one tile to `counts`. `sizes`: extents of the
 * tile, in points.
 */
function addReads(counts: Counts, setting: ScatterSetting, sizes: Shape, target: Target): void {
  const { map } = setting;
  const space = walked(map, sizes);
  map.indices.forEach(({ value }, s) => {
    if (!isRead(value)) return;
    // Inside of the last dim that it depends on, an index value is kept.
    const inner = Math.max(-1, ...indexDims(map, s)) + 1;
    addAccess(
      counts,
      setting,
      { table: value.table, times: elementCount(space.slice(0, inner)), isIndex: true },
      target,
    );
  });
  const points = elementCount(space);
  for (const { table } of map.reads)
    addAccess(counts, setting, { table, times: points, isIndex: false }, target);
  counts.scalars += points * operationsIn(map.value);
}

/** Accesses of an input by a tile. */
interface Accesses {
  readonly table: number;
  readonly times: number;
  readonly isIndex: boolean;
}

/** Adds the work of a tile's accesses of one input to `counts`. */
function addAccess(
  counts: Counts,
  { func, writesGm, readsGm }: ScatterSetting,
  { table, times, isIndex }: Accesses,
  target: Target,
): void {
  const { dmaEngine } = targetFacts[target.kind];
  const { type } = inputOf(func, table);
  const size = meanBytes(type.dtype);
  if (readsGm(table)) {
    const bytes = times * size;
    counts.bytes += bytes;
    if (dmaEngine) {
      counts.gmScalars += times;
      counts.touched += times * touchedBy(size, { type }, target);
    } else {
      // Each tile begins with a run of memory of its own.
      counts.instructions += 1;
      counts.padded += bytes;
      counts.touched += bytes;
    }
  } else if (!writesGm || !dmaEngine) counts.scalars += times * wordsOf(size);
  // Rows of updates go from UB to global memory as they are, each named by an index value.
  else if (isIndex) counts.rowIndices += times;
}

/** Adds the work of a scatter's writes on one tile to `counts`. `sizes`: extents of the tile, in points. */
function addWrites(
  counts: Counts,
  { func, map, writesGm }: ScatterSetting,
  sizes: Shape,
  target: Target,
): void {
  const { type } = outputOf(func);
  const size = meanBytes(type.dtype);
  const points = elementCount(sizes);
  // A combination reads the element first, and is an operation.
  const isCombined = map.write.combine !== "set";
  if (!writesGm) {
    counts.scalars += points * (wordsOf(size) * (isCombined ? 2 : 1) + (isCombined ? 1 : 0));
    return;
  }
  const inRow = rowPoints(map, sizes);
  const rows = points / inRow;
  counts.instructions += rows;
  counts.bursts += rows;
  counts.padded += rows * alignUp(inRow * size, transactionBytes(target));
  counts.bytes += points * size;
  counts.touched += rows * touchedBy(inRow * size, { type }, target);
}
