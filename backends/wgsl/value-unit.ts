/** Neighbours along the innermost output dim that a lane computes together, and writes by whole words. */
import type { Linear } from "../../ir/linear.js";
import { bitsOf, type DType } from "../../ir/types.js";
import { advanceAlong, beginsAtMultiples, type UnrolledSteps } from "../plan/step-advance.js";

/**
 * Relation of a unit's elements to a read. `still`: all elements use one element of the read. `each`: each
 * uses the next one. `words`: as `each`, and they fill whole words of their array.
 */
export type ReadAlong = "still" | "each" | "words";

/** Unit of neighbours that a lane computes together: their number, and their relation to each read. */
export interface ValueUnit {
  readonly group: number;
  /** Relation of the elements to each read, by its number. */
  readonly reads: readonly ReadAlong[];
}

/** Address of a read, with the type of its elements. */
export interface TypedAddress {
  readonly address: Linear;
  readonly type: DType;
}

/**
 * Returns the relation of a unit's elements to each read. Undefined if a read advances in another way, or an
 * index value changes within a unit.
 */
export function readsAlong(
  reads: readonly TypedAddress[],
  indices: readonly Linear[],
  steps: UnrolledSteps,
): readonly ReadAlong[] | undefined {
  if (!indices.every((form) => advanceAlong(form, steps) === 0)) return undefined;
  const candidates = reads.map(({ address, type }): ReadAlong | undefined => {
    const advance = advanceAlong(address, steps);
    if (advance === 0) return "still";
    if (advance !== 1) return undefined;
    const perWord = 32 / bitsOf(type);
    // In a unit that is shorter than a word, places differ from unit to unit.
    return steps.count % perWord === 0 && beginsAtMultiples(address, perWord, steps) ? "words" : "each";
  });
  return candidates.every((along) => along !== undefined) ? candidates : undefined;
}
