/**
 * Runs of a gather that take in the terms of its elements part by part, joined to one with all terms:
 * machines that keep sums in registers have no use for parts. The program that comes out is a tile program
 * like any other, with the same bits.
 */
import { derivedOnce } from "../../ir/derived-once.js";
import { followedDims, mapForms, spanOver, reductionDim } from "../../ir/access.js";
import { fullReduction } from "../../ir/addressing.js";
import type { TileFunc } from "../../ir/func.js";
import { add, constant, dimsOf, substitute, type Linear } from "../../ir/linear.js";
import { taskOfTile } from "../../ir/task/index.js";
import {
  withChildren,
  type ForStmt,
  type GatherStmt,
  type LoadStmt,
  type Region,
  type Stmt,
} from "../../ir/tile.js";
import { at } from "../../ir/types.js";

/**
 * Returns the program with all chunks of the gather's reduction elements joined into one chunk. A program
 * whose gather has no chunks is returned unchanged. The result is cached.
 */
export const joinRuns = derivedOnce(joined);

/**
 * Returns the program with all chunks of the gather's reduction elements joined into one chunk. A program
 * whose gather has no chunks is returned unchanged.
 */
function joined(func: TileFunc): TileFunc {
  const { gather } = taskOfTile(func);
  const loop = gather?.loops.at(-1);
  if (gather?.stmt.chunk === undefined || loop?.mode !== "serial") return func;
  const loads = new Map(loop.body.flatMap((stmt) => (stmt.op === "load" ? [[stmt.to, stmt] as const] : [])));
  const joinedStmt = withFullReduction(gather.stmt, loop, loads);
  const gone = new Set([...(gather.stmt.chunk?.into ?? []), ...loads.keys()]);
  const put = (body: readonly Stmt[]): readonly Stmt[] =>
    body.flatMap((stmt): readonly Stmt[] => {
      if (stmt === loop) return [joinedStmt];
      const isGone = stmt.op === "alloc" && gone.has(stmt.buffer.name);
      return isGone ? [] : [withChildren(stmt, put)];
    });
  return { ...func, body: put(func.body) };
}

/**
 * Returns a gather that combines one chunk of the reduction elements as a gather that combines all reduction
 * elements at once. Inputs that the loop over chunks loads are then read from their tensors, without a load.
 */
function withFullReduction(
  { chunk, ...stmt }: GatherStmt,
  { iv }: ForStmt,
  loads: ReadonlyMap<string, LoadStmt>,
): GatherStmt {
  const first = (form: Linear): Linear =>
    substitute(form, (of) => (of.kind === "iv" && of.name === iv ? constant(0) : undefined));
  const map = mapForms(fullReduction(stmt.map, chunk), first);
  const space = [...stmt.to.sizes, constant(chunk?.of ?? 0)];
  const from = stmt.from.map((region, table): Region => {
    const load = loads.get(region.buffer);
    const place = load === undefined ? region : within(region, load.from);
    const followed = followedDims(map, table);
    return {
      buffer: place.buffer,
      offsets: place.offsets.map(first),
      sizes: place.sizes.map((size, k) => {
        const along = followed[k];
        const inReduction = along !== undefined && dimsOf(along.form).includes(reductionDim(map));
        return inReduction ? spanOver(along, space) : first(size);
      }),
    };
  });
  return { ...stmt, from, map, origins: stmt.origins.map((origin) => origin.map(first)) };
}

/**
 * Returns a region, whose offsets count from the start of a tile, as a region of the tensor that contains the
 * tile. `tile`: the region of the tensor that the tile covers.
 */
export const within = (region: Region, tile: Region): Region => ({
  buffer: tile.buffer,
  offsets: region.offsets.map((offset, k) => add(at(tile.offsets, k), offset)),
  sizes: region.sizes,
});
