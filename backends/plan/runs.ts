/** Contiguous runs of the elements of a region, from the innermost dim outwards. */
import { isConstant, type Linear } from "../../ir/linear.js";

/**
 * Contiguous range of bytes that is copied at once. The range covers the output dims from `outer` to the last
 * output dim.
 */
export interface Run {
  readonly outer: number;
  readonly bytes: number;
  /** Dim of the range whose size varies with the loops; the range then has `bytes` times that size. */
  readonly times?: number;
}

/**
 * Returns the longest range of bytes that is contiguous in every memory. The range covers the innermost dims,
 * and no dim before `first`. `stridesByDim`: for each memory, the bytes between neighbours along each dim.
 * `elementBytes`: bytes of an element.
 */
export function commonRun(
  sizes: readonly Linear[],
  stridesByDim: readonly (readonly number[])[],
  elementBytes: number,
  first: number,
): Run {
  let bytes = elementBytes;
  for (let outer = sizes.length; ; outer--) {
    const d = outer - 1;
    const size = sizes[d];
    if (size === undefined || d < first) return { outer, bytes };
    const alone = isConstant(size) && size.at === 1;
    const run = bytes;
    if (!alone && !stridesByDim.every((strides) => strides[d] === run)) return { outer, bytes };
    if (!isConstant(size)) return { outer: d, bytes, times: d };
    bytes *= size.at;
  }
}

/** Returns the integers from `from` to `to` (exclusive), ascending; an empty list if there are none. */
export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k);
