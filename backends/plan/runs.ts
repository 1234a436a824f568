/** How far the elements of a box lie together, from the innermost dim outwards. */
import { isConstant, type Linear } from "../../ir/linear.js";

/** Bytes copied at once: output dims from `outer` on. */
export interface Run {
  readonly outer: number;
  readonly bytes: number;
  /** The one dim of the run whose size the loops decide: `bytes` times that size. */
  readonly times?: number;
}

/** Bytes that lie together in every place, each given by its bytes between neighbours; no dim before `first`. */
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

export const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k);
