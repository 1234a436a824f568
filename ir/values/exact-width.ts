/** Width that the counter of an exact sum needs (rule B7), from the grid of its reduction elements. */
import type { DType } from "../types.js";
import { maxReductionElements, reductionsIn, type Expression } from "./expression.js";
import { bitLength, gridOfLast, reachOf } from "./grid.js";
import { valueSteps } from "./steps.js";

/** Bits of an exact sum's magnitude: it is counted in whole units, in a signed number of 64 bits. */
const availableBits = 63;

/**
 * Numbers of bits that an exact sum needs and has available, without the sign bit. The summands are integer
 * multiples of 2^`unit`.
 */
export interface ExactWidth {
  readonly unit: number;
  /** Bits of the largest summand. */
  readonly termBits: number;
  /** Maximum number of summands of an output element. */
  readonly terms: number;
  /**
   * Maximum number of summands that fit into the available bits; at most the number that an access map may
   * have.
   */
  readonly mostTerms: number;
  /** Bits that the sum of `elements` greatest terms takes. */
  readonly neededBits: number;
  readonly availableBits: number;
}

/**
 * Result of a width analysis: the bits of an exact sum, or the reason (`why`) why an exact sum is not
 * guaranteed.
 */
export type WidthResult =
  { readonly ok: true; readonly width: ExactWidth } | { readonly ok: false; readonly why: string };

/**
 * Returns the width in bits of the exact sum in a well-typed expression, or the reason why there is no width.
 * Undefined for an expression without an exact sum. `reads`: element types of the reads. `elements`: maximum
 * number of summands.
 */
export function exactWidthOf(
  value: Expression,
  reads: readonly DType[],
  elements: number,
): WidthResult | undefined {
  const [reduction] = reductionsIn(value);
  if (reduction?.how !== "exact") return undefined;
  const grid = gridOfLast(valueSteps(reduction.of, reads).steps);
  if (!grid.ok) return grid;
  const reach = reachOf(grid.grid);
  const greatest = (1n << BigInt(availableBits)) - 1n;
  const highest = maxReductionElements(reduction.how);
  return {
    ok: true,
    width: {
      unit: grid.grid.lsb,
      termBits: bitLength(reach),
      terms: elements,
      mostTerms: reach * BigInt(highest) <= greatest ? highest : Number(greatest / reach),
      neededBits: bitLength(reach * BigInt(elements)),
      availableBits,
    },
  };
}
