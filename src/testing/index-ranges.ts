/** The index values that an access map takes without any policy: what random indices are drawn from. */
import {
  at,
  dimRanges,
  dimsOf,
  rangeOf,
  isRead,
  bitsOf,
  isSigned,
  indicesOf,
  soleAtom,
  strides,
  type AccessMap,
  type DType,
  type Interval,
  type Linear,
  type Ranges,
  type Term,
} from "../../ir/index.js";
import type { DefinedMap } from "../../backends/reference/defined-map.js";

/**
 * Range of the values that are valid for one element of an index input, from `least` to `max` (both
 * inclusive). With such a value, every index operand that reads the element is in range.
 */
export interface IndexRange {
  readonly least: number;
  readonly max: number;
  /** Number that is added to a negative value; absent if negative values do not count from the end. */
  readonly wrapNegativeBy?: number;
  /**
   * True if an index operand with the policy `unchecked` reads the element: the result for a value out of
   * range is then undefined.
   */
  readonly promised: boolean;
  /**
   * Least and greatest value of the index type, within the integers that a JavaScript number holds exactly.
   */
  readonly limits: readonly [lowest: number, highest: number];
}

/**
 * Returns the least and greatest value of an index type, limited to the integers that a JavaScript number
 * represents exactly.
 */
export function indexLimits(dtype: DType): readonly [lowest: number, highest: number] {
  const bits = bitsOf(dtype) - (isSigned(dtype) ? 1 : 0);
  const highest = Math.min(2 ** bits - 1, Number.MAX_SAFE_INTEGER);
  return [isSigned(dtype) ? -highest - 1 : 0, highest];
}

/**
 * Returns a function that gives the range of valid values of one element of an index input. The argument is
 * the row-major position (0-based) of the element. Every index operand that reads the element accepts the
 * values of the range. `table`: number of the input among the operands, from 0.
 */
export function indexRanges(defined: DefinedMap, table: number): (position: number) => IndexRange {
  const { map, operands } = defined;
  const { shape, dtype } = at(operands, table).type;
  const by = strides(shape);
  const everywhere = dimRanges(map.domain, map);
  const inner = new Set(map.indices.flatMap(({ value }) => (isRead(value) ? [] : indicesOf(value))));
  const summed = new Set(map.indices.flatMap((index) => (isRead(index.value) ? [] : dimsOf(index.value))));
  const signed = isSigned(dtype);
  const reads = map.indices.flatMap(({ value, wrapNegativeBy }, s) =>
    isRead(value) && value.table === table
      ? [
          {
            index: s,
            ...(signed && wrapNegativeBy !== undefined ? { wrapNegativeBy } : {}),
            promised: consumersOf(map, s).some(
              (consumer) => at(map.indices, consumer).outOfRange === "unchecked",
            ),
            coords: value.at,
            // The dims that the position tells, where a sum makes the range hang on them.
            params: value.at.map((coord) =>
              inner.has(s) && dimsOf(coord).some((d) => summed.has(d)) ? soleDim(coord) : undefined,
            ),
          },
        ]
      : [],
  );
  const ranges = new Map<number, Interval>();
  const rangeAt = (position: number): IndexRange => {
    let [least, max] = [-Infinity, Infinity];
    let wrapNegativeBy = Infinity;
    let promised = false;
    for (const read of reads) {
      const place = shape.map((extent, k) => Math.floor(position / at(by, k)) % extent);
      if (!read.coords.every((coord, k) => coord.terms.length > 0 || coord.at === place[k])) continue;
      const dims = [...everywhere];
      read.params.forEach((d, k) => {
        if (d !== undefined) dims[d] = [at(place, k), at(place, k)];
      });
      const moves = read.params.some((d) => d !== undefined);
      let allowed: Interval | undefined = moves ? undefined : ranges.get(read.index);
      allowed ??= indexRange(map, read.index, dims);
      if (!moves) ranges.set(read.index, allowed);
      least = Math.max(least, allowed[0]);
      max = Math.min(max, allowed[1]);
      wrapNegativeBy = Math.min(wrapNegativeBy, read.wrapNegativeBy ?? 0);
      promised ||= read.promised;
    }
    if (least === -Infinity || max < least) [least, max] = [Math.max(least, 0), Math.max(least, 0)];
    return {
      least,
      max,
      ...(wrapNegativeBy > 0 && wrapNegativeBy < Infinity ? { wrapNegativeBy } : {}),
      promised,
      limits: indexLimits(dtype),
    };
  };
  const moves = reads.some(({ coords, params }) =>
    coords.some((coord, k) => coord.terms.length === 0 || params[k] !== undefined),
  );
  const everyone = rangeAt(0);
  return moves ? rangeAt : () => everyone;
}

/**
 * Returns the output dim that is by itself a coordinate; undefined if the coordinate is any other expression.
 */
function soleDim(coord: Linear): number | undefined {
  const of = soleAtom(coord);
  return of?.kind === "dim" ? of.dim : undefined;
}

/**
 * Returns the numbers (0-based) of the index operands whose value depends on index operand `index`, directly
 * or through other index operands. The number `index` is included.
 */
function consumersOf({ indices }: AccessMap, index: number): readonly number[] {
  const consumers = [index];
  indices.forEach((operand, s) => {
    if (!isRead(operand.value) && indicesOf(operand.value).some((inner) => consumers.includes(inner)))
      consumers.push(s);
  });
  return consumers;
}

/**
 * Returns a range of values (both ends inclusive) for index operand `index` (0-based). With such a value, the
 * operand is in range, and so is every index operand that is a sum with this operand as a term.
 */
function indexRange({ indices }: AccessMap, index: number, dims: Ranges["dims"]): Interval {
  const nothing: Interval = [0, 0];
  const before: Interval[] = indices.map(() => nothing);
  const ranges = new Map<number, Interval>();
  const leftFor = (s: number): Interval => {
    const inner = ranges.get(s);
    if (inner !== undefined) return inner;
    const { outOfRange, extent } = at(indices, s);
    let allowed: Interval | undefined =
      outOfRange === "any" || extent === undefined ? undefined : [0, extent - 1];
    indices.forEach(({ value }, k) => {
      if (isRead(value) || !indicesOf(value).includes(s)) return;
      const later = indicesOf(value).filter((other) => other > s && at(indices, other).outOfRange === "any");
      const range = solved(value, s, leftFor(k), { dims, indices: before });
      const share = Math.floor((range[1] - range[0]) / (1 + new Set(later).size));
      const narrowed: Interval = [
        Math.max(allowed?.[0] ?? -Infinity, range[0]),
        Math.min(allowed?.[1] ?? Infinity, range[0] + share),
      ];
      if (allowed === undefined || narrowed[0] <= narrowed[1]) allowed = narrowed;
    });
    const range = allowed ?? nothing;
    ranges.set(s, range);
    return range;
  };
  for (let s = 0; s < index; s++) before[s] = leftFor(s);
  return leftFor(index);
}

/**
 * Returns the range (both ends inclusive) of values of index operand `s` that keep the sum `form` in [least,
 * max] for all values of the other variables. If there is no such value, returns the values that do so for
 * some values of the other variables. `ranges`: ranges of the other variables.
 */
function solved(form: Linear, s: number, [least, max]: Interval, ranges: Ranges): Interval {
  const term = form.terms.find(({ of }) => indicesOf({ at: 0, terms: [{ by: 1, of }] }).includes(s));
  if (term === undefined) return [0, 0];
  const [low, high] = rangeOf(without(form, term), ranges);
  const always = divided([least - low, max - high], term.by);
  const solution = always[0] <= always[1] ? always : divided([least - high, max - low], term.by);
  const { of } = term;
  if (of.kind === "div")
    return solved(of.of, s, [solution[0] * of.by, solution[1] * of.by + of.by - 1], ranges);
  if (of.kind === "mod")
    return solved(of.of, s, [Math.max(0, solution[0]), Math.min(of.by - 1, solution[1])], ranges);
  return solution;
}

const without = (form: Linear, term: Term): Linear => ({
  at: form.at,
  terms: form.terms.filter((other) => other !== term),
});

/** Returns the whole numbers that times `by` lie in an interval. */
function divided([least, max]: Interval, by: number): Interval {
  const ends = by > 0 ? [least / by, max / by] : [max / by, least / by];
  return [Math.ceil(at(ends, 0)), Math.floor(at(ends, 1))];
}
