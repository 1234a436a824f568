/**
 * The values that a coordinate of an access map can take, by interval arithmetic: what a region must contain,
 * and the proof that a coordinate stays inside its extent.
 */
import { isRead, reductionDim, type AccessMap, type IndexOperand } from "../access.js";
import {
  atomsOf,
  dimsOf,
  evaluate,
  quotient,
  remainder,
  type Atom,
  type Env,
  type Linear,
  type Term,
} from "../linear.js";
import {
  assertNever,
  at,
  InternalError,
  isIndexDType,
  maxElements,
  type DType,
  type IndexDType,
  type Shape,
  type TensorType,
} from "../types.js";
import { integerRanges } from "../values/formats.js";

/** Closed interval of integers: both ends belong to it. */
export type Interval = readonly [least: number, most: number];

/** Ranges of the dims and index operands of a map, by number, and of symbols and loop variables, by name. */
export interface Ranges {
  readonly dims: readonly Interval[];
  readonly indices: readonly Interval[];
  /** By name. */
  readonly symbols?: ReadonlyMap<string, Interval>;
  /**
   * Returns the range of a loop variable by its name, for the loops around a tile. Absent over whole tensors.
   */
  readonly loops?: (name: string) => Interval;
}

/**
 * Returns bounds of a form that hold at every point. They are exact if the terms do not depend on each other.
 */
export function intervalOf(form: Linear, ranges: Ranges): Interval {
  let [least, max] = [form.at, form.at];
  for (const { by, of } of rejoined(form.terms)) {
    const [a, b] = intervalOfAtom(of, ranges);
    least += by * (by > 0 ? a : b);
    max += by * (by > 0 ? b : a);
  }
  return [least, max];
}

/**
 * Returns the interval of an atom's values. Throws an InternalError for a symbol or loop variable without a
 * range.
 */
function intervalOfAtom(of: Atom, ranges: Ranges): Interval {
  switch (of.kind) {
    case "dim":
      return at(ranges.dims, of.dim);
    case "index":
      return at(ranges.indices, of.index);
    case "div": {
      const [least, max] = intervalOf(of.of, ranges);
      return [quotient(least, of.by), quotient(max, of.by)];
    }
    case "mod": {
      const [least, max] = intervalOf(of.of, ranges);
      const onePeriod = quotient(least, of.by) === quotient(max, of.by);
      return onePeriod ? [remainder(least, of.by), remainder(max, of.by)] : [0, of.by - 1];
    }
    case "symbol": {
      const range = ranges.symbols?.get(of.name);
      if (range === undefined) throw new InternalError(`symbol ${of.name} is not bound`);
      return range;
    }
    case "iv":
      if (ranges.loops === undefined) throw new InternalError(`loop variable %${of.name} is not in scope`);
      return ranges.loops(of.name);
    case "min": {
      const [a, b] = [intervalOf(of.of[0], ranges), intervalOf(of.of[1], ranges)];
      return [Math.min(a[0], b[0]), Math.min(a[1], b[1])];
    }
    default:
      return assertNever(of);
  }
}

/** Replaces `n * (x div n) + x mod n` by x. */
export function rejoined(terms: readonly Term[]): readonly Term[] {
  for (const quotientTerm of terms) {
    const { of, by } = quotientTerm;
    if (of.kind !== "div") continue;
    const rest = terms.find(
      (term) =>
        term.of.kind === "mod" &&
        term.of.by === of.by &&
        term.by * of.by === by &&
        JSON.stringify(term.of.of) === JSON.stringify(of.of),
    );
    if (rest === undefined) continue;
    const others = terms.filter((term) => term !== quotientTerm && term !== rest);
    return rejoined([...others, { by: rest.by, of: { kind: "div", of: of.of, by: 1 } }]);
  }
  return terms;
}

/** Ranges of the index types. */
const indexRanges: Readonly<Record<IndexDType, Interval>> = {
  ...integerRanges,
  i64: [-(2 ** 63), 2 ** 63 - 1],
  u64: [0, 2 ** 64 - 1],
};

/** Range of an index value whose extent is not known yet. */
export const anyIndex: Interval = [0, maxElements - 1];

/**
 * Returns the range of each output dim, and that of r after them if `map` has a reduction. An empty dim
 * counts as its first place: nothing is read there.
 */
export const dimRanges = (output: Shape, map: Walked = { indices: [] }): Interval[] =>
  [...output, ...(map.reduced === undefined ? [] : [reductionLength(map)])].map((extent) => [
    0,
    Math.max(0, extent - 1),
  ]);

type Walked = Pick<AccessMap, "reduced"> & { readonly indices: readonly Pick<IndexOperand, "extent">[] };

/**
 * Returns the upper bound (exclusive) of the reduction dim r; 0 if there are no reduction elements. It is the
 * number of reduction elements or, with a segment, the last position at which a segment may end.
 */
export function reductionLength({ reduced, indices }: Walked): number {
  if (reduced?.segment === undefined) return reduced?.max ?? 0;
  return Math.max(0, (indices[reduced.segment.to]?.extent ?? maxElements) - 1);
}

/** True if a form is never evaluated: it depends on r, and no element has a reduction element. */
export const isEmptyReduction = (form: Linear, map: Walked & Pick<AccessMap, "domain">): boolean =>
  dimsOf(form).includes(reductionDim(map)) && reductionLength(map) === 0;

/**
 * Returns the ranges of a map's dims and index operands. An index operand may depend only on earlier ones.
 * One whose extent is absent may have any index value.
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
 * Returns the range of an index operand's value under its policy. `before`: ranges of the dims and of earlier
 * index operands.
 */
function indexRange(index: Bounded, inputs: readonly TensorType[], before: Ranges): Interval {
  const { outOfRange, extent, wrapNegativeBy, value } = index;
  if (outOfRange !== "any") return extent === undefined ? anyIndex : [0, Math.max(0, extent - 1)];
  const [least, max] = isRead(value) ? typeRange(inputs[value.table]?.dtype) : intervalOf(value, before);
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

/** True if a form is shown to lie in [0, extent) at every point. */
export function staysWithin(form: Linear, extent: number, ranges: Ranges): boolean {
  const inside = ([least, max]: Interval): boolean => least >= 0 && max < extent;
  if (inside(intervalOf(form, ranges))) return true;
  const dims = [...new Set(atomsOf(form).flatMap((of) => (of.kind === "dim" ? [of.dim] : [])))];
  const points = dims.reduce((product, d) => product * (at(ranges.dims, d)[1] + 1), 1);
  if (dims.length === 0 || points > maxTried) return false;
  const free = atomsOf(form).some(({ kind }) => kind === "index");
  const every = (rest: readonly number[], fixed: readonly Interval[]): boolean => {
    const [d, ...others] = rest;
    if (d === undefined) {
      const here = { dims: fixed, indices: ranges.indices };
      if (free) return inside(intervalOf(form, here));
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
 * Returns the largest n in [low, high] for which `fits(n)` is true, by binary search; undefined if there is
 * none. `fits` must be true up to some point and false after it.
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
