/** The pointers that the loops of a gather advance. */
import { at } from "../../ir/types.js";
import type { Pointer } from "./box.js";
import type { LocalId } from "./code.js";

export interface Pointers {
  readonly out: Pointer;
  /** Where the data lie, but for what index values add. */
  readonly data: Pointer;
  /** By the walk over a table; of index values that were looked up before, to their entry alone. */
  readonly index: readonly Pointer[];
  /** Coordinates of output dims, where something is computed by them. */
  readonly coords: readonly Pointer[];
}

/** All of them in one order, as loops take them. */
export const listed = ({ out, data, index, coords }: Pointers): readonly Pointer[] => [
  out,
  data,
  ...index,
  ...coords,
];

/** The same with other locals, in that order. */
export function withLocals(pointers: Pointers, locals: readonly LocalId[]): Pointers {
  const moved = listed(pointers).map((pointer, k): Pointer => ({ ...pointer, local: at(locals, k) }));
  const coords = 2 + pointers.index.length;
  return {
    out: at(moved, 0),
    data: at(moved, 1),
    index: moved.slice(2, coords),
    coords: moved.slice(coords),
  };
}
