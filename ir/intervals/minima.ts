/**
 * Sizes and bounds as minima of affine forms over the loops' offsets: how far a loop variable is from its lower bound.
 * In offsets a tile's size no longer mentions the view it lies in, which shows that full views are alike.
 */
import type { Atom, Linear } from "../linear.js";
import { assertNever, InternalError } from "../types.js";

/** `at`, plus `by` times the offset of `loop` for each term; no `by` is 0, no loop comes twice. */
export interface Form {
  readonly at: number;
  readonly terms: readonly Term[];
}

interface Term {
  readonly loop: number;
  readonly by: number;
}

/** The least of the forms; never empty. */
export type Minimum = readonly Form[];

/** How far each loop around is from its lower bound, by the loop's number. */
export type LoopOffsets = readonly number[];

export const constantForm = (value: number): Form => ({ at: value, terms: [] });

/** The offset of a loop itself. */
export const offsetForm = (loop: number): Form => ({ at: 0, terms: [{ loop, by: 1 }] });

const slope = (form: Form, loop: number): number => form.terms.find((term) => term.loop === loop)?.by ?? 0;

/** `a + scale * b` */
export function addScaled(a: Form, b: Form, scale: number): Form {
  const loops = new Set([...a.terms, ...b.terms].map((term) => term.loop));
  const terms = [...loops].map((loop) => ({ loop, by: slope(a, loop) + scale * slope(b, loop) }));
  return { at: a.at + scale * b.at, terms: terms.filter(({ by }) => by !== 0) };
}

/** Undefined for a form that is no minimum of affine ones: one that subtracts a minimum. */
export function minimumOf(linear: Linear, variables: ReadonlyMap<string, Form>): Minimum | undefined {
  let sum: Minimum | undefined = [constantForm(linear.at)];
  for (const { by, of } of linear.terms) {
    const forms = atomForms(of, variables);
    if (sum === undefined || forms === undefined || (by < 0 && forms.length > 1)) return undefined;
    sum = sum.flatMap((a) => forms.map((b) => addScaled(a, b, by)));
  }
  return sum;
}

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

export function valueOf(form: Form, offsets: LoopOffsets): number {
  let value = form.at;
  for (const { loop, by } of form.terms) value += by * (offsets[loop] ?? 0);
  return value;
}

export function least(minimum: Minimum, offsets: LoopOffsets): number {
  let value = Infinity;
  for (const form of minimum) value = Math.min(value, valueOf(form, offsets));
  return value;
}

/**
 * A form that falls by `fall` for each step of a loop's offset, and how far above forms that do not fall it starts: it
 * does not matter as long as one of them is not above it. No such form: it always may.
 */
export interface Falling {
  readonly fall: number;
  readonly above: readonly Form[];
}

/** What in a minimum depends on the offset of `loop`, given the loops inside that one. */
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

/** The largest offset of the loop up to which no falling form matters; negative where that cannot be shown. */
export function unchangedUpTo(forms: readonly Falling[], offsets: LoopOffsets): number {
  let limit = Infinity;
  for (const { fall, above } of forms) {
    let smallest = -1;
    for (const gap of above) smallest = Math.max(smallest, valueOf(gap, offsets));
    limit = Math.min(limit, Math.floor(smallest / fall));
  }
  return limit;
}
