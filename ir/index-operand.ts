/** Index operands of operators, and the coordinates that are made of them and of output dims. */
import type { IndexOperand, NegativeIndex, OutOfBounds } from "./access.js";
import { dim, index, type Linear } from "./linear.js";
import type { Shape } from "./types.js";

/**
 * Policies of an index operand: the meaning of a negative index, and the treatment of an index out of range.
 */
export interface IndexPolicy {
  readonly negative: NegativeIndex;
  readonly oob: OutOfBounds;
  /** Fill bits that are used under policy `zero` for an index out of range. Absent: 0. */
  readonly fill?: string;
}

/**
 * Returns the index operand that reads the operator's input `table` at `coords`. `table`: position of the
 * input, from 0. `extent`: exclusive upper bound of the index.
 */
export const indexOperand = (
  { negative, oob }: IndexPolicy,
  table: number,
  coords: readonly Linear[],
  extent: number,
): IndexOperand => ({
  value: { table, at: coords },
  outOfRange: oob,
  extent,
  ...(negative === "from-end" ? { wrapNegativeBy: extent } : {}),
});

/** Returns linear expressions for `count` consecutive dims of a domain, from dim `first` on. */
export const dimsFrom = (first: number, count: number): Linear[] =>
  Array.from({ length: count }, (_, k) => dim(first + k));

/**
 * Returns the coordinates of the data element of a gather along `axis`: the first index operand there, and
 * the output dims before and after those of the indices, `indexRank` of them, elsewhere.
 */
export const coordsAlong = (data: Shape, axis: number, indexRank: number): Linear[] =>
  data.map((_, k) => (k === axis ? index(0) : dim(k < axis ? k : k + indexRank - 1)));
