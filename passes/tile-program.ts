/**
 * The tile program that a tiling stands for, before loads are hoisted: loops over output tiles, with memory
 * spaces spelled out. Everything is loaded in the innermost loop. An empty output has no tasks (`emptyBody`).
 */
import { defined } from "../ir/defined.js";
import { followedDims, gatheredTable, isRead, type AccessMap, type Read } from "../ir/access.js";
import { emptyBody } from "../ir/addressing.js";
import { outputPlace, inputsOf, type TileFunc } from "../ir/func.js";
import { add, constant, dimsOf, iv, min, soleAtom, sub, type Linear } from "../ir/linear.js";
import { dynamicMap } from "../ir/symbols/dynamic.js";
import { extentsOver, type Symbolic } from "../ir/symbols/symbols.js";
import { entryLimits, soleDim, type FootprintUse, type Tiling } from "../ir/tiling/index.js";
import type { ForStmt, GatherStmt, ReductionChunk, Region, Stmt, UbBuffer } from "../ir/tile.js";
import { at, elementCount, invariant } from "../ir/types.js";
import { UniqueNames } from "../ir/unique-names.js";
import {
  dimBounds,
  inputRegion,
  inUbTile,
  mapInTile,
  nest,
  regionOver,
  type DimBounds,
  type TileBounds,
} from "./tile-bounds.js";
import { dynamicScatterProgram, scatterProgram } from "./scatter-program.js";

/**
 * Returns the tile program of a tiling before the later passes: loads are not hoisted, buffers have no
 * addresses, and there are no syncs.
 */
export const tileProgram = (tiling: Tiling): TileFunc =>
  tiling.scatter === undefined ? programOf(tiling, tiling.gather.map) : scatterProgram(tiling.scatter);

/**
 * Returns one tile program for all sizes of a program's symbols (dynamic sizes). Tiles and buffers are sized
 * for the largest sizes. Undefined for a scatter whose domain has no points, or a dynamic size after the
 * outermost.
 */
export function dynamicTileProgram(tiling: Tiling, symbolic: Symbolic): TileFunc | undefined {
  const { operands } = tiling.gather;
  const map = dynamicMap(
    symbolic,
    operands.map(({ type }) => type),
  );
  const program =
    tiling.scatter === undefined
      ? programOf(tiling, map, symbolic.outermost)
      : dynamicScatterProgram(tiling.scatter, map, symbolic);
  return program === undefined ? undefined : { ...program, symbolic };
}

/**
 * Returns the tile program that computes an access map under a tiling. `outermost`: for each operand, the
 * symbol of the outermost extent, or null for a fixed extent.
 */
function programOf(tiling: Tiling, map: AccessMap, outermost: readonly (string | null)[] = []): TileFunc {
  const { name, operands, target, span } = tiling.gather;
  const extents = operands.map(({ type }, k) => extentsOver(type.shape, outermost[k] ?? null));
  return {
    level: "tile",
    name,
    operands,
    schedule: tiling.schedule,
    body:
      elementCount(tiling.extents) === 0 ? emptyBody(map, operands, extents) : lower(tiling, map, extents),
    ...defined({ target, span }),
  };
}

/**
 * Returns the statements of the tile program that computes an access map under a tiling. `extents`: extents
 * of each operand in elements, outermost dim first.
 */
function lower(tiling: Tiling, map: AccessMap, extents: readonly (readonly Linear[])[]): Stmt[] {
  const { gather, operands } = tiling;
  const outputAt = outputPlace(gather);
  const bounds = at(extents, outputAt).map((extent, dim) =>
    dimBounds(dim, extent, { limit: at(tiling.extents, dim), step: at(tiling.tile, dim) }, tiling),
  );
  const names = new UniqueNames(gather.operands.map(({ name }) => name));
  const tiles = tilesOf(tiling, names);
  /** Returns the tile of an operand in UB; undefined for one in global memory. */
  const tileOf = (operand: number): string | undefined => {
    if (!at(operands, operand).inUb) return undefined;
    const tile = tiles.find(({ use }) => typeof use !== "string" && use.operand === operand);
    invariant(tile !== undefined, `operand ${operand} has a tile in UB`);
    return tile.buffer.name;
  };
  const named = (isWanted: (use: FootprintUse) => boolean): readonly string[] =>
    tiles.filter(({ use }) => isWanted(use)).map(({ buffer }) => buffer.name);
  const reductionTile = reductionTileOf(tiling, map, names);
  const space = [...bounds, ...(reductionTile === undefined ? [] : [reductionTile.bounds])];
  const cutSpace = [...cutBounds(tiling, bounds, at(extents, gatheredTable)), ...space.slice(bounds.length)];
  const global = inputsOf(gather).map(({ name }, table): Region => ({
    buffer: name,
    ...inputRegion(map, table, at(extents, table), table === gatheredTable ? cutSpace : space),
  }));
  const output = at(operands, outputAt);
  const written = regionOver(output.operand.name, bounds);
  const outputTile = tileOf(outputAt);
  const chunk =
    reductionTile?.chunk === undefined
      ? undefined
      : { ...reductionTile.chunk, into: named((use) => use === "sum") };
  const scratch = named((use) => typeof use === "string" && (use !== "sum" || chunk === undefined));
  const inside = mapInside(map, [...global, written], space);
  const stmt: GatherStmt = {
    op: "gather",
    from: global.map((region, table) => inUbTile(region, tileOf(table))),
    to: inUbTile(written, outputTile),
    ...defined({ chunk }),
    map: reductionTile === undefined ? inside : withReductionTile(inside, tiling.reductionTile),
    origins: global.slice(1).map((region) => region.offsets),
    ...(scratch.length === 0 ? {} : { scratch }),
  };
  const run: Stmt[] = [
    ...global.flatMap((from, table): Stmt[] => {
      const to = tileOf(table);
      return to === undefined ? [] : [{ op: "load", from, to }];
    }),
    stmt,
  ];
  const inner: Stmt[] = [
    ...(reductionTile?.loop === undefined ? run : [{ ...reductionTile.loop, body: run }]),
    ...(outputTile === undefined ? [] : [{ op: "store", from: outputTile, to: written } as const]),
  ];
  return [
    ...tiles.map(({ buffer }) => ({ op: "alloc", buffer }) as const),
    ...nest(
      tiling.loops.filter((loop) => loop.dim < bounds.length),
      bounds,
      inner,
    ),
  ];
}

/** Returns the map where so many terms are taken in at once. */
const withReductionTile = (map: AccessMap, elements: number): AccessMap =>
  map.reduced === undefined || map.reduced.max === elements
    ? map
    : { ...map, reduced: { ...map.reduced, max: elements } };

/** The terms of a run, and the loop over runs where one has not all of them. */
interface ReductionTile {
  readonly bounds: TileBounds;
  readonly chunk?: Omit<ReductionChunk, "into">;
  readonly loop?: Omit<ForStmt, "body">;
}

/**
 * Returns the range of reduction elements that are loaded together, and the serial loop over such ranges
 * (chunks) if there are several. Undefined if the map has no reduction.
 */
function reductionTileOf(
  { reductionTile }: Tiling,
  { reduced }: AccessMap,
  names: UniqueNames,
): ReductionTile | undefined {
  if (reduced === undefined) return undefined;
  const { max, segment } = reduced;
  if (reductionTile >= max) return { bounds: fullDim(max) };
  const name = names.next("r");
  const [from, of] = [iv(name), constant(max)];
  const to = min(add(from, constant(reductionTile)), of);
  const size =
    max % reductionTile === 0 ? constant(reductionTile) : min(constant(reductionTile), sub(of, from));
  return {
    // In a bag, r is the place in its list, which no region follows.
    bounds: segment === undefined ? { offset: from, size } : fullDim(reductionTile),
    chunk: { from, to, of: max },
    loop: { op: "for", iv: name, lower: constant(0), upper: of, step: reductionTile, mode: "serial" },
  };
}

/** Returns {@link mapInTile}, or the map itself if it holds unchanged in the tile. */
function mapInside(map: AccessMap, regions: readonly Region[], bounds: readonly TileBounds[]): AccessMap {
  // What is known of a map is known by its identity.
  return staysInside(map) ? map : mapInTile(map, regions, bounds);
}

/**
 * True if an access map also holds, unchanged, with coordinates that count from the start of a tile and of
 * its input regions. Each read coordinate must then contain no output dim, or be exactly one output dim along
 * which the input region moves with the tile.
 */
function staysInside(map: AccessMap): boolean {
  const stay = ({ table, at: coords }: Read): boolean => {
    const followed = followedDims(map, table);
    return coords.every((coord, k) =>
      soleAtom(coord)?.kind === "dim" ? followed[k]?.spread === 0 : dimsOf(coord).length === 0,
    );
  };
  return (
    map.reads.every(stay) &&
    map.indices.every(({ value }) => (isRead(value) ? stay(value) : dimsOf(value).length === 0))
  );
}

/** A buffer in UB, and what it is for. */
interface UbTile {
  readonly use: FootprintUse;
  readonly buffer: UbBuffer;
}

/**
 * Returns a buffer for each part of what the kernel takes, under names of their own. PyPTO's scratch is none.
 */
const tilesOf = ({ gather, footprint }: Tiling, names: UniqueNames): readonly UbTile[] =>
  footprint.parts
    .filter(({ use }) => use !== "scratch")
    .map(({ use, part, dtype, tile, rowBytes, buffers }) => {
      const name = typeof use === "string" ? part : at(gather.operands, use.operand).name;
      return { use, buffer: { name: names.next(`${name}_ub`), dtype, shape: tile, rowBytes, buffers } };
    });

const fullDim = (size: number): TileBounds => ({ offset: constant(0), size: constant(size) });

/**
 * Returns bounds, in elements, along each output dim; the part of the data that a tile loads follows from
 * them. The bounds are usually those of the tile. If a framework's gather loads its data to the unified
 * buffer (UB), the data's extent limits the bounds along dims on which a data coordinate depends.
 */
function cutBounds(
  tiling: Tiling,
  bounds: readonly DimBounds[],
  data: readonly Linear[],
): readonly TileBounds[] {
  const { gather, operands, cut } = tiling;
  if (gather.framework === undefined || !at(operands, gatheredTable).inUb) return bounds;
  const limits = entryLimits(gather);
  const followed = followedDims(gather.map, gatheredTable);
  return bounds.map((bound, d) => {
    const k = followed.findIndex((along) => along !== undefined && soleDim(along) === d);
    return k === -1 ? bound : dimBounds(d, at(data, k), { limit: at(limits, d), step: at(cut, d) }, tiling);
  });
}
