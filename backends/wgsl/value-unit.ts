/** Neighbours along the innermost output dim that a lane computes together, and writes by whole words. */
import type { Linear } from "../../ir/linear.js";
import { bitsOf, type DType } from "../../ir/types.js";
import { advanceAlong, beginsAtMultiples, type UnrolledSteps } from "../plan/step-advance.js";

/**
 * Positions of the elements that one read takes for the neighbouring output elements that a lane computes
 * together. `still`: one element for all. `words`: consecutive elements in whole 32-bit words; `part`:
 * consecutive elements within one word; `each`: other consecutive elements, read one by one.
 */
export type ReadAlong = "still" | "each" | "words" | "part";

/** Group of neighbouring output elements that a lane computes together. `group`: number of elements. */
export interface ValueUnit {
  readonly group: number;
  /** Relation of the neighbouring elements to each read; entry k is for read k. */
  readonly reads: readonly ReadAlong[];
}

/** Address of a read, in elements of the tensor, with the tensor's element type. */
export interface TypedAddress {
  readonly address: Linear;
  readonly type: DType;
}

/**
 * Returns the relation of neighbouring output elements to each read. Undefined if a read advances by anything
 * but 0 or 1 element per neighbour, or if an index value changes between neighbours.
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
    if (steps.count % perWord === 0 && beginsAtMultiples(address, perWord, steps)) return "words";
    return perWord % steps.count === 0 && beginsAtMultiples(address, steps.count, steps) ? "part" : "each";
  });
  return candidates.every((along) => along !== undefined) ? candidates : undefined;
}
