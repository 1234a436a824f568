/** Extents of tensors, and places in a text. */

/** Shape of a tensor: its static extents in elements, outermost first. `[]` is a scalar; extents may be 0. */
export type Shape = readonly number[];

/** Place in a text file: file name, line and column (both from 1), and length in characters. */
export interface Span {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
}
