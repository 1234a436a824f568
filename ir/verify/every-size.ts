/**
 * The rules of a map whose symbols are open: what V1 and V2 of `map-rules.ts` say holds for every size that
 * its symbols may have, or the map is refused. A coordinate that holds a bare read is judged once sizes are
 * bound, and with it the bound of the read.
 */
import { defined } from "../defined.js";
import { formsOf, indexed, isRead, type Forms } from "../access.js";
import { coordinatesOf } from "../intervals/index-bounds.js";
import type { Diagnostic } from "../diagnostic.js";
import { outputOf, outputPlace, inputsOf, type AccessFunc } from "../func.js";
import { rangesOf, staysWithin } from "../intervals/intervals.js";
import { boundOf, rejoined, type Interval, type Ranges } from "../intervals/range.js";
import {
  add,
  atomsOf,
  constant,
  dimsOf,
  div,
  evaluate,
  isConstant,
  quotient,
  remainder,
  scale,
  indicesOf,
  sub,
  symbol,
  symbolsOf,
  type Atom,
  type Linear,
  type Term,
  greatestCommonDivisor,
} from "../linear.js";
import { domainOver, extentsOver, type Symbolic } from "../symbols/symbols.js";
import { printLinear } from "../text/print.js";
import { assertNever, at, InternalError } from "../types.js";
import { broken } from "./broken.js";
import { verifyMap } from "./map-rules.js";

/** The least and the most of a coordinate, over symbols. */
type FormInterval = readonly [least: Linear, most: Linear];

interface FormIntervals {
  readonly dims: readonly FormInterval[];
  /** Undefined for a bare read, whose bound waits for sizes. */
  readonly indices: readonly (FormInterval | undefined)[];
  /** Ranges of the symbols at the place where a coordinate is read. */
  readonly sizes: ReadonlyMap<string, Interval>;
}

/**
 * Returns the violations of rules V1 and V2 that occur for some size of the function's symbols (dynamic
 * extents). V1: coordinates are inside the tensor. V2: the operand of `div` or `mod` is never negative. If
 * the map breaks a rule that does not depend on sizes, only these violations are returned.
 */
export function verifyEverySize(func: AccessFunc): Diagnostic[] {
  const { symbolic, opSpan } = func;
  if (symbolic === undefined) return [];
  const form = verifyMap(func.map, func, opSpan, "regions");
  if (form.length > 0) return form;
  // An output without elements has index values where none follows its dim that is empty.
  const elements = placeOf(func, symbolic, 1);
  const indices = indexed(func.map).has(0) ? elements : placeOf(func, symbolic, 0);
  const { indices: operandForms, reads, write } = symbolic.map;
  const cases = [
    [indices, { indices: operandForms, reads: [] }],
    [elements, { indices: [], reads, write }],
  ] as const;
  const faults = [negative, outside].flatMap((rule) => cases.flatMap(([place, forms]) => rule(place, forms)));
  return faults.map(({ rule, message, hint }) =>
    broken(rule, message, opSpan, { code: "TC204", ...defined({ hint }) }),
  );
}

interface Place {
  readonly func: AccessFunc;
  readonly symbolic: Symbolic;
  readonly intervals: FormIntervals;
  /** Extents of every operand, over symbols. */
  readonly extents: readonly (readonly Linear[])[];
  /**
   * Ranges of the map with every symbol at its maximum. They are exact for values that depend on no symbol.
   */
  readonly numbers: Ranges;
}

/** Returns the extents of the points of a map over symbols. */
const pointsOver = (func: AccessFunc, { domain, outermost, map }: Symbolic): readonly Linear[] =>
  domain === undefined
    ? extentsOver(outputOf(func).type.shape, outermost[outputPlace(func)] ?? null)
    : domainOver(map.domain, domain);

/**
 * Returns the intervals of dims and index values, and the extents of operands, as linear expressions over
 * symbols. `least`: smallest size (0 or 1) assumed for a symbol that is an extent of the domain; other
 * symbols begin at 0.
 */
function placeOf(func: AccessFunc, symbolic: Symbolic, least: 0 | 1): Place {
  const extents = func.operands.map(({ type }, k) => extentsOver(type.shape, symbolic.outermost[k] ?? null));
  const dims = pointsOver(func, symbolic).map((extent): FormInterval => [
    constant(0),
    sub(extent, constant(1)),
  ]);
  const inputs = inputsOf(func).map(({ type }) => type);
  const { reduced } = symbolic.map;
  if (reduced !== undefined) {
    // In a bag, r is below where its terms end.
    const end =
      reduced.segment === undefined ? undefined : at(symbolic.map.indices, reduced.segment.to).extent;
    dims.push([constant(0), end === undefined ? constant(reduced.max - 1) : sub(end, constant(2))]);
  }
  const numbers = rangesOf(func.map, inputs, func.map.domain);
  const read = symbolic.domain ?? [symbolic.outermost[outputPlace(func)] ?? null];
  const sizes = new Map(
    symbolic.symbols.map(({ name, most }): [string, Interval] => [
      name,
      [read.includes(name) ? least : 0, most],
    ]),
  );
  const indices = symbolic.map.indices.reduce<readonly (FormInterval | undefined)[]>(
    (before, index, s) => [
      ...before,
      indexInterval(index, at(numbers.indices, s), { dims, indices: before, sizes }),
    ],
    [],
  );
  return { func, symbolic, intervals: { dims, indices, sizes }, extents, numbers };
}

/**
 * Returns the inclusive limits of an index value, as linear expressions over symbols; undefined if no limits
 * are known. `[least, max]`: limits to use if the value is read from a tensor without an out-of-range policy.
 */
function indexInterval(
  { outOfRange, extent, value }: Symbolic["map"]["indices"][number],
  [least, max]: Interval,
  before: FormIntervals,
): FormInterval | undefined {
  // A bound of 0 or less leaves no value, and nothing to prove.
  if (outOfRange !== "any") return extent === undefined ? undefined : [constant(0), sub(extent, constant(1))];
  return isRead(value) ? [constant(least), constant(max)] : intervalOver(value, before);
}

interface Fault {
  readonly rule: string;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Returns the violations of rule V2 by an access map with symbols (dynamic extents). V2: the operand of `div`
 * or `mod` is not negative for any size.
 */
function negative(place: Place, forms: Forms): Fault[] {
  return formsOf(forms)
    .flatMap(atomsOf)
    .flatMap((of): Fault[] => {
      if (of.kind !== "div" && of.kind !== "mod") return [];
      const interval = intervalOver(of.of, place.intervals);
      if (interval === undefined || neverNegative(interval[0], place.intervals.sizes) === true) return [];
      if (!isDynamic(of.of, place) && staysWithin(of.of, Infinity, place.numbers)) return [];
      return [{ rule: "V2", message: `${of.kind} ${of.by} is of ${shown(interval)}: it may be negative` }];
    });
}

/**
 * Returns the violations of rule V1 by an access map with symbols (dynamic extents). V1: coordinates are
 * inside the tensor for every size.
 */
function outside(place: Place, forms: Forms): Fault[] {
  const { func, intervals, extents } = place;
  const { operands } = func;
  const placed = coordinatesOf(
    forms,
    operands.map(({ type }) => type),
  );
  return placed.flatMap(({ coord, extent: max, table, dim }): Fault[] => {
    const extent = at(at(extents, table), dim);
    const interval = intervalOver(coord, intervals);
    if (interval === undefined) return [];
    if (isConstant(extent) && !isDynamic(coord, place) && staysWithin(coord, max, place.numbers)) return [];
    const counter = [interval[0], sub(sub(extent, constant(1)), interval[1])]
      .map((form) => neverNegative(form, intervals.sizes))
      .find((verdict) => verdict !== true);
    if (counter === undefined) return [];
    const where = `dim ${dim} of %${at(operands, table).name}, which has ${printLinear(extent)} elements`;
    const when = counter === "unproved" ? "" : `, where ${counter}`;
    const hint =
      indicesOf(coord).length === 0 ? {} : { hint: `bound the sum: error(… in ${printLinear(extent)})` };
    return [{ rule: "V1", message: `a coordinate is ${shown(interval)}, outside ${where}${when}`, ...hint }];
  });
}

const shown = ([least, max]: FormInterval): string => `${printLinear(least)} to ${printLinear(max)}`;

/** True if the size of a symbol affects the range of a form. */
const isDynamic = (form: Linear, { symbolic, intervals: intervals }: Place): boolean => {
  const bounds = [
    ...dimsOf(form).map((d) => at(intervals.dims, d)),
    ...indicesOf(form).map((s) => intervals.indices[s] ?? []),
  ];
  const followed = symbolic.symbols.map(({ name }) => name);
  return [form, ...bounds.flat()].some((of) => symbolsOf(of).some((name) => followed.includes(name)));
};

/**
 * Returns the lower and upper limit of a linear expression, as linear expressions over symbols (dynamic
 * extents). Undefined if the expression uses an index value without known limits.
 */
function intervalOver(form: Linear, intervals: FormIntervals): FormInterval | undefined {
  const { at: offset, terms } = rejoined(form);
  let interval: FormInterval = [constant(offset), constant(offset)];
  for (const { by, of } of terms) {
    const inner = intervalOfAtom(of, intervals);
    if (inner === undefined) return undefined;
    const [a, b] = by > 0 ? inner : [inner[1], inner[0]];
    interval = [add(interval[0], scale(a, by)), add(interval[1], scale(b, by))];
  }
  return interval;
}

/**
 * Returns the lower and upper limit of an atom (dim, index value, symbol, `div` or `mod`), as linear
 * expressions over symbols. Undefined if the atom uses an index value without known limits.
 */
function intervalOfAtom(of: Atom, intervals: FormIntervals): FormInterval | undefined {
  switch (of.kind) {
    case "dim":
      return at(intervals.dims, of.dim);
    case "index":
      return intervals.indices[of.index];
    case "symbol":
      return [symbol(of.name), symbol(of.name)];
    case "div": {
      const interval = intervalOver(of.of, intervals);
      return interval === undefined ? undefined : [div(interval[0], of.by), div(interval[1], of.by)];
    }
    case "mod": {
      const interval = intervalOver(of.of, intervals);
      if (interval === undefined) return undefined;
      const [least, max] = interval;
      const onePeriod =
        isConstant(least) && isConstant(max) && quotient(least.at, of.by) === quotient(max.at, of.by);
      if (onePeriod) return [constant(remainder(least.at, of.by)), constant(remainder(max.at, of.by))];
      const first = [least, sub(constant(of.by - 1), max)];
      const inFirstPeriod = first.every((form) => neverNegative(form, intervals.sizes) === true);
      return inFirstPeriod ? interval : [constant(0), constant(of.by - 1)];
    }
    case "iv":
    case "min":
      throw new InternalError(`a map over whole tensors has no ${of.kind}`);
    default:
      return assertNever(of);
  }
}

/** Sizes of one symbol that are tried one by one: two periods of its divisions. */
const maxTried = 4096;

/**
 * Returns true if a linear expression over symbols (dynamic extents) is at least 0 for all sizes. Else
 * returns a text: sizes at which the expression is negative, or `unproved`. `sizes`: range of each symbol.
 */
function neverNegative(form: Linear, sizes: ReadonlyMap<string, Interval>): true | string {
  const groups = new Map<string, Term[]>();
  for (const term of form.terms) {
    const names = [...new Set(symbolsOf({ at: 0, terms: [term] }))].sort().join();
    groups.set(names, [...(groups.get(names) ?? []), term]);
  }
  let least = form.at;
  const worst: string[] = [];
  let exact = true;
  for (const [name, terms] of groups) {
    const group = { at: 0, terms };
    const minimum = sizes.has(name) ? leastOver(group, name, sizes) : undefined;
    exact &&= minimum !== undefined;
    least += minimum?.value ?? boundOf(group, { symbols: sizes }, "least");
    if (minimum !== undefined) worst.push(`${name} is ${minimum.size}`);
  }
  if (least >= 0) return true;
  return exact && worst.length > 0 ? worst.join(" and ") : "unproved";
}

/**
 * Returns the smallest value of a linear expression over all sizes of symbol `name`, and a size at which the
 * expression has this value. Undefined if the period of the expression's `div` and `mod` is too long to try.
 */
function leastOver(
  form: Linear,
  name: string,
  sizes: ReadonlyMap<string, Interval>,
): { readonly value: number; readonly size: number } | undefined {
  const [first, last] = sizes.get(name) ?? [0, 0];
  const period = periodOf(form);
  if (period > maxTried) return undefined;
  let smallest = { value: Infinity, size: first };
  const look = (size: number): void => {
    const value = evaluate(form, new Map([[name, size]]));
    if (value < smallest.value) smallest = { value, size };
  };
  for (let size = first; size <= Math.min(last, first + period - 1); size++) look(size);
  for (let size = Math.max(first, last - period + 1); size <= last; size++) look(size);
  return smallest;
}

function periodOf(form: Linear): number {
  return form.terms.reduce((period, { of }) => {
    const multiple = of.kind === "div" || of.kind === "mod" ? of.by * periodOf(of.of) : 1;
    return (period * multiple) / greatestCommonDivisor(period, multiple);
  }, 1);
}
