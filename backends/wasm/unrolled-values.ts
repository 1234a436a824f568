/**
 * Values that are computed in vectors: so many neighbours along the innermost output dim at a time, an
 * unrolled step.
 */
import { isConstant, type Linear } from "../../ir/linear.js";
import type { ForStmt } from "../../ir/tile.js";
import { at, elementsInByte, type DType } from "../../ir/types.js";
import type { ValuePlan } from "../../ir/values/index.js";
import { maxSizesOf } from "../plan/gather.js";
import { advanceAlong, beginsAtMultiples } from "../plan/step-advance.js";
import type { PointerWalk } from "./memory-addresses.js";

/** Number of output elements that one iteration of an unrolled loop computes. */
export type StepElements = 16 | 32;

/**
 * Unrolled step of a gather or scatter: 16 or 32 output elements that vectors compute together. `still`: for
 * each read, true if all elements use the same input element, false for consecutive input elements.
 */
export interface UnrolledValues {
  readonly elements: StepElements;
  /**
   * For each read: true if all elements of a step use one input element, false if they use consecutive ones.
   */
  readonly still: readonly boolean[];
}

/** Elements that are computed, of a gather or at the points of a scatter. */
interface ComputedElements {
  readonly sizes: readonly Linear[];
  readonly loops: readonly ForStmt[];
  /** Absent where elements move as they are. */
  readonly values: ValuePlan | undefined;
  /** Addresses and sums of index operands, and addresses of what is read. */
  readonly indices: readonly Linear[];
  readonly reads: readonly Linear[];
}

/**
 * Returns the unrolled step (16 or 32 elements computed in vectors) of a gather; undefined if elements must
 * be computed one by one. `reads`: element types of the reads.
 */
export function unrolledValues(
  { indices, loops, reads: addresses, sizes, values }: ComputedElements,
  reads: readonly DType[],
  output: Pick<PointerWalk, "by" | "elementBytes">,
): UnrolledValues | undefined {
  const dim = sizes.length - 1;
  const size = sizes[dim];
  if (values === undefined || size === undefined || output.by[dim] !== output.elementBytes) return undefined;
  if (values.reduction?.how === "exact") return undefined;
  const max = at(maxSizesOf(sizes, loops), dim);
  // What steps of 32 leave is computed one by one.
  const leavesHalf = isConstant(size) && max % 32 >= 16;
  const counts: readonly StepElements[] = leavesHalf ? [16] : [32, 16];
  for (const elements of counts) {
    if (elements > max) continue;
    const steps = { dim, count: elements, loops };
    if (!indices.every((form) => advanceAlong(form, steps) === 0)) continue;
    const advances = addresses.map((address, k) => {
      const each = elementsInByte(at(reads, k));
      const advance = advanceAlong(address, steps);
      return advance === 1 && each > 1 && !beginsAtMultiples(address, each, steps) ? undefined : advance;
    });
    if (!advances.every((advance) => advance === 0 || advance === 1)) continue;
    const still = advances.map((advance) => advance === 0);
    return still.includes(false) ? { elements, still } : undefined;
  }
  return undefined;
}
