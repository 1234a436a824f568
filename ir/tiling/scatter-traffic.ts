/**
 * Global-memory traffic of a scatter in closed form. Exact for what passes through UB. What is read in place,
 * and the rows that points write to global memory, are counted as if every point had an element: a point that
 * is skipped moves none.
 */
import { cutBy, elementsRead, gatheredTable, indexed, inputTile, walked, type AccessMap } from "../access.js";
import { keyOf, outputOf, isInPlace, type Operand } from "../func.js";
import { soleAtom } from "../linear.js";
import { at, bytesFor, contiguousRun, elementCount, meanBytes, type Shape } from "../types.js";
import { baseOf, isTable, type BaseCopy, type ScatterTiling } from "./scatter-tiling.js";
import type { OperandTraffic, Traffic } from "./traffic.js";

/**
 * Group of equal tiles along one dim of a scatter's domain. `count`: number of tiles. `size`: points of a
 * tile along the dim. `rest`: output elements beyond the domain that a tile copies from the base.
 */
export interface LikeTiles {
  readonly count: number;
  readonly size: number;
  readonly rest: number;
}

/**
 * Returns the distinct extents of tiles along one dim, in points, with the number of tiles of each extent. A
 * dim of extent 0 has one tile of extent 0.
 */
function sizesOf(extent: number, view: number, tile: number): readonly Omit<LikeTiles, "rest">[] {
  if (extent === 0) return [{ count: 1, size: 0 }];
  const counts = new Map<number, number>();
  const count = (size: number, times: number): void => {
    if (size > 0 && times > 0) counts.set(size, (counts.get(size) ?? 0) + times);
  };
  // The last view may be shorter, and end in a tile as long as those of other views.
  const views = [
    { length: view, times: Math.floor(extent / view) },
    { length: extent % view, times: 1 },
  ];
  for (const { length, times } of views) {
    count(tile, times * Math.floor(length / tile));
    count(length % tile, times);
  }
  return [...counts].map(([size, times]) => ({ size, count: times }));
}

/**
 * Returns the tiles along dim `d` of a scatter's domain, grouped by extent and by the number of base elements
 * to copy.
 */
function tilesAlongDim({ scatter, schedule, tile, tasks }: ScatterTiling, d: number): readonly LikeTiles[] {
  const extent = at(scatter.map.domain, d);
  const view = Math.max(1, Math.min(schedule.view[d] ?? extent, extent));
  const entry = at(tile, d);
  const all = sizesOf(extent, view, entry);
  const { rest, restOfEach: each } = tasks.get(d) ?? { rest: 0, restOfEach: 0 };
  if (rest === 0) return all.map((one) => ({ ...one, rest: 0 }));
  // The tile in which the share of the points ends, and those before it.
  const last = Math.floor(rest / each);
  const inView = last - (last % view);
  const start = inView + (last - inView) - ((last - inView) % entry);
  const before = start === 0 ? [] : sizesOf(start, view, entry);
  const straddling = Math.min(entry, inView + view - start, extent - start);
  const countBefore = (size: number): number =>
    before.reduce((sum, one) => sum + (one.size === size ? one.count : 0), 0);
  return [
    ...before.map((one) => ({ ...one, rest: each * one.size })),
    ...(straddling > 0 ? [{ count: 1, size: straddling, rest: rest - each * start }] : []),
    ...all.map(({ count, size }) => ({
      count: count - countBefore(size) - (size === straddling ? 1 : 0),
      size,
      rest: 0,
    })),
  ].filter(({ count }) => count > 0);
}

/**
 * Yields combinations of tile groups, one group for each dim of a scatter's domain, with the number of tiles
 * in the combination (`count`). Dims in `dims` take each of their groups in turn; all other dims take the
 * first group and count as one tile.
 */
function* choices(
  along: readonly (readonly LikeTiles[])[],
  dims: ReadonlySet<number>,
  count = 1,
  chosen: readonly LikeTiles[] = [],
): Generator<{ readonly count: number; readonly tiles: readonly LikeTiles[] }> {
  const d = chosen.length;
  const here = along[d];
  if (here === undefined) {
    yield { count, tiles: chosen };
    return;
  }
  for (const tiles of dims.has(d) ? here : here.slice(0, 1))
    yield* choices(along, dims, dims.has(d) ? count * tiles.count : count, [...chosen, tiles]);
}

/** Elements that are moved, in so many transfers. */
interface Transferred {
  readonly elements: number;
  readonly transfers: number;
}

const nothing: Transferred = { elements: 0, transfers: 0 };
const both = (a: Transferred, b: Transferred): Transferred => ({
  elements: a.elements + b.elements,
  transfers: a.transfers + b.transfers,
});

/**
 * Returns the traffic of a scatter between global memory and the cores, by operand and in total, in bytes and
 * transfers.
 */
export function scatterTraffic(tiling: ScatterTiling): Traffic {
  const { scatter, loops, tile, written, isLoaded, copies } = tiling;
  const { map, operands } = scatter;
  const { domain } = map;
  const along = domain.map((_, d) => tilesAlongDim(tiling, d));
  const over = (dims: ReadonlySet<number>, of: (tiles: readonly LikeTiles[]) => Transferred): Transferred => {
    let sum = nothing;
    for (const { count, tiles } of choices(along, dims)) {
      const { elements, transfers } = of(tiles);
      sum = both(sum, { elements: count * elements, transfers: count * transfers });
    }
    return sum;
  };
  const counts = along.map((tiles) => tiles.reduce((sum, { count }) => sum + count, 0));
  const count = (dims: ReadonlySet<number>): number =>
    [...dims].reduce((product, d) => product * at(counts, d), 1);
  const parallel = new Set(loops.flatMap(({ dim, mode }) => (mode === "parallel" ? [dim] : [])));
  const every = new Set(loops.map(({ dim }) => dim));
  const spaceOf = (tiles: readonly LikeTiles[]): Shape =>
    walked(
      map,
      tiles.map(({ size }) => size),
    );
  const points = elementCount(domain);
  const ofTable = ({ type }: Operand, table: number): Transferred => {
    if (!isTable(scatter, table)) return nothing;
    if (!tiling.tiles.some(({ operand }) => operand === table))
      return over(every, (tiles) => ({
        elements: elementsRead(map, table, spaceOf(tiles), type.shape),
        transfers: 1,
      }));
    const cut = cutBy(map, table);
    const last = loops.findLastIndex(({ dim, mode }) => mode === "serial" && cut.has(dim));
    const around = new Set([...parallel, ...loops.slice(0, last + 1).map(({ dim }) => dim)]);
    return over(around, (tiles) => ({
      elements: elementCount(inputTile(map, table, spaceOf(tiles), type.shape)),
      transfers: 1,
    }));
  };
  const region = over(parallel, (tiles) => ({
    elements: elementCount(extentsOf(tiling, tiles)),
    transfers: 1,
  }));
  const copied = copies
    .map((copy) => over(parallel, (tiles) => copiedOf(tiling, copy, tiles)))
    .reduce(both, nothing);
  const hasElements = elementCount(outputOf(scatter).type.shape) > 0;
  const stored = isLoaded ? region : hasElements ? { elements: points, transfers: count(every) } : nothing;
  const based = typeof baseOf(scatter) === "string" ? nothing : both(isLoaded ? region : nothing, copied);
  const compulsory = compulsoryElements(scatter);
  const traffic = operands.map((operand, place): OperandTraffic => {
    const { dtype, shape } = operand.type;
    const isOutput = operand.role === "output";
    const isBase = place === gatheredTable && typeof baseOf(scatter) !== "string";
    const table = isOutput ? both(stored, copied) : ofTable(operand, place);
    const { elements, transfers } = isBase ? both(table, based) : table;
    const inRow =
      isOutput || isBase
        ? isLoaded
          ? written
          : [rowPoints(map, tile)]
        : inputTile(map, place, walked(map, tile), shape);
    return {
      operand: keyOf(operand),
      role: operand.role,
      bytes: Math.ceil(elements * meanBytes(dtype)),
      compulsory: bytesFor(at(compulsory, place), dtype),
      transfers,
      burst: bytesFor(
        inRow.length === shape.length ? contiguousRun(inRow, shape) : elementCount(inRow),
        dtype,
      ),
    };
  });
  return {
    operands: traffic,
    bytes: traffic.reduce((sum, { bytes }) => sum + bytes, 0),
    compulsory: traffic.reduce((sum, one) => sum + one.compulsory, 0),
    tasks: count(parallel),
    tiles: count(every),
    loops,
  };
}

/** Returns the extents of the region of the output that the task of some tiles writes. */
function extentsOf({ written, tasks }: ScatterTiling, tiles: readonly LikeTiles[]): Shape {
  const extents = [...written];
  for (const [d, { output }] of tasks) extents[output] = at(tiles, d).size;
  return extents;
}

/**
 * Returns the number of elements that a task copies from the base (the scatter's initial output) to one
 * region, and the number of transfers.
 */
function copiedOf(
  tiling: ScatterTiling,
  { after, shape }: BaseCopy,
  tiles: readonly LikeTiles[],
): Transferred {
  const extents = [...extentsOf(tiling, tiles)];
  for (const [d, { output }] of tiling.tasks) if (after.includes(d)) extents[output] = at(tiles, d).rest;
  const regions = extents.map((extent, k) => Math.ceil(extent / at(shape, k)));
  return { elements: elementCount(extents), transfers: elementCount(regions) };
}

/**
 * Returns the number of consecutive points of a scatter's tile that write contiguous elements; at least 1.
 * `sizes`: extents of the tile, in points.
 */
export function rowPoints(map: AccessMap, sizes: Shape): number {
  const inner = sizes.length - 1;
  const last = map.write.at.at(-1);
  const only = last === undefined ? undefined : soleAtom(last);
  return only?.kind === "dim" && only.dim === inner && !indexed(map).has(inner) ? at(sizes, inner) : 1;
}

/** Returns the minimum number of elements of each operand of a scatter that every schedule must transfer. */
export function compulsoryElements({
  map,
  operands,
}: Pick<ScatterTiling["scatter"], "map" | "operands">): readonly number[] {
  const output = elementCount(outputOf({ operands }).type.shape);
  const inPlace = isInPlace({ operands });
  const points = elementCount(map.domain);
  const hasBase = map.write.base !== undefined && "operand" in map.write.base;
  return operands.map(({ role, type }, place) => {
    if (role === "output") return inPlace ? Math.min(points, output) : output;
    if (place === gatheredTable && hasBase) return inPlace ? 0 : output;
    return points === 0 ? 0 : elementsRead(map, place, walked(map, map.domain), type.shape);
  });
}
