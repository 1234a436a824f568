/**
 * Table of byte offsets in the data, into which index values are resolved before anything moves.
 *
 * A table pays if many rows share the indices: bounds and policy then cost once per index instead of once per
 * element.
 */
import { rangeOf, type Ranges } from "../../ir/intervals/range.js";
import type { Linear } from "../../ir/linear.js";
import { at, elementCount, strides, type Shape } from "../../ir/types.js";

/**
 * Table of resolved indices in the kernel's memory. An entry is a byte offset in the data. The code fills the
 * table before copying elements.
 */
export interface Table {
  /** Output dims on which the indices depend. `strides`: strides of the table in bytes, by output dim. */
  readonly dims: readonly number[];
  readonly strides: readonly number[];
  readonly bytes: number;
  /** The offset of an entry, in bytes, which may be negative: what the indices add to the data's address. */
  readonly offset: Linear;
  /** Entry of an index that selects no element: a number that is no offset. */
  readonly none: number;
}

/** Offsets are 32-bit words. */
const entryBytes = 4;
/** Uses of an index below which a table does not pay. */
const fewestUses = 4;
/** A table above this leaves the first cache levels. */
const maxBytes = 256 * 1024;
/** Size of a cache line, in bytes. */
export const cacheLine = 64;

/**
 * Returns the layout of a table of resolved index values; undefined if the table would be too large or rarely
 * reused, or if each 32-bit number may be an offset. `dependencies`: output dims that the indices depend on.
 * `tile`: maximum extents of the output tile. `ranges`: ranges of the dims and index operands in `offset`.
 */
export function lookupTable(
  dependencies: ReadonlySet<number>,
  tile: Shape,
  offset: Linear,
  ranges: Ranges,
): Table | undefined {
  const last = Math.max(-1, ...dependencies);
  const dims = tile.flatMap((_, d) => (dependencies.has(d) ? [d] : []));
  const uses = tile.reduce(
    (product, extent, d) => (d < last && !dependencies.has(d) ? product * extent : product),
    1,
  );
  const shape = dims.map((d) => at(tile, d));
  const bytes = elementCount(shape) * entryBytes;
  if (uses < fewestUses || bytes > maxBytes || dims.length === 0) return undefined;
  const [least, max] = rangeOf(offset, ranges);
  if (max - least >= 2 ** (8 * entryBytes) - 1) return undefined;
  const inner = strides(shape);
  const by = tile.map((_, d) => {
    const k = dims.indexOf(d);
    return k === -1 ? 0 : at(inner, k) * entryBytes;
  });
  return { dims, strides: by, bytes, offset, none: (least - 1) | 0 };
}
