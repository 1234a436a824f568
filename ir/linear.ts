/**
 * Linear forms: the one way to write a coordinate of an access map, an offset, a size, a loop bound or an
 * address.
 *
 * A form is a constant plus terms, each an atom times a whole number, in canonical order: two forms that mean
 * the same sum are equal values. Access maps use the atoms `dim`, `index`, `div` and `mod`, before their
 * sizes are bound also `symbol`; tile programs use `iv` and `min`, addresses both.
 */
import { checkArgument } from "./argument.js";
import { assertNever, at, InternalError } from "./types.js";

/**
 * Atom (variable part) of a linear expression: an output dim, an index value, a loop variable, a symbol
 * (named dynamic size), or a nested div, mod or min.
 */
export type Atom =
  /** A coordinate of the output. */
  | { readonly kind: "dim"; readonly dim: number }
  /** A resolved index value, by its number in the map's list. */
  | { readonly kind: "index"; readonly index: number }
  /** A loop variable. */
  | { readonly kind: "iv"; readonly name: string }
  /** A size that a program leaves open. */
  | { readonly kind: "symbol"; readonly name: string }
  /** The quotient, rounded down. */
  | { readonly kind: "div"; readonly of: Linear; readonly by: number }
  /** The remainder, never negative. */
  | { readonly kind: "mod"; readonly of: Linear; readonly by: number }
  | { readonly kind: "min"; readonly of: readonly [Linear, Linear] };

/** Term of a linear expression: the atom `of` times the integer `by`. */
export interface Term {
  readonly by: number;
  readonly of: Atom;
}

/**
 * Linear expression: the constant `at` plus terms in canonical order. Linear expressions represent
 * coordinates, offsets, sizes, bounds and addresses.
 */
export interface Linear {
  readonly at: number;
  readonly terms: readonly Term[];
}

/** Returns the linear expression of a constant, which has no terms. */
export const constant = (value: number): Linear => ({ at: value, terms: [] });
const atom = (of: Atom): Linear => ({ at: 0, terms: [{ by: 1, of }] });
/** Returns the linear expression of a loop variable. */
export const iv = (name: string): Linear => atom({ kind: "iv", name });
/** Returns the linear expression of a symbol, a named dynamic size. */
export const symbol = (name: string): Linear => atom({ kind: "symbol", name });
/** Returns the linear expression of an output dim. `d`: position of the dim, from 0. */
export const dim = (d: number): Linear => atom({ kind: "dim", dim: d });
/** Returns the linear expression of an index value. `s`: position of the index operand in the access map. */
export const index = (s: number): Linear => atom({ kind: "index", index: s });

/** Returns the difference `lhs - rhs` of two linear expressions. */
export const sub = (lhs: Linear, rhs: Linear): Linear => add(lhs, scale(rhs, -1));

/** Returns the sum of two linear expressions. */
export function add(lhs: Linear, rhs: Linear): Linear {
  checkArgument("add", "coordinate", lhs);
  checkArgument("add", "coordinate", rhs);
  if (rhs.terms.length === 0) return rhs.at === 0 ? lhs : { at: lhs.at + rhs.at, terms: lhs.terms };
  if (lhs.terms.length === 0) return lhs.at === 0 ? rhs : { at: lhs.at + rhs.at, terms: rhs.terms };
  const terms: Term[] = [];
  const [left, right] = [lhs.terms, rhs.terms];
  for (let k = 0, n = 0; k < left.length || n < right.length;) {
    const [a, b] = [left[k], right[n]];
    const order = a === undefined ? 1 : b === undefined ? -1 : compareAtoms(a.of, b.of);
    if (order <= 0) k++;
    if (order >= 0) n++;
    if (order < 0 && a !== undefined) terms.push(a);
    else if (order > 0 && b !== undefined) terms.push(b);
    else if (a !== undefined && b !== undefined && a.by + b.by !== 0)
      terms.push({ by: a.by + b.by, of: a.of });
  }
  return { at: lhs.at + rhs.at, terms };
}

/** Returns a linear expression multiplied by an integer. */
export function scale(form: Linear, by: number): Linear {
  if (by === 1) return form;
  if (by === 0) return constant(0);
  if (isConstant(form)) return constant(form.at * by);
  return { at: form.at * by, terms: form.terms.map((term) => ({ by: term.by * by, of: term.of })) };
}

/** Returns the minimum of two linear expressions. */
export function min(lhs: Linear, rhs: Linear): Linear {
  if (isConstant(lhs) && isConstant(rhs)) return constant(Math.min(lhs.at, rhs.at));
  return equalLinear(lhs, rhs) ? lhs : atom({ kind: "min", of: [lhs, rhs] });
}

/**
 * Returns the quotient of a linear expression by the constant `by`, rounded down. `by`: at least 1. The
 * quotient of a negative constant stays an expression, which the verifier reports (rule V2).
 */
export function div(form: Linear, by: number): Linear {
  if (by === 1) return form;
  return isNatural(form) ? constant(quotient(form.at, by)) : atom({ kind: "div", of: form, by });
}

/**
 * Returns the remainder of a linear expression by the constant `by`. `by`: at least 1. The remainder of a
 * negative constant stays an expression, which the verifier reports (rule V2).
 */
export function mod(form: Linear, by: number): Linear {
  checkArgument("mod", "coordinate", form);
  if (by === 1) return constant(0);
  return isNatural(form) ? constant(remainder(form.at, by)) : atom({ kind: "mod", of: form, by });
}

const isNatural = (form: Linear): boolean => isConstant(form) && form.at >= 0;

/** Returns the quotient of two numbers, rounded down. */
export const quotient = (value: number, by: number): number => Math.floor(value / by);
/**
 * Returns the remainder of `value` divided by `by`, where the quotient is rounded down. The remainder is not
 * negative for a positive `by`.
 */
export const remainder = (value: number, by: number): number => value - by * quotient(value, by);

/** Returns the greatest common divisor of two non-negative integers. `gcd(a, 0)` is a. */
export const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b);

/** Returns the sum of linear expressions; the constant 0 for an empty list. */
export const sumOf = (forms: readonly Linear[]): Linear => forms.reduce(add, constant(0));

/** True if a linear expression is a constant, without terms. */
export const isConstant = (form: Linear): boolean => form.terms.length === 0;

/** True if the only variables in a linear expression are symbols (named dynamic sizes). */
export const isFixed = (form: Linear): boolean =>
  !atomsOf(form).some(({ kind }) => kind === "dim" || kind === "index" || kind === "iv");

/**
 * Returns a linear expression without the terms whose atom is an output dim. Dims inside div, mod and min
 * remain.
 */
export const withoutDims = ({ at: constantTerm, terms }: Linear): Linear => ({
  at: constantTerm,
  terms: terms.filter(({ of }) => of.kind !== "dim"),
});

/**
 * Returns the atom of a linear expression that is a single atom, without a factor or constant. Undefined for
 * any other expression.
 */
export function soleAtom(form: Linear): Atom | undefined {
  const [only] = form.terms;
  return form.at === 0 && form.terms.length === 1 && only?.by === 1 ? only.of : undefined;
}

/**
 * True if a linear expression is just the output dim at position `number`, from 0. False if the expression is
 * undefined.
 */
export function isDim(form: Linear | undefined, number: number): boolean {
  const only = form === undefined ? undefined : soleAtom(form);
  return only?.kind === "dim" && only.dim === number;
}

const kindOrder: Readonly<Record<Atom["kind"], number>> = {
  symbol: 0,
  dim: 1,
  index: 2,
  iv: 3,
  div: 4,
  mod: 5,
  min: 6,
};

/**
 * Compares two atoms in canonical order: symbols, dims, index operands, loop variables, then div, mod and
 * min. The result is negative, 0 for equal atoms, or positive.
 */
function compareAtoms(a: Atom, b: Atom): number {
  if (a.kind === "dim" && b.kind === "dim") return a.dim - b.dim;
  if (a.kind === "index" && b.kind === "index") return a.index - b.index;
  if ((a.kind === "iv" && b.kind === "iv") || (a.kind === "symbol" && b.kind === "symbol"))
    return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  if (a.kind === "min" && b.kind === "min")
    return compareLinears(a.of[0], b.of[0]) || compareLinears(a.of[1], b.of[1]);
  if ((a.kind === "div" && b.kind === "div") || (a.kind === "mod" && b.kind === "mod"))
    return a.by - b.by || compareLinears(a.of, b.of);
  return kindOrder[a.kind] - kindOrder[b.kind];
}

/**
 * Compares two linear expressions in a fixed order. The result is negative, zero for equal expressions, or
 * positive.
 */
function compareLinears(a: Linear, b: Linear): number {
  if (a === b) return 0;
  if (a.at !== b.at) return a.at - b.at;
  for (let k = 0; k < Math.min(a.terms.length, b.terms.length); k++) {
    const [left, other] = [at(a.terms, k), at(b.terms, k)];
    const order = left.by - other.by || compareAtoms(left.of, other.of);
    if (order !== 0) return order;
  }
  return a.terms.length - b.terms.length;
}

/** True if two linear expressions have the same constant and the same terms. */
export const equalLinear = (a: Linear, b: Linear): boolean => compareLinears(a, b) === 0;

/** Values of loop variables and symbols (named dynamic sizes), by name. */
export type Env = ReadonlyMap<string, number>;

/**
 * Iteration point at which a linear expression is evaluated. `dims[d]`: value of dim d. `indices[s]`: value
 * of index operand s.
 */
export interface Point {
  readonly dims: readonly number[];
  readonly indices: readonly number[];
}

const nowhere: Point = { dims: [], indices: [] };

/**
 * Returns the value of a linear expression. `env`: values of loop variables and symbols. `point`: values of
 * dims and index operands. Throws an InternalError for a variable without a value.
 */
export function evaluate(form: Linear, env: Env, point: Point = nowhere): number {
  let sum = form.at;
  for (const { by, of } of form.terms) {
    switch (of.kind) {
      case "dim":
        sum += by * at(point.dims, of.dim);
        break;
      case "index":
        sum += by * at(point.indices, of.index);
        break;
      case "iv":
      case "symbol": {
        const value = env.get(of.name);
        if (value === undefined) throw new InternalError(`${of.kind} ${of.name} is not in scope`);
        sum += by * value;
        break;
      }
      case "min":
        sum += by * Math.min(evaluate(of.of[0], env, point), evaluate(of.of[1], env, point));
        break;
      case "div":
        sum += by * quotient(evaluate(of.of, env, point), of.by);
        break;
      case "mod":
        sum += by * remainder(evaluate(of.of, env, point), of.by);
        break;
      default:
        assertNever(of);
    }
  }
  return sum;
}

/**
 * Returns the exact value of a linear expression for index values of any size. `dims` and `indices`: values
 * of dims and index operands. `env`: values of loop variables and symbols. Throws an InternalError for a
 * variable without a value.
 */
export function evaluateExact(
  form: Linear,
  dims: readonly (number | bigint)[],
  indices: readonly bigint[],
  env: Env,
): bigint {
  const valueOf = (of: Atom): bigint => {
    switch (of.kind) {
      case "dim":
        return BigInt(at(dims, of.dim));
      case "index":
        return at(indices, of.index);
      case "div": {
        const value = evaluateExact(of.of, dims, indices, env);
        return (value - exactRemainder(value, BigInt(of.by))) / BigInt(of.by);
      }
      case "mod":
        return exactRemainder(evaluateExact(of.of, dims, indices, env), BigInt(of.by));
      case "min": {
        const [a, b] = of.of.map((side) => evaluateExact(side, dims, indices, env));
        return a !== undefined && b !== undefined && a < b ? a : (b ?? 0n);
      }
      case "iv":
      case "symbol":
        return BigInt(evaluate(atom(of), env));
      default:
        return assertNever(of);
    }
  };
  return form.terms.reduce((sum, { by, of }) => sum + BigInt(by) * valueOf(of), BigInt(form.at));
}

const exactRemainder = (value: bigint, by: bigint): bigint => ((value % by) + by) % by;

/**
 * Returns all atoms of a linear expression. The atoms inside a div, mod or min follow the div, mod or min.
 */
export const atomsOf = (form: Linear): Atom[] => collectFrom(form, (of) => of);

/**
 * Returns the results of `of` for all atoms of a linear expression, without undefined results. The result for
 * a div, mod or min precedes the results for inner atoms.
 */
function collectFrom<T>(form: Linear, of: (atom: Atom) => T | undefined, results: T[] = []): T[] {
  for (const term of form.terms) {
    const value = of(term.of);
    if (value !== undefined) results.push(value);
    for (const inner of innerForms(term.of)) collectFrom(inner, of, results);
  }
  return results;
}

/** Returns the linear expressions inside a div, mod or min; an empty list for other atoms. */
export function innerForms(of: Atom): readonly Linear[] {
  switch (of.kind) {
    case "dim":
    case "index":
    case "iv":
    case "symbol":
      return none;
    case "min":
      return of.of;
    case "div":
    case "mod":
      return [of.of];
    default:
      return assertNever(of);
  }
}

const none: readonly Linear[] = [];

/**
 * Returns a linear expression with atoms replaced by the results of `put`, also inside div, mod and min. An
 * atom stays unchanged if `put` returns undefined.
 */
export function substitute(form: Linear, put: (of: Atom) => Linear | undefined): Linear {
  if (isConstant(form)) return form;
  const within = (of: Atom): Linear => {
    const other = put(of);
    if (other !== undefined) return other;
    switch (of.kind) {
      case "dim":
      case "index":
      case "iv":
      case "symbol":
        return atom(of);
      case "min":
        return min(substitute(of.of[0], put), substitute(of.of[1], put));
      case "div":
        return div(substitute(of.of, put), of.by);
      case "mod":
        return mod(substitute(of.of, put), of.by);
      default:
        return assertNever(of);
    }
  };
  return sumOf([constant(form.at), ...form.terms.map(({ by, of }) => scale(within(of), by))]);
}

/**
 * Returns a linear expression with symbols (named dynamic sizes) replaced by the values in `sizes`. Symbols
 * without a value stay.
 */
export const bindSymbols = (form: Linear, sizes: Env): Linear =>
  substitute(form, (of) => {
    const size = of.kind === "symbol" ? sizes.get(of.name) : undefined;
    return size === undefined ? undefined : constant(size);
  });

/** Returns the names of the loop variables in a linear expression. */
export const loopVariables = (form: Linear): ReadonlySet<string> =>
  isConstant(form)
    ? noVariables
    : new Set(collectFrom(form, (of) => (of.kind === "iv" ? of.name : undefined)));

const noVariables: ReadonlySet<string> = new Set();

/**
 * Returns the names of the symbols (named dynamic sizes) in a linear expression. A symbol that is used twice
 * is listed twice.
 */
export const symbolsOf = (form: Linear): string[] =>
  collectFrom(form, (of) => (of.kind === "symbol" ? of.name : undefined));

/**
 * Returns the positions, from 0, of the output dims in a linear expression. A dim that is used twice is
 * listed twice.
 */
export const dimsOf = (form: Linear): number[] =>
  collectFrom(form, (of) => (of.kind === "dim" ? of.dim : undefined));

/**
 * Returns the positions, from 0, of the index operands in a linear expression. An index operand that is used
 * twice is listed twice.
 */
export const indicesOf = (form: Linear): number[] =>
  collectFrom(form, (of) => (of.kind === "index" ? of.index : undefined));

/**
 * True if a linear expression is affine in dims and index operands: no div, mod or min contains a dim or an
 * index operand.
 */
export const isAffine = ({ terms }: Linear): boolean =>
  terms.every(({ of }) =>
    innerForms(of).every((inner) => !atomsOf(inner).some(({ kind }) => kind === "dim" || kind === "index")),
  );

/**
 * Returns the coefficient of an output dim or an index operand in a linear expression; 0 for an unused one.
 * Uses inside div, mod and min are ignored. `number`: position of the dim or index operand, from 0.
 */
export const stepAlong = ({ terms }: Linear, kind: "dim" | "index", number: number): number =>
  terms.reduce((sum, { by, of }) => {
    const position = of.kind === "dim" ? of.dim : of.kind === "index" ? of.index : -1;
    return of.kind === kind && position === number ? sum + by : sum;
  }, 0);

/** Returns a linear expression without the terms in dims and index operands. */
export const loopForm = ({ at: constantTerm, terms }: Linear): Linear => ({
  at: constantTerm,
  terms: terms.filter(({ of }) => of.kind !== "dim" && of.kind !== "index"),
});

/**
 * Returns the largest value of a size whose linear expression is a constant, or a minimum with a constant.
 * Undefined for any other linear expression.
 */
export function largestValue(form: Linear): number | undefined {
  if (isConstant(form)) return form.at;
  const only = soleAtom(form);
  if (only?.kind !== "min") return undefined;
  const sides = only.of.flatMap((side) => (isConstant(side) ? [side.at] : []));
  return sides.length === 0 ? undefined : Math.min(...sides);
}
