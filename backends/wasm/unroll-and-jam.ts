/**
 * Unroll-and-jam: the loop of an output dim is cut into parts that run side by side. Where rows start on memory that no cache
 * holds, the misses of all parts overlap.
 */
import { isConstant, type Linear } from "../../ir/linear.js";
import { at } from "../../ir/types.js";

export interface UnrollAndJam {
  readonly dim: number;
  /** Elements of the dim in a part. */
  readonly size: number;
}

/** Parts of the dim. */
export const jammed = 4;

/** By the innermost dim outside of the last that comes apart evenly. */
export function unrollAndJamOf(sizes: readonly Linear[]): UnrollAndJam | undefined {
  const extents = sizes.slice(0, -1).map((size) => (isConstant(size) ? size.at : 0));
  const dim = extents.findLastIndex((extent) => extent > 0 && extent % jammed === 0);
  return dim === -1 ? undefined : { dim, size: at(extents, dim) / jammed };
}
