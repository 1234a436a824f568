/**
 * Sizes and bounds as minima of affine forms over the loops' offsets: how far a loop variable is from its
 * lower bound. In offsets a tile's size no longer mentions the view it lies in, which shows that full views
 * are alike.
 */
import type { Atom, Linear } from "../linear.js";
import { assertNever, InternalError } from "../types.js";

/**
 * Affine expression in the offsets of loops: `at`, plus `by` times the offset of `loop` for each term. The
 * offset of a loop is the distance of the loop variable from the lower bound.
 */
export interface Form {
  readonly at: number;
  readonly terms: readonly Term[];
}

interface Term {
  readonly loop: number;
  readonly by: number;
}

/** Minimum of affine expressions, as a non-empty list of the expressions. */
export type Minimum = readonly Form[];

/**
 * Offsets of the surrounding loops, indexed by loop number. The offset of a loop is the distance of the loop
 * variable from the lower bound.
 */
export type LoopOffsets = readonly number[];

/** Returns the affine expression with a constant value. */
export const constantForm = (value: number): Form => ({ at: value, terms: [] });

/** Returns the affine expression whose value is the offset of loop number `loop`. */
export const offsetForm = (loop: number): Form => ({ at: 0, terms: [{ loop, by: 1 }] });

const slope = (form: Form, loop: number): number => form.terms.find((term) => term.loop === loop)?.by ?? 0;

/** Returns the affine expression `a + scale * b`. */
export function addScaled(a: Form, b: Form, scale: number): Form {
  const loops = new Set([...a.terms, ...b.terms].map((term) => term.loop));
  const terms = [...loops].map((loop) => ({ loop, by: slope(a, loop) + scale * slope(b, loop) }));
  return { at: a.at + scale * b.at, terms: terms.filter(({ by }) => by !== 0) };
}

/**
 * Returns a linear expression as a minimum of affine expressions in the loops' offsets. Undefined if the
 * linear expression contains a div, a mod, an unknown loop variable, or a min with a negative factor. Throws
 * an InternalError for a dim, an index operand or a symbol. `variables`: affine expression of each loop
 * variable, by name.
 */
export function minimumOf(linear: Linear, variables: ReadonlyMap<string, Form>): Minimum | undefined {
  let sum: Minimum | undefined = [constantForm(linear.at)];
  for (const { by, of } of linear.terms) {
    const forms = atomForms(of, variables);
    if (sum === undefined || forms === undefined || (by < 0 && forms.length > 1)) return undefined;
    sum = sum.flatMap((a) => forms.map((b) => addScaled(a, b, by)));
  }
  return sum;
}

/**
 * Returns an atom as a minimum of affine expressions; undefined for a div, a mod or an unknown loop variable.
 * Throws an InternalError for a dim, an index operand or a symbol.
 */
function atomForms(of: Atom, variables: ReadonlyMap<string, Form>): Minimum | undefined {
  switch (of.kind) {
    case "iv": {
      const form = variables.get(of.name);
      return form === undefined ? undefined : [form];
    }
    case "min": {
      const [lhs, rhs] = of.of.map((side) => minimumOf(side, variables));
      return lhs === undefined || rhs === undefined ? undefined : [...lhs, ...rhs];
    }
    case "div":
    case "mod":
      return undefined;
    case "dim":
    case "index":
    case "symbol":
      throw new InternalError(`a ${of.kind} is no part of a size or a bound`);
    default:
      return assertNever(of);
  }
}

/**
 * Returns the value of an affine expression at the given offsets of the loops; a missing offset counts as 0.
 */
export function valueOf(form: Form, offsets: LoopOffsets): number {
  let value = form.at;
  for (const { loop, by } of form.terms) value += by * (offsets[loop] ?? 0);
  return value;
}

/**
 * Returns the value of a minimum of affine expressions at the given offsets of the loops; a missing offset
 * counts as 0.
 */
export function least(minimum: Minimum, offsets: LoopOffsets): number {
  let value = Infinity;
  for (const form of minimum) value = Math.min(value, valueOf(form, offsets));
  return value;
}

/**
 * Affine expression, one of several in a minimum, that changes with the offset of a loop. `fall`: decrease
 * for each unit of the offset. `above`: amounts by which this expression, at offset 0, exceeds expressions of
 * the minimum that do not change with the offset. An expression that increases has an empty `above`.
 */
export interface Falling {
  readonly fall: number;
  readonly above: readonly Form[];
}

/**
 * Returns the expressions of a minimum that depend on the offset of loop number `loop`, each as a {@link
 * Falling}. `inside`: numbers of the loops nested in loop `loop`.
 */
export function falling(minimum: Minimum, loop: number, inside: ReadonlySet<number>): Falling[] {
  const steady = minimum.filter((form) => slope(form, loop) === 0);
  return minimum.flatMap((form): Falling[] => {
    const by = slope(form, loop);
    if (by === 0) return [];
    if (by > 0) return [{ fall: 1, above: [] }];
    const level: Form = { at: form.at, terms: form.terms.filter((term) => term.loop !== loop) };
    const gaps = steady.map((other) => addScaled(level, other, -1));
    // Offsets are never negative: a gap that grows with those of the loops inside is least where they begin.
    const above = gaps.filter((gap) => gap.terms.every((term) => !inside.has(term.loop) || term.by > 0));
    return [{ fall: -by, above }];
  });
}

/**
 * Returns the largest offset of a loop up to which a minimum provably keeps its value; Infinity if `forms` is
 * empty. The result is negative if nothing can be proved. `forms`: the minimum's expressions that depend on
 * the loop. `offsets`: current offsets of all loops.
 */
export function unchangedUpTo(forms: readonly Falling[], offsets: LoopOffsets): number {
  let limit = Infinity;
  for (const { fall, above } of forms) {
    let smallest = -1;
    for (const gap of above) smallest = Math.max(smallest, valueOf(gap, offsets));
    limit = Math.min(limit, Math.floor(smallest / fall));
  }
  return limit;
}
