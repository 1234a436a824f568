/**
 * The values that a coordinate of an access map can take, by interval arithmetic: what a region must contain, and the proof
 * that a coordinate stays inside its extent.
 */
import { isRead, termDim, type AccessMap, type Site } from "../access.js";
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

/** Both ends belong to it. */
export type Interval = readonly [least: number, most: number];

/** What the dims and the sites of a map can be, by number. */
export interface Ranges {
  readonly dims: readonly Interval[];
  readonly sites: readonly Interval[];
  /** By name. */
  readonly symbols?: ReadonlyMap<string, Interval>;
  /** What the loops around a tile can be, by name; absent over whole tensors. */
  readonly loops?: (name: string) => Interval;
}

/** Bounds that hold at every point; reached where the terms do not depend on each other. */
export function intervalOf(form: Linear, ranges: Ranges): Interval {
  let [least, most] = [form.at, form.at];
  for (const { by, of } of rejoined(form.terms)) {
    const [a, b] = intervalOfAtom(of, ranges);
    least += by * (by > 0 ? a : b);
    most += by * (by > 0 ? b : a);
  }
  return [least, most];
}

function intervalOfAtom(of: Atom, ranges: Ranges): Interval {
  switch (of.kind) {
    case "dim":
      return at(ranges.dims, of.dim);
    case "site":
      return at(ranges.sites, of.site);
    case "div": {
      const [least, most] = intervalOf(of.of, ranges);
      return [quotient(least, of.by), quotient(most, of.by)];
    }
    case "mod": {
      const [least, most] = intervalOf(of.of, ranges);
      const oneTurn = quotient(least, of.by) === quotient(most, of.by);
      return oneTurn ? [remainder(least, of.by), remainder(most, of.by)] : [0, of.by - 1];
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

/** `n * (x div n) + x mod n` is x. */
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

/** What the index types hold. */
const indexRanges: Readonly<Record<IndexDType, Interval>> = {
  ...integerRanges,
  i64: [-(2 ** 63), 2 ** 63 - 1],
  u64: [0, 2 ** 64 - 1],
};

/** An index value that nothing bounds yet. */
export const anyIndex: Interval = [0, maxElements - 1];

/** An empty dim counts as its first place: nothing is read there. `map`: where r is a dim behind those of the output. */
export const dimRanges = (output: Shape, map: Walked = { sites: [] }): Interval[] =>
  [...output, ...(map.reduced === undefined ? [] : [termPlaces(map)])].map((extent) => [
    0,
    Math.max(0, extent - 1),
  ]);

type Walked = Pick<AccessMap, "reduced"> & { readonly sites: readonly Pick<Site, "below">[] };

/** The least number that r is below: the number of terms, and in a bag the last place at which terms may end. 0 where there are none. */
export function termPlaces({ reduced, sites }: Walked): number {
  if (reduced?.bag === undefined) return reduced?.most ?? 0;
  return Math.max(0, (sites[reduced.bag.to]?.below ?? maxElements) - 1);
}

/** Whether a form is never evaluated: it follows r, and no element has a term. */
export const isOfNoTerm = (form: Linear, map: Walked & Pick<AccessMap, "domain">): boolean =>
  dimsOf(form).includes(termDim(map)) && termPlaces(map) === 0;

/** The ranges of a map whose sites are in order; a site whose bound is open counts as any index. */
export function rangesOf(
  map: Pick<AccessMap, "reduced"> & { readonly sites: readonly Bounded[] },
  inputs: readonly TensorType[],
  output: Shape,
  around: Pick<Ranges, "loops" | "symbols"> = {},
): Ranges {
  const fixed = { dims: dimRanges(output, map), ...around };
  const sites: Interval[] = [];
  const ranges = { ...fixed, sites };
  for (const site of map.sites) sites.push(siteRange(site, inputs, ranges));
  return ranges;
}

type Bounded = Pick<Site, "value" | "keep" | "below"> & { readonly fromEnd?: number | "below" };

function siteRange(site: Bounded, inputs: readonly TensorType[], before: Ranges): Interval {
  const { keep, below, fromEnd, value } = site;
  if (keep !== "any") return below === undefined ? anyIndex : [0, Math.max(0, below - 1)];
  const [least, most] = isRead(value) ? typeRange(inputs[value.table]?.dtype) : intervalOf(value, before);
  // What counts from the end ends up below that end.
  return least < 0 && typeof fromEnd === "number" ? [least, Math.max(most, fromEnd - 1)] : [least, most];
}

const typeRange = (dtype: DType | undefined): Interval =>
  dtype === undefined || !isIndexDType(dtype) ? anyIndex : indexRanges[dtype];

/** Points of the output dims that are tried one by one where intervals prove nothing. */
const mostTried = 4096;

const noLoops: Env = new Map();

/** Whether a form lies in [0, below) at every point. */
export function staysBelow(form: Linear, below: number, ranges: Ranges): boolean {
  const inside = ([least, most]: Interval): boolean => least >= 0 && most < below;
  if (inside(intervalOf(form, ranges))) return true;
  const dims = [...new Set(atomsOf(form).flatMap((of) => (of.kind === "dim" ? [of.dim] : [])))];
  const points = dims.reduce((product, d) => product * (at(ranges.dims, d)[1] + 1), 1);
  if (dims.length === 0 || points > mostTried) return false;
  const free = atomsOf(form).some(({ kind }) => kind === "site");
  const every = (rest: readonly number[], fixed: readonly Interval[]): boolean => {
    const [d, ...others] = rest;
    if (d === undefined) {
      const here = { dims: fixed, sites: ranges.sites };
      if (free) return inside(intervalOf(form, here));
      const value = evaluate(form, noLoops, { dims: fixed.map(([only]) => only), sites: [] });
      return value >= 0 && value < below;
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

/** The largest n in [low, high] with `fits(n)`, for a `fits` that is true up to some point; undefined if none. */
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
