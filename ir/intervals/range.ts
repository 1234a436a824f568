/**
 * Bounds of the values of a linear form, by interval arithmetic over its dims, index operands, symbols and
 * loop variables. The cost does not depend on extents or trip counts.
 */
import {
  add,
  constant,
  equalLinear,
  isConstant,
  quotient,
  remainder,
  scale,
  sub,
  type Atom,
  type Linear,
  type Term,
} from "../linear.js";
import type { ForStmt } from "../tile.js";

/** Closed interval of integers, with inclusive ends. */
export type Interval = readonly [least: number, most: number];

/** Ranges of the variables that a linear expression may contain. */
export interface Ranges {
  /** Ranges of the dims, by position. */
  readonly dims: readonly Interval[];
  /** Ranges of the index operands' values, by position. */
  readonly indices: readonly Interval[];
  /** Ranges of the symbols' sizes, by symbol name. */
  readonly symbols?: ReadonlyMap<string, Interval>;
  /** The loops around the form, outermost first. A symbol may be the variable of a loop over its sizes. */
  readonly loops?: readonly ForStmt[];
}

/**
 * Returns bounds of a linear expression, as an interval that contains the values in all iterations. A
 * variable without a range is unbounded.
 */
export function rangeOf(form: Linear, ranges: Partial<Ranges>): Interval {
  const scope = scopeOf(ranges);
  return [boundIn(form, scope, "least"), boundIn(form, scope, "most")];
}

/** Returns the lower or upper bound of a linear expression: one end of {@link rangeOf}. */
export const boundOf = (form: Linear, ranges: Partial<Ranges>, end: End): number =>
  boundIn(form, scopeOf(ranges), end);

/** Ranges of variables, and of the quotients and remainders whose ranges are already computed. */
interface Scope extends Required<Ranges> {
  /** A nested remainder needs both bounds of its form: without the cache, each level doubles the work. */
  rounded: Map<RoundedAtom, Interval> | undefined;
}

const scopeOf = ({ dims = [], indices = [], symbols = noSizes, loops = [] }: Partial<Ranges>): Scope => ({
  dims,
  indices,
  symbols,
  loops,
  rounded: undefined,
});

const noSizes: ReadonlyMap<string, Interval> = new Map();

/** One end of an interval. */
export type End = "least" | "most";

/** Returns the lower or upper bound of a linear expression. `end`: selects the bound. */
function boundIn(unjoined: Linear, scope: Scope, end: End): number {
  const form = rejoined(unjoined);
  if (form.terms.every(isVariable)) return affineBound(form, scope, end);
  const rounded = form.terms.find(isRounded);
  if (rounded !== undefined) {
    const bound = endOf(roundedRange(rounded.of, scope), rounded.by, end);
    return rounded.by * bound + boundIn(without(form, rounded), scope, end);
  }
  const minima = form.terms.filter(({ of }) => of.kind === "min");
  const minimum = minima.find(({ by }) => by > 0 === (end === "least")) ?? minima[0];
  if (minimum?.of.kind === "min") {
    const rest = without(form, minimum);
    if (minima.length > 1 && choicesOf(form) > maxChoices)
      return boundIn({ at: 0, terms: [minimum] }, scope, end) + boundIn(rest, scope, end);
    const sides = minimum.of.of.map((side) => boundIn(add(rest, scale(side, minimum.by)), scope, end));
    return minimum.by > 0 ? Math.min(...sides) : Math.max(...sides);
  }
  return affineBound(form, scope, end);
}

/** Maximum number of choices of sides for which the minima of a form are bounded together. */
const maxChoices = 256;

/** Returns in how many ways each minimum of a form, nested minima too, can be one of its sides. */
const choicesOf = ({ terms }: Linear): number =>
  terms.reduce(
    (product, { of }) =>
      of.kind === "min" ? product * (choicesOf(of.of[0]) + choicesOf(of.of[1])) : product,
    1,
  );

/** Returns the value in an interval at which `by` times the value is least or greatest. */
const endOf = ([least, max]: Interval, by: number, end: End): number =>
  by > 0 === (end === "least") ? least : max;

const without = ({ at: constantTerm, terms }: Linear, term: Term): Linear => ({
  at: constantTerm,
  terms: terms.filter((other) => other !== term),
});

/** True if a term is a variable times a number. */
const isVariable = ({ of }: Term): boolean => of.kind !== "div" && of.kind !== "mod" && of.kind !== "min";

/** Quotient or remainder by a constant. */
type RoundedAtom = Extract<Atom, { readonly kind: "div" | "mod" }>;

const isRounded = (term: Term): term is Term & { readonly of: RoundedAtom } =>
  term.of.kind === "div" || term.of.kind === "mod";

/** Returns an interval that contains all values of a quotient or remainder. */
function roundedRange(of: RoundedAtom, scope: Scope): Interval {
  const rounded = (scope.rounded ??= new Map<RoundedAtom, Interval>());
  const cached = rounded.get(of);
  if (cached !== undefined) return cached;
  const [least, max] = [boundIn(of.of, scope, "least"), boundIn(of.of, scope, "most")];
  const periods = [quotient(least, of.by), quotient(max, of.by)] as const;
  const onePeriod = periods[0] === periods[1] && Number.isFinite(least);
  const remainders: Interval = onePeriod ? [remainder(least, of.by), remainder(max, of.by)] : [0, of.by - 1];
  const range = of.kind === "div" ? periods : remainders;
  rounded.set(of, range);
  return range;
}

/** Returns the lower or upper bound of a linear expression without div, mod and min. */
function affineBound(form: Linear, scope: Scope, end: End): number {
  const { loops } = scope;
  const depth = loops.findLastIndex(({ iv }) => form.terms.some(({ of }) => variesWith(of, iv)));
  const loop = loops[depth];
  const term = loop && form.terms.find(({ of }) => variesWith(of, loop.iv));
  if (loop === undefined || term === undefined) {
    return form.terms.reduce(
      (sum, { by, of }) => sum + by * endOf(rangeOfVariable(of, scope), by, end),
      form.at,
    );
  }
  const outer = scopeOf({ ...scope, loops: loops.slice(0, depth) });
  const rest = without(form, term);
  const put = (value: Linear): number => boundIn(add(rest, scale(value, term.by)), outer, end);
  if (term.by > 0 === (end === "least")) return put(loop.lower);
  const bounds = lastValues(loop, outer.loops).map(put);
  return end === "least" ? Math.max(...bounds) : Math.min(...bounds);
}

const unbounded: Interval = [-Infinity, Infinity];

/** Returns the range of a dim, an index operand or a symbol. */
function rangeOfVariable(of: Atom, { dims, indices, symbols }: Scope): Interval {
  const range =
    of.kind === "dim"
      ? dims[of.dim]
      : of.kind === "index"
        ? indices[of.index]
        : of.kind === "symbol"
          ? symbols.get(of.name)
          : undefined;
  return range ?? unbounded;
}

/** True if an atom is the loop variable of a name. A symbol is the variable of the loop over its sizes. */
const variesWith = (of: Atom, name: string): boolean =>
  (of.kind === "iv" || of.kind === "symbol") && of.name === name;

/**
 * Returns upper bounds of a loop variable's last value, as linear expressions in the outer loop variables.
 */
function lastValues(loop: ForStmt, outer: readonly ForStmt[]): Linear[] {
  const { lower, step } = loop;
  const ends = (upper: Linear): Linear[] => {
    const trip = sub(upper, lower);
    if (isConstant(trip)) return [add(lower, constant(Math.floor((trip.at - 1) / step) * step))];
    const only = upper.terms.length === 1 && upper.terms[0]?.by === 1 ? upper.terms[0].of : undefined;
    if (only?.kind === "min") return only.of.flatMap((side) => ends(add(side, constant(upper.at))));
    const first = residue(lower, step, outer);
    if (isConstant(upper) && first !== undefined) {
      return [constant(first + Math.floor((upper.at - 1 - first) / step) * step)];
    }
    return [add(upper, constant(-1))];
  };
  return ends(loop.upper);
}

/** Returns a linear expression in which `n * (x div n) + x mod n` is replaced by x. */
export function rejoined(form: Linear): Linear {
  for (const quotientTerm of form.terms) {
    const { of, by } = quotientTerm;
    if (of.kind !== "div") continue;
    const rest = form.terms.find(
      (term) =>
        term.of.kind === "mod" &&
        term.of.by === of.by &&
        term.by * of.by === by &&
        equalLinear(term.of.of, of.of),
    );
    if (rest === undefined) continue;
    const others = form.terms.filter((term) => term !== quotientTerm && term !== rest);
    return rejoined(add({ at: form.at, terms: others }, scale(of.of, rest.by)));
  }
  return form;
}

/**
 * Returns the remainder of a linear expression divided by `by`. Undefined if the remainder may differ between
 * iterations of the loops.
 */
export function residue(form: Linear, by: number, loops: readonly ForStmt[]): number | undefined {
  let sum = form.at;
  for (const term of form.terms) {
    const rest = residueOf(term.of, term.by, by, loops);
    if (rest === undefined) return undefined;
    sum += rest;
  }
  return ((sum % by) + by) % by;
}

/**
 * Returns the remainder of `factor` times an atom divided by `by`. Undefined if the remainder may differ
 * between iterations of the loops.
 */
function residueOf(of: Atom, factor: number, by: number, loops: readonly ForStmt[]): number | undefined {
  if (factor % by === 0) return 0;
  if (of.kind === "min") {
    const [a, b] = of.of.map((side) => residue(scale(side, factor), by, loops));
    return a === b ? a : undefined;
  }
  if (of.kind !== "iv") return undefined;
  const loop = loops.find(({ iv }) => iv === of.name);
  if (loop === undefined || (factor * loop.step) % by !== 0) return undefined;
  return residue(scale(loop.lower, factor), by, loops.slice(0, loops.indexOf(loop)));
}
