/** Extents of tensors, and places in a text. */

/** Static extents in elements, outermost first; `[]` is a scalar; extents may be 0. */
export type Shape = readonly number[];

/** A place in a text file: 1-based line and column, length in characters. */
export interface Span {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly length: number;
}
