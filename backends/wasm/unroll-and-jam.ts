/**
 * Unroll-and-jam: the loop of an output dim is cut into parts that run side by side. Where rows start on
 * memory that no cache holds, the misses of all parts overlap.
 */
import { isConstant, type Linear } from "../../ir/linear.js";
import { at } from "../../ir/types.js";

/**
 * Unroll-and-jam of an output dim: the dim is divided into equal parts, and one iteration processes one
 * element of every part.
 */
export interface UnrollAndJam {
  readonly dim: number;
  /** Elements of the dim in a part. */
  readonly size: number;
}

/** Number of parts that unroll-and-jam divides a dim into. */
export const jammed = 4;

/**
 * Returns the dim to unroll and jam, and the number of elements in each part (`size`). Undefined if no dim
 * before the last has a constant extent that is a multiple of {@link jammed}.
 */
export function unrollAndJamOf(sizes: readonly Linear[]): UnrollAndJam | undefined {
  const extents = sizes.slice(0, -1).map((size) => (isConstant(size) ? size.at : 0));
  const dim = extents.findLastIndex((extent) => extent > 0 && extent % jammed === 0);
  return dim === -1 ? undefined : { dim, size: at(extents, dim) / jammed };
}
