/** Bounds of the tiles of a schedule, and the loops over them. */
import { followedDims, mapForms, spanOver, type AccessMap, type Followed } from "../ir/access.js";
import {
  add,
  constant,
  dim,
  dimsOf,
  equalLinear,
  isConstant,
  iv,
  min,
  scale,
  stepAlong,
  sub,
  substitute,
  sumOf,
  withoutDims,
  type Linear,
} from "../ir/linear.js";
import type { Loop, Tiling } from "../ir/tiling/index.js";
import type { Region, Stmt } from "../ir/tile.js";
import { at } from "../ir/types.js";

/**
 * Bounds of a tile along one dim, in elements. `offset`: the first element of the tile. `size`: the number of
 * elements within the extent of the dim.
 */
export interface TileBounds {
  readonly offset: Linear;
  readonly size: Linear;
}

/**
 * Bounds of a tile along one dim, and the ranges of two loops: over the views, and over the tiles of one
 * view. A range is a lower bound and an exclusive upper bound, in elements.
 */
export interface DimBounds extends TileBounds {
  readonly viewRange: readonly [Linear, Linear];
  readonly tileRange: readonly [Linear, Linear];
}

/**
 * Partition of one dim of the output (of the domain, for a scatter) into tiles, in elements. `limit`: the
 * extent to partition. `step`: size of a tile.
 */
export interface Cut {
  readonly limit: number;
  readonly step: number;
}

/**
 * Returns the offsets and sizes, in elements, of the region that a tile reads from one input. `table`: index
 * of the input. Dims that do not depend linearly on output dims are read in full.
 */
export function inputRegion(
  map: AccessMap,
  table: number,
  extents: readonly Linear[],
  bounds: readonly TileBounds[],
): Pick<Region, "offsets" | "sizes"> {
  const followed = followedDims(map, table);
  const sizes = bounds.map(({ size }) => size);
  const along = extents.map((extent, k) => {
    const loop = followed[k];
    if (loop === undefined) return { offset: constant(0), size: extent };
    const size = spanOver(loop, sizes);
    // An empty tile has no first coordinate.
    return { offset: equalLinear(size, constant(0)) ? size : firstOf(loop, bounds), size };
  });
  return { offsets: along.map((b) => b.offset), sizes: along.map((b) => b.size) };
}

/** Returns the least coordinate in a tile: what is taken away counts from the tile's last element. */
const firstOf = ({ form }: Followed, bounds: readonly TileBounds[]): Linear =>
  sumOf([
    withoutDims(form),
    ...dimsOf(form).map((d) => {
      const [{ offset, size }, by] = [at(bounds, d), stepAlong(form, "dim", d)];
      return scale(by > 0 ? offset : add(offset, sub(size, constant(1))), by);
    }),
  ]);

/** Returns the region of a buffer that a tile covers. */
export const regionOver = (buffer: string, bounds: readonly TileBounds[]): Region => ({
  buffer,
  offsets: bounds.map(({ offset }) => offset),
  sizes: bounds.map(({ size }) => size),
});

/** Returns the region at the start of the UB tile `buffer`; the region itself if there is no such tile. */
export const inUbTile = (region: Region, buffer: string | undefined): Region =>
  buffer === undefined
    ? region
    : { buffer, offsets: region.offsets.map(() => constant(0)), sizes: region.sizes };

/**
 * Returns an access map for the inside of a tile. Dims then count from the tile's first element, and
 * coordinates from the first element of the region in which they lie. `regions`: by operand.
 */
export function mapInTile(
  map: AccessMap,
  regions: readonly Region[],
  bounds: readonly TileBounds[],
): AccessMap {
  const dims = bounds.map(({ offset }, d) => add(dim(d), offset));
  const placed = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "dim" ? at(dims, of.dim) : undefined));
  return mapForms(map, placed, ({ table, at: coords }) =>
    coords.map((coord, k) => sub(placed(coord), at(at(regions, table).offsets, k))),
  );
}

/**
 * Returns the bounds of a tile along dim `d` of the output (of the domain, for a scatter), in elements. The
 * result also has the ranges of the loops over views and over the tiles of a view.
 */
export function dimBounds(
  d: number,
  extent: Linear,
  { limit, step }: Cut,
  { schedule, loops }: Pick<Tiling, "schedule" | "loops">,
): DimBounds {
  const view = Math.min(at(schedule.view, d), limit);
  const hasView = loops.some((loop) => loop.dim === d && loop.kind === "view");
  const hasTile = loops.some((loop) => loop.dim === d && loop.kind === "tile");
  const viewStart = hasView ? iv(`v${d}`) : constant(0);
  const end = add(viewStart, constant(view));
  const viewEnd = view === limit ? extent : isMultiple(extent, view) ? end : min(end, extent);
  const offset = hasTile ? iv(`t${d}`) : viewStart;
  // Every view ends on a tile's end: all tiles are whole.
  const isEven = view % step === 0 && isMultiple(extent, step);
  const alone = isConstant(extent) && !hasView && !hasTile;
  const size = isEven || alone ? constant(step) : min(constant(step), sub(viewEnd, offset));
  return { offset, size, viewRange: [constant(0), extent], tileRange: [viewStart, viewEnd] };
}

/** At every size. */
const isMultiple = (extent: Linear, of: number): boolean => isConstant(extent) && extent.at % of === 0;

/**
 * Returns the statements `inner` inside the loops over views and tiles in `loops`, outermost first; `inner`
 * itself if there are no loops. `bounds`: for each dim of the output (of the domain, for a scatter), the
 * ranges of its loops.
 */
export function nest(
  loops: readonly Loop[],
  bounds: readonly DimBounds[],
  inner: readonly Stmt[],
): readonly Stmt[] {
  const [loop, ...rest] = loops;
  if (loop === undefined) return inner;
  const { viewRange, tileRange } = at(bounds, loop.dim);
  const [lower, upper] = loop.kind === "view" ? viewRange : tileRange;
  const variable = `${loop.kind === "view" ? "v" : "t"}${loop.dim}`;
  return [
    {
      op: "for",
      iv: variable,
      lower,
      upper,
      step: loop.step,
      mode: loop.mode,
      body: nest(rest, bounds, inner),
    },
  ];
}
