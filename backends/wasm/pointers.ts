/** The pointers that the loops of a gather advance. */
import { at } from "../../ir/types.js";
import type { Pointer } from "./copy-region.js";
import type { LocalId } from "./code.js";

/**
 * Pointers that the loops of a gather advance: output, data, inputs of arithmetic (`reads`), and index
 * values. `coords`: coordinates of output dims that the code needs.
 */
export interface Pointers {
  readonly out: Pointer;
  /** Pointer to the data, without the terms that index values add. */
  readonly data: Pointer;
  /** Pointers to the elements from which a value is computed, without the terms that index values add. */
  readonly reads: readonly Pointer[];
  /**
   * Pointers into the index tensors, in order; with a table of resolved indices, only the pointer into this
   * table.
   */
  readonly index: readonly Pointer[];
  /** Coordinates of output dims, where something is computed by them. */
  readonly coords: readonly Pointer[];
}

/** Byte offset for each pointer of a gather, in the order of {@link listed}. */
export type Shift = readonly number[];

/** Position of the first index pointer in the list of {@link listed}, for a gather without arithmetic. */
export const firstIndex = 2;

/**
 * Returns all pointers of a gather as one list: output, data, inputs of arithmetic (`reads`), index values,
 * coordinates.
 */
export const listed = ({ out, data, reads, index, coords }: Pointers): readonly Pointer[] => [
  out,
  data,
  ...reads,
  ...index,
  ...coords,
];

/** Returns the pointers of a gather with the locals `locals`, in the order of {@link listed}. */
export function withLocals(pointers: Pointers, locals: readonly LocalId[]): Pointers {
  const replaced = listed(pointers).map((pointer, k): Pointer => ({ ...pointer, local: at(locals, k) }));
  const index = 2 + pointers.reads.length;
  const coords = index + pointers.index.length;
  return {
    out: at(replaced, 0),
    data: at(replaced, 1),
    reads: replaced.slice(2, index),
    index: replaced.slice(index, coords),
    coords: replaced.slice(coords),
  };
}
