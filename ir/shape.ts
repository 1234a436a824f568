/** Extents of tensors, and places in a text. */

/** Shape of a tensor: static extents in elements, outermost first. `[]` is a scalar; an extent may be 0. */
export type Shape = readonly number[];

/** Source position in a text file: file name, line and column (from 1), and length in characters. */
export interface Span {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
}
