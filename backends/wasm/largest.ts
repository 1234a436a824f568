/** Sizes that loops decide, and what they can be at most. */
import type { Linear } from "../../ir/linear.js";
import { boundsOf } from "../../ir/ranges.js";
import type { ForStmt } from "../../ir/tile.js";

/** The most that a size can be, in any iteration of the loops around it. */
export const largest = (size: Linear, loops: readonly ForStmt[]): number =>
  Math.max(0, boundsOf(size, loops)[1]);
