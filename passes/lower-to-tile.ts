/**
 * lower-to-tile: the access op becomes loops over output tiles, with memory spaces spelled out.
 *
 *   access.gather … {data_tile = [3, 2], indices_tile = [3, 2]}
 *     →
 *   %data_ub = alloc : ub<3x2xf32, row 32>
 *   for %t1 = 0 to 4 step 2 parallel {
 *     load %data[0, %t1][3, 2] to %data_ub
 *     gather %data_ub[0, 0][3, 2], %indices_ub[0, 0][3, 2] to %output_ub[0, 0][3, 2] …
 *     store %output_ub to %output[0, %t1][3, 2]
 *   }
 *
 * Everything is loaded in the innermost loop; hoist-loads moves what may move. An empty output has no statements.
 */
import {
  followedDims,
  gatheredTable,
  isRead,
  spanOver,
  type AccessMap,
  type Followed,
} from "../ir/access.js";
import { inputsOf, keyOf, type TileFunc } from "../ir/func.js";
import {
  add,
  constant,
  dim,
  dimsOf,
  isConstant,
  iv,
  min,
  scale,
  soleAtom,
  stepAlong,
  sub,
  substitute,
  sumOf,
  withoutDims,
  type Linear,
} from "../ir/linear.js";
import { openMap } from "../ir/symbols/open.js";
import { isResolved } from "../ir/schedule-entries.js";
import { extentsOver, type Symbolic } from "../ir/symbols/symbols.js";
import type { FootprintPart, Loop, Tiling } from "../ir/tiling/index.js";
import type { GatherStmt, Region, Stmt, UbBuffer } from "../ir/tile.js";
import { at, elementCount, invariant } from "../ir/types.js";
import { definePass } from "./pass.js";

/** The access gather becomes a tile program (docs/passes/05-lower-to-tile.md). */
export const lowerToTile = definePass({
  name: "lower-to-tile",
  summary: "loops over output tiles with loads, one gather and stores",
  requires: ["fits-ub"],
  ensures: ["tile"],
  run(func, context) {
    if (func.level !== "access") return func;
    const { schedule } = func;
    invariant(isResolved(schedule), "lower-to-tile runs on a resolved schedule");
    return tileProgram(context.tilings.of(func, schedule));
  },
});

/** The program before loads are hoisted; without addresses and syncs. */
export const tileProgram = (tiling: Tiling): TileFunc => programOf(tiling, tiling.gather.map);

/**
 * The same program for every size that the symbols of its gather may have, with the loops and the buffers that it has at the
 * most: outermost extents are symbols, and tails a minimum.
 */
export function openTileProgram(tiling: Tiling, symbolic: Symbolic): TileFunc {
  const { gather } = tiling;
  const inputs = inputsOf(gather).map(({ type }) => type);
  return { ...programOf(tiling, openMap(symbolic, inputs), symbolic.outermost), symbolic };
}

function programOf(tiling: Tiling, map: AccessMap, outermost: readonly (string | null)[] = []): TileFunc {
  const { name, operands, target, span } = tiling.gather;
  const extents = operands.map(({ type }, k) => extentsOver(type.shape, outermost[k] ?? null));
  return {
    level: "tile",
    name,
    operands,
    schedule: tiling.schedule,
    body: elementCount(tiling.extents) === 0 ? [] : lower(tiling, map, extents),
    ...(target === undefined ? {} : { target }),
    ...(span === undefined ? {} : { span }),
  };
}

const ubName = (name: string): string => `${name}_ub`;
const scratchName = "scratch_ub";

/** `extents`: of each operand, outermost first. */
function lower(tiling: Tiling, map: AccessMap, extents: readonly (readonly Linear[])[]): Stmt[] {
  const { gather, operands } = tiling;
  const bounds = at(extents, extents.length - 1).map((extent, dim) => dimBounds(dim, extent, tiling));
  const global = inputsOf(gather).map(({ name }, table): Region => ({
    buffer: name,
    ...inputRegion(map, table, at(extents, table), bounds),
  }));
  const output = at(operands, operands.length - 1);
  const written: Region = {
    buffer: output.operand.name,
    offsets: bounds.map((b) => b.offset),
    sizes: bounds.map((b) => b.size),
  };
  /** Where the gather finds an operand: its UB tile, from the origin, or global memory. */
  const found = (region: Region, inUb: boolean): Region =>
    inUb
      ? {
          buffer: ubName(region.buffer),
          offsets: region.offsets.map(() => constant(0)),
          sizes: region.sizes,
        }
      : region;
  const buffers = buffersOf(tiling);
  const scratch = buffers.find((buffer) => buffer.name === scratchName);
  const stmt: GatherStmt = {
    op: "gather",
    from: global.map((region, table) => found(region, at(operands, table).inUb)),
    to: found(written, output.inUb),
    map: mapInside(map, global, bounds),
    origins: global.slice(1).map((region) => region.offsets),
    ...(scratch === undefined ? {} : { scratch: scratch.name }),
  };
  const inner: Stmt[] = [
    ...global.flatMap((from, table): Stmt[] =>
      at(operands, table).inUb ? [{ op: "load", from, to: ubName(from.buffer) }] : [],
    ),
    stmt,
    ...(output.inUb ? [{ op: "store", from: ubName(written.buffer), to: written } as const] : []),
  ];
  return [
    ...buffers.map((buffer) => ({ op: "alloc", buffer }) as const),
    ...nest(tiling.loops, bounds, inner),
  ];
}

/** The part of an input that a tile reads: what follows output dims moves with them, the rest is whole. */
function inputRegion(
  map: AccessMap,
  table: number,
  extents: readonly Linear[],
  bounds: readonly DimBounds[],
): Pick<Region, "offsets" | "sizes"> {
  const followed = followedDims(map, table);
  const sizes = bounds.map(({ size }) => size);
  const along = extents.map((extent, k) => {
    const found = followed[k];
    return found === undefined
      ? { offset: constant(0), size: extent }
      : { offset: firstOf(found, bounds), size: spanOver(found, sizes) };
  });
  return { offsets: along.map((b) => b.offset), sizes: along.map((b) => b.size) };
}

/** The least coordinate in a tile: what is taken away counts from the tile's last element. */
const firstOf = ({ form }: Followed, bounds: readonly DimBounds[]): Linear =>
  sumOf([
    withoutDims(form),
    ...dimsOf(form).map((d) => {
      const [{ offset, size }, by] = [at(bounds, d), stepAlong(form, "dim", d)];
      return scale(by > 0 ? offset : add(offset, sub(size, constant(1))), by);
    }),
  ]);

/**
 * The map inside the regions of a tile: dims count from where the tile starts, coordinates from where the region of their
 * input does.
 */
function mapInside(map: AccessMap, regions: readonly Region[], bounds: readonly DimBounds[]): AccessMap {
  // What is known of a map is known by its identity.
  if (staysInside(map)) return map;
  const dims = bounds.map(({ offset }, d) => add(dim(d), offset));
  const placed = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "dim" ? at(dims, of.dim) : undefined));
  const within = (coords: readonly Linear[], table: number): Linear[] =>
    coords.map((coord, k) => sub(placed(coord), at(at(regions, table).offsets, k)));
  return {
    ...map,
    sites: map.sites.map((site) => {
      const { value } = site;
      return {
        ...site,
        value: isRead(value) ? { ...value, at: within(value.at, value.table) } : placed(value),
      };
    }),
    results: within(map.results, gatheredTable),
  };
}

/** Whether every coordinate is a dim that its region moves with, or follows none. */
function staysInside(map: AccessMap): boolean {
  const stay = (coords: readonly Linear[], table: number): boolean => {
    const followed = followedDims(map, table);
    return coords.every((coord, k) =>
      soleAtom(coord)?.kind === "dim" ? followed[k]?.spread === 0 : dimsOf(coord).length === 0,
    );
  };
  return (
    stay(map.results, gatheredTable) &&
    map.sites.every(({ value }) => (isRead(value) ? stay(value.at, value.table) : dimsOf(value).length === 0))
  );
}

/** One buffer for each part of the footprint. */
function buffersOf(tiling: Tiling): UbBuffer[] {
  const { gather, footprint } = tiling;
  const nameOf = ({ part }: FootprintPart): string => {
    const operand = gather.operands.find((own) => keyOf(own) === part);
    return operand === undefined ? scratchName : ubName(operand.name);
  };
  return footprint.parts.map((part) => ({
    name: nameOf(part),
    dtype: part.dtype,
    shape: part.tile,
    rowBytes: part.rowBytes,
    buffers: part.buffers,
  }));
}

interface DimBounds {
  /** Where the tile starts and how much of it exists, in elements. */
  readonly offset: Linear;
  readonly size: Linear;
  readonly viewRange: readonly [Linear, Linear];
  readonly tileRange: readonly [Linear, Linear];
}

function dimBounds(dim: number, extent: Linear, { extents, tile, schedule, loops }: Tiling): DimBounds {
  const view = Math.min(at(schedule.view, dim), at(extents, dim));
  const step = at(tile, dim);
  const hasView = loops.some((loop) => loop.dim === dim && loop.kind === "view");
  const hasTile = loops.some((loop) => loop.dim === dim && loop.kind === "tile");
  const viewStart = hasView ? iv(`v${dim}`) : constant(0);
  const viewEnd = !hasView
    ? extent
    : isMultiple(extent, view)
      ? add(viewStart, constant(view))
      : min(add(viewStart, constant(view)), extent);
  const offset = hasTile ? iv(`t${dim}`) : viewStart;
  // Every view ends on a tile's end: all tiles are whole.
  const whole = view % step === 0 && isMultiple(extent, step);
  const alone = isConstant(extent) && !hasView && !hasTile;
  const size = whole || alone ? constant(step) : min(constant(step), sub(viewEnd, offset));
  return { offset, size, viewRange: [constant(0), extent], tileRange: [viewStart, viewEnd] };
}

/** At every size. */
const isMultiple = (extent: Linear, of: number): boolean => isConstant(extent) && extent.at % of === 0;

function nest(loops: readonly Loop[], bounds: readonly DimBounds[], inner: readonly Stmt[]): readonly Stmt[] {
  const [loop, ...rest] = loops;
  if (loop === undefined) return inner;
  const dim = at(bounds, loop.dim);
  const [lower, upper] = loop.kind === "view" ? dim.viewRange : dim.tileRange;
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
