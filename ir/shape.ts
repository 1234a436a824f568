/** Extents of tensors, and places in a text. */

/** Static extents of a tensor in elements, outermost first. `[]` is a scalar; extents may be 0. */
export type Shape = readonly number[];

/** Place in a text file: line and column, counted from 1, and length in characters. */
export interface Span {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
}
