/**
 * When an index tile is resolved before anything moves, into a table of byte offsets in the data.
 *
 * Many rows that share the indices pay for bounds and policy once an index and not once an element. Long rows fetched from the
 * tensor in place are touched as they are resolved, so that their cache misses overlap instead of following one
 * another.
 */
import { indexed, rowElements, type AccessMap } from "../../ir/access.js";
import { at, elementCount, strides, type Shape } from "../../ir/types.js";

export interface Table {
  /** Output dims that the indices follow, and their table strides in bytes by output dim. */
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

/** `tile`: the largest extents that the output tile takes. `fetched`: the data are read from the tensor in place. */
export function tableOf(
  map: AccessMap,
  tile: Shape,
  data: { readonly shape: Shape; readonly elementBytes: number; readonly fetched: boolean },
): Table | undefined {
  const follows = indexed(map);
  const last = Math.max(-1, ...follows);
  const dims = tile.flatMap((_, d) => (follows.has(d) ? [d] : []));
  const uses = tile.reduce(
    (product, extent, d) => (d < last && !follows.has(d) ? product * extent : product),
    1,
  );
  const shape = dims.map((d) => at(tile, d));
  const bytes = elementCount(shape) * entryBytes;
  if (bytes > mostBytes || dims.length === 0) return undefined;
  const row = rowElements(map, tile, data.shape) * data.elementBytes;
  const touch = data.fetched && last < tile.length - 1 && uses === 1 && row >= longRow ? touchedLines : 0;
  if (uses < fewestUses && touch === 0) return undefined;
  const inner = strides(shape);
  const by = tile.map((_, d) => {
    const k = dims.indexOf(d);
    return k === -1 ? 0 : at(inner, k) * entryBytes;
  });
  return { dims, strides: by, bytes, touch };
}
