/**
 * The values that a coordinate of an access map can take, by interval arithmetic: what a region must contain,
 * and the proof that a coordinate stays inside its extent.
 */
import { isRead, reductionDim, type AccessMap, type IndexOperand } from "../access.js";
import { atomsOf, dimsOf, evaluate, type Env, type Linear } from "../linear.js";
import {
  at,
  isIndexDType,
  maxElements,
  type DType,
  type IndexDType,
  type Shape,
  type TensorType,
} from "../types.js";
import { integerRanges } from "../values/formats.js";
import { rangeOf, type Interval, type Ranges } from "./range.js";

/** Ranges of the index types. */
const indexRanges: Readonly<Record<IndexDType, Interval>> = {
  ...integerRanges,
  i64: [-(2 ** 63), 2 ** 63 - 1],
  u64: [0, 2 ** 64 - 1],
};

/** Range of an index value whose extent is not known yet: 0 to `maxElements` - 1. */
export const anyIndex: Interval = [0, maxElements - 1];

/**
 * Returns the ranges of the output dims, followed by the range of the reduction dim if `map` has a reduction.
 * An empty dim has the range [0, 0].
 */
export const dimRanges = (output: Shape, map: Walked = { indices: [] }): Interval[] =>
  [...output, ...(map.reduced === undefined ? [] : [reductionLength(map)])].map((extent) => [
    0,
    Math.max(0, extent - 1),
  ]);

type Walked = Pick<AccessMap, "reduced"> & { readonly indices: readonly Pick<IndexOperand, "extent">[] };

/** Returns the exclusive upper bound of the reduction dim r; 0 if the reduction combines no elements. */
export function reductionLength({ reduced, indices }: Walked): number {
  if (reduced?.segment === undefined) return reduced?.max ?? 0;
  return Math.max(0, (indices[reduced.segment.to]?.extent ?? maxElements) - 1);
}

/**
 * True if a linear expression is never evaluated, because the expression depends on the reduction dim of an
 * empty reduction.
 */
export const isEmptyReduction = (form: Linear, map: Walked & Pick<AccessMap, "domain">): boolean =>
  dimsOf(form).includes(reductionDim(map)) && reductionLength(map) === 0;

/**
 * Returns the value ranges of an access map's dims and index operands. `around`: ranges of loop variables and
 * symbols. An index operand without an extent gets the range {@link anyIndex}.
 */
export function rangesOf(
  map: Pick<AccessMap, "reduced"> & { readonly indices: readonly Bounded[] },
  inputs: readonly TensorType[],
  output: Shape,
  around: Pick<Ranges, "loops" | "symbols"> = {},
): Ranges {
  const fixed = { dims: dimRanges(output, map), ...around };
  const indices: Interval[] = [];
  const ranges = { ...fixed, indices };
  for (const index of map.indices) indices.push(indexRange(index, inputs, ranges));
  return ranges;
}

type Bounded = Pick<IndexOperand, "value" | "outOfRange" | "extent"> & {
  readonly wrapNegativeBy?: number | "extent";
};

/**
 * Returns the range of an index operand's value after the out-of-range policy is applied. `before`: ranges of
 * the dims and of earlier index operands.
 */
function indexRange(index: Bounded, inputs: readonly TensorType[], before: Ranges): Interval {
  const { outOfRange, extent, wrapNegativeBy, value } = index;
  if (outOfRange !== "any") return extent === undefined ? anyIndex : [0, Math.max(0, extent - 1)];
  const [least, max] = isRead(value) ? typeRange(inputs[value.table]?.dtype) : rangeOf(value, before);
  // What counts from the end ends up below that end.
  return least < 0 && typeof wrapNegativeBy === "number"
    ? [least, Math.max(max, wrapNegativeBy - 1)]
    : [least, max];
}

const typeRange = (dtype: DType | undefined): Interval =>
  dtype === undefined || !isIndexDType(dtype) ? anyIndex : indexRanges[dtype];

/** Points of the output dims that are tried one by one where intervals prove nothing. */
const maxTried = 4096;

const noLoops: Env = new Map();

/**
 * True if a linear expression is proved to be in [0, `extent`) for all variable values. False means that
 * there is no proof.
 */
export function staysWithin(form: Linear, extent: number, ranges: Ranges): boolean {
  const inside = ([least, max]: Interval): boolean => least >= 0 && max < extent;
  if (inside(rangeOf(form, ranges))) return true;
  const dims = [...new Set(atomsOf(form).flatMap((of) => (of.kind === "dim" ? [of.dim] : [])))];
  const points = dims.reduce((product, d) => product * (at(ranges.dims, d)[1] + 1), 1);
  if (dims.length === 0 || points > maxTried) return false;
  const free = atomsOf(form).some(({ kind }) => kind === "index");
  const every = (rest: readonly number[], fixed: readonly Interval[]): boolean => {
    const [d, ...others] = rest;
    if (d === undefined) {
      const here = { dims: fixed, indices: ranges.indices };
      if (free) return inside(rangeOf(form, here));
      const value = evaluate(form, noLoops, { dims: fixed.map(([only]) => only), indices: [] });
      return value >= 0 && value < extent;
    }
    for (let k = 0; k <= at(ranges.dims, d)[1]; k++) {
      if (
        !every(
          others,
          fixed.map((range, other) => (other === d ? [k, k] : range)),
        )
      )
        return false;
    }
    return true;
  };
  return every(dims, ranges.dims);
}

/**
 * Returns the largest n in [`low`, `high`] for which `fits(n)` is true, by binary search; undefined if there
 * is none. `fits` must be monotonic: true up to some n and false above.
 */
export function largestThat(low: number, high: number, fits: (n: number) => boolean): number | undefined {
  if (high < low || !fits(low)) return undefined;
  let [good, bad] = [low, high + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
