/**
 * When many rows share an index tile, its indices are resolved once, into a table of byte offsets in the data: bounds
 * and policy are paid once an index and not once an element.
 */
import { indicesFollow } from "../../ir/access.js";
import { largestValue } from "../../ir/expr.js";
import { findGather, type GatherStmt } from "../../ir/tile.js";
import type { TileFunc } from "../../ir/func.js";
import { at, elementCount, strides } from "../../ir/types.js";

export interface Table {
  /** Output dims that the index follows, and their table strides in bytes by output dim. */
  readonly dims: readonly number[];
  readonly strides: readonly number[];
  readonly bytes: number;
}

/** Offsets are 32-bit words. */
export const entryBytes = 4;
/** Uses of an index below which a table does not pay. */
const fewestUses = 4;
/** A table above this leaves the first cache levels. */
const mostBytes = 256 * 1024;

export function tableOf(gather: GatherStmt): Table | undefined {
  const follows = indicesFollow(gather.map);
  const last = Math.max(-1, ...follows);
  const extents = gather.to.sizes.map((size) => largestValue(size) ?? 0);
  const dims = extents.flatMap((_, d) => (follows.has(d) ? [d] : []));
  const uses = extents.reduce(
    (product, extent, d) => (d < last && !follows.has(d) ? product * extent : product),
    1,
  );
  const shape = dims.map((d) => at(extents, d));
  const bytes = elementCount(shape) * entryBytes;
  if (uses < fewestUses || bytes > mostBytes) return undefined;
  const inner = strides(shape);
  const by = extents.map((_, d) => {
    const k = dims.indexOf(d);
    return k === -1 ? 0 : at(inner, k) * entryBytes;
  });
  return { dims, strides: by, bytes };
}

export function tableBytes(func: TileFunc): number {
  const gather = findGather(func.body);
  return gather === undefined ? 0 : (tableOf(gather)?.bytes ?? 0);
}
