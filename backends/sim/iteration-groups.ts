/**
 * Values of linear forms over all iterations of the loops around them. Equal iterations form one group: a
 * hundred whole tiles and a tail are two groups. The cost does not depend on trip counts if the forms repeat.
 */
import {
  add,
  constant,
  isConstant,
  loopVariables,
  min,
  sub,
  iv,
  substitute,
  type Linear,
} from "../../ir/linear.js";
import type { ForStmt } from "../../ir/tile.js";
import { InternalError } from "../../ir/types.js";

/**
 * Callback for a group of loop iterations in which linear expressions have equal values. `values`: values of
 * the expressions, in a reused array. `times`: number of iterations in the group.
 */
export type Visit = (values: readonly number[], times: number) => void;

/**
 * Calls `visit` for each group of iterations of a loop nest in which the linear expressions `forms` have
 * equal values. `loops`: loops of the nest, outermost first.
 */
export function forEachGroup(loops: readonly ForStmt[], forms: readonly Linear[], visit: Visit): void {
  const fromZero = countedFromZero(loops, forms);
  descend(fromZero.loops, fromZero.forms, [], visit);
}

/** Returns the number of iterations of a loop nest. `loops`: loops of the nest, outermost first. */
export function iterationsOf(loops: readonly ForStmt[]): number {
  let sum = 0;
  forEachGroup(loops, [], (_, times) => {
    sum += times;
  });
  return sum;
}

/** A loop from 0, whose end may depend on loops around it. */
interface Loop {
  readonly iv: string;
  readonly end: Linear;
  readonly step: number;
}

/** Iterations of a loop that forms follow by a step, or not at all. */
interface PendingLoop {
  readonly iv: string;
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/**
 * Returns the loops shifted to start at 0, and the linear expressions `forms` for the shifted variables.
 * Bounds like [x, x + n) then no longer depend on the outer loop variable x.
 */
function countedFromZero(
  loops: readonly ForStmt[],
  forms: readonly Linear[],
): { readonly loops: readonly Loop[]; readonly forms: readonly Linear[] } {
  const shifts = new Map<string, Linear>();
  const shifted = loops.map((loop): Loop => {
    const lower = withValues(loop.lower, shifts);
    const end = sub(withValues(loop.upper, shifts), lower);
    shifts.set(loop.iv, add(lower, iv(loop.iv)));
    return { iv: loop.iv, end, step: loop.step };
  });
  return { loops: shifted, forms: forms.map((form) => withValues(form, shifts)) };
}

/**
 * Calls `visit` for each group of loop iterations in which every linear expression of `forms` keeps one
 * value. `loops`: loops to process, outermost first; `pending`: loops around `loops` that are not yet
 * enumerated. Throws an InternalError if the end of the first loop of `loops` is not constant.
 */
function descend(
  loops: readonly Loop[],
  forms: readonly Linear[],
  pending: readonly PendingLoop[],
  visit: Visit,
): void {
  const [loop, ...inner] = loops;
  if (loop === undefined) {
    enumerate(forms, pending, visit);
    return;
  }
  if (!isConstant(loop.end)) throw new InternalError(`the end of %${loop.iv} is not known`);
  split(loop, 0, Math.ceil(loop.end.at / loop.step), inner, forms, pending, visit);
}

/**
 * Calls `visit` for each group of iterations in which the linear expressions `forms` have equal values. The
 * groups cover iterations [from, to) of `loop` with all inner loops. The range is split where the smaller
 * operand of a minimum changes.
 */
function split(
  loop: Loop,
  from: number,
  to: number,
  inner: readonly Loop[],
  forms: readonly Linear[],
  pending: readonly PendingLoop[],
  visit: Visit,
): void {
  if (from >= to) return;
  const cuts: number[] = [];
  const settle = (form: Linear): Linear => decide(form, loop, from, to, cuts);
  const loops = inner.map((other) => ({ ...other, end: settle(other.end) }));
  const decided = forms.map(settle);
  const [cut] = cuts;
  if (cut !== undefined) {
    split(loop, from, cut, inner, forms, pending, visit);
    split(loop, cut, to, inner, forms, pending, visit);
    return;
  }
  const bends =
    loops.some(({ end }) => loopVariables(end).has(loop.iv)) ||
    decided.some((form) => bendsBy(form, loop.iv));
  if (!bends) {
    const first = from * loop.step;
    descend(loops, decided, [...pending, { iv: loop.iv, first, step: loop.step, count: to - from }], visit);
    return;
  }
  for (let k = from; k < to; k++) {
    const value = new Map([[loop.iv, constant(k * loop.step)]]);
    const put = (form: Linear): Linear => withValues(form, value);
    descend(
      loops.map((other) => ({ ...other, end: put(other.end) })),
      decided.map(put),
      pending,
      visit,
    );
  }
}

/** True if a variable occurs in a minimum of the form. */
const bendsBy = (form: Linear, name: string): boolean =>
  form.terms.some(({ of }) => of.kind === "min" && of.of.some((side) => loopVariables(side).has(name)));

/**
 * Returns `form`, in which the smaller operand replaces each minimum that has the same smaller operand in all
 * iterations [from, to) of `loop`. If the smaller operand of a minimum changes, adds the first iteration
 * after the change to `cuts`. A minimum is kept if the difference of its operands depends on other variables.
 */
function decide(form: Linear, loop: Loop, from: number, to: number, cuts: number[]): Linear {
  return substitute(form, (of) => {
    if (of.kind !== "min") return undefined;
    const [a, b] = of.of.map((side) => decide(side, loop, from, to, cuts)) as [Linear, Linear];
    const difference = sub(a, b);
    const [term, ...others] = difference.terms;
    const alone = term === undefined || (term.of.kind === "iv" && term.of.name === loop.iv);
    if (!alone || others.length > 0) return min(a, b);
    const slope = (term?.by ?? 0) * loop.step;
    const at = (k: number): number => difference.at + slope * k;
    const [first, last] = [at(from), at(to - 1)];
    if (first <= 0 && last <= 0) return a;
    if (first >= 0 && last >= 0) return b;
    cuts.push(slope > 0 ? Math.floor(-difference.at / slope) + 1 : Math.ceil(-difference.at / slope));
    return min(a, b);
  });
}

/**
 * Returns a linear expression in which loop variables are replaced by other linear expressions. `values`:
 * replacements by name of the variable.
 */
const withValues = (form: Linear, values: ReadonlyMap<string, Linear>): Linear =>
  substitute(form, (of) => (of.kind === "iv" ? values.get(of.name) : undefined));

/**
 * Calls `visit` with the values of the linear expressions `forms` for the iterations of `pending`. Only loops
 * that change a value are run; the argument `times` of `visit` is the product of the other loops' trip
 * counts.
 */
function enumerate(forms: readonly Linear[], pending: readonly PendingLoop[], visit: Visit): void {
  const values = forms.map((form) => form.at);
  let times = 1;
  const moving: { readonly by: readonly number[]; readonly count: number }[] = [];
  for (const { iv: name, first, step, count } of pending) {
    const by = forms.map(
      (form) => form.terms.find(({ of }) => of.kind === "iv" && of.name === name)?.by ?? 0,
    );
    by.forEach((factor, k) => {
      values[k] = (values[k] ?? 0) + factor * first;
    });
    if (by.every((factor) => factor === 0)) times *= count;
    else moving.push({ by: by.map((factor) => factor * step), count });
  }
  const run = (depth: number): void => {
    const loop = moving[depth];
    if (loop === undefined) {
      visit(values, times);
      return;
    }
    const { by, count } = loop;
    const shift = (factor: number): void => {
      for (let k = 0; k < values.length; k++) values[k] = (values[k] ?? 0) + factor * (by[k] ?? 0);
    };
    for (let k = 0; k < count; k++) {
      run(depth + 1);
      shift(1);
    }
    shift(-count);
  };
  run(0);
}
