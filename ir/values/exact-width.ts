/** Width that the counter of an exact sum needs (rule B7), from the grid of its reduction elements. */
import type { DType } from "../types.js";
import { maxReductionElements, reductionsIn, type Expression } from "./expression.js";
import { bitLength, gridOfLast, reachOf } from "./grid.js";
import { valueSteps } from "./steps.js";

/** Bits of an exact sum's magnitude: it is counted in whole units, in a signed number of 64 bits. */
const availableBits = 63;

/**
 * Width of an exact sum, in bits of a magnitude. The elements of the sum are whole multiples of 2^`unit`; the
 * bits count such units.
 */
export interface ExactWidth {
  readonly unit: number;
  /** Bits that the greatest term takes. */
  readonly termBits: number;
  /** Terms of an element, at most. */
  readonly terms: number;
  /** Terms that fit into the available bits, but no more than a map may have. */
  readonly mostTerms: number;
  /** Bits that the sum of `elements` greatest terms takes. */
  readonly neededBits: number;
  readonly availableBits: number;
}

/**
 * Result of a width analysis: the width of an exact sum, or the reason why it has none. In that case an
 * operation on its elements may round, overflow or wrap.
 */
export type WidthResult =
  { readonly ok: true; readonly width: ExactWidth } | { readonly ok: false; readonly why: string };

/**
 * Returns the width of the exact sum in a well-typed expression; undefined if it has no exact sum. `reads`:
 * the element type of each read. `elements`: the number of elements in the sum.
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
