/**
 * When an index tile is resolved before anything moves, into a table of byte offsets in the data.
 *
 * Many rows that share the indices pay for bounds and policy once an index and not once an element. Long rows fetched from the
 * tensor in place are touched as they are resolved, so that their cache misses overlap instead of following one
 * another.
 */
import { indicesFollow, rowElements } from "../../ir/access.js";
import { largestValue } from "../../ir/expr.js";
import { findGather, type GatherStmt } from "../../ir/tile.js";
import type { TileFunc } from "../../ir/func.js";
import { at, dtypeBytes, elementCount, strides } from "../../ir/types.js";
import { isParam } from "../../ir/verify/accesses.js";

export interface Table {
  /** Output dims that the index follows, and their table strides in bytes by output dim. */
  readonly dims: readonly number[];
  readonly strides: readonly number[];
  readonly bytes: number;
  /** Cache lines of each row that are read ahead; 0: none. */
  readonly touch: number;
}

/** Offsets are 32-bit words. */
export const entryBytes = 4;
/** Uses of an index below which a table does not pay. */
const fewestUses = 4;
/** A table above this leaves the first cache levels. */
const mostBytes = 256 * 1024;
export const cacheLine = 64;
/** Lines of a row to read ahead; the hardware follows from there. Short rows overlap by themselves. */
const touchedLines = 4;
const longRow = 1024;

export function tableOf(func: TileFunc, gather: GatherStmt): Table | undefined {
  const { map } = gather;
  const follows = indicesFollow(map);
  const last = Math.max(-1, ...follows);
  const extents = gather.to.sizes.map((size) => largestValue(size) ?? 0);
  const dims = extents.flatMap((_, d) => (follows.has(d) ? [d] : []));
  const uses = extents.reduce(
    (product, extent, d) => (d < last && !follows.has(d) ? product * extent : product),
    1,
  );
  const shape = dims.map((d) => at(extents, d));
  const bytes = elementCount(shape) * entryBytes;
  if (bytes > mostBytes || dims.length === 0) return undefined;
  const { type } = func.data;
  const row = rowElements(map, extents, type.shape) * dtypeBytes[type.dtype];
  const inPlace = isParam(func, gather.data.buffer) && last < extents.length - 1;
  const touch = inPlace && uses === 1 && row >= longRow ? touchedLines : 0;
  if (uses < fewestUses && touch === 0) return undefined;
  const inner = strides(shape);
  const by = extents.map((_, d) => {
    const k = dims.indexOf(d);
    return k === -1 ? 0 : at(inner, k) * entryBytes;
  });
  return { dims, strides: by, bytes, touch };
}

export function tableBytes(func: TileFunc): number {
  const gather = findGather(func.body);
  return gather === undefined ? 0 : (tableOf(func, gather)?.bytes ?? 0);
}
