/**
 * T16: where a target computes values in UB, the gather names a tile for each read that is copied there and
 * for each result that is held at once, with room for a row. No executor needs these tiles.
 */
import type { Diagnostic } from "../diagnostic.js";
import type { TileFunc } from "../func.js";
import { boundOf } from "../intervals/range.js";
import { isParam, ubBuffers } from "../regions.js";
import { targetFacts, type Target } from "../target.js";
import { taskOfTile } from "../task/index.js";
import { sumsOf, temporariesOf } from "../tiling/temporaries.js";
import { at, bitsOf } from "../types.js";
import { broken } from "./broken.js";

/**
 * Returns the violation of rule T16 by a tile program that satisfies all other rules; an empty list if there
 * is none. T16: on a target with a vector unit, the gather names a large enough scratch tile for each of its
 * intermediate results.
 */
export function verifyTemporaries(func: TileFunc, target: Target): Diagnostic[] {
  const { gather } = taskOfTile(func);
  if (gather === undefined || !targetFacts[target.kind].vectorUnit) return [];
  const { from, map, to, chunk, scratch = [], span } = gather.stmt;
  const tile = to.sizes.map((size) => Math.max(0, boundOf(size, { loops: gather.loops }, "most")));
  if (tile.includes(0)) return [];
  const inUb = (table: number): boolean => !isParam(func, at(from, table).buffer);
  const needed = [
    ...temporariesOf(map, func.operands, inUb, tile),
    ...(chunk === undefined ? sumsOf(map, func.operands, tile, false) : []),
  ];
  const buffers = ubBuffers(func);
  const has = (name: string | undefined, k: number): boolean => {
    const [buffer, { dtype, tile: tile }] = [buffers.get(name ?? ""), at(needed, k)];
    return (
      buffer !== undefined &&
      bitsOf(buffer.dtype) === bitsOf(dtype) &&
      buffer.shape.length === tile.length &&
      tile.every((extent, d) => at(buffer.shape, d) >= extent)
    );
  };
  const missing = needed.findIndex((_, k) => !has(scratch[k], k));
  if (missing === -1) return [];
  const { part: what, dtype, tile: extents } = at(needed, missing);
  const shape = [...extents, dtype].join("x");
  const problem = scratch[missing] === undefined ? "there is none" : `%${scratch[missing]} is no such tile`;
  return [
    broken("T16", `scratch ${missing} holds ${what}, ub<${shape}>, and ${problem}`, span, {
      hint: `name ${needed.length} tiles in this order: ${needed.map(({ part: name }) => name).join(", ")}`,
    }),
  ];
}
