/**
 * Values that a linear form can have over all iterations of the loops around it. Bounds are proved from the
 * text of the loops, at a cost that does not depend on their trip counts. Where a proof fails and the
 * iterations are few, they are tried one by one.
 */
import {
  add,
  constant,
  evaluate,
  isConstant,
  loopVariables,
  quotient,
  remainder,
  scale,
  sub,
  symbolsOf,
  type Atom,
  type Env,
  type Linear,
  type Term,
} from "../linear.js";
import type { ForStmt } from "../tile.js";
import { at, InternalError } from "../types.js";

/**
 * Result of a bounds check: the value stays within its bounds, the iteration where it does not, or no proof.
 */
export type Judgement =
  | { readonly kind: "holds" }
  /** An iteration in which it does not, and the value there. */
  | { readonly kind: "fails"; readonly env: Env; readonly value: number }
  | { readonly kind: "unproved" };

const holds: Judgement = { kind: "holds" };

/** Iterations that are tried one by one when there is no proof. */
const maxTried = 4096;

/** Checks that a form is at least zero in every iteration of the loops, outermost first. */
export function neverNegative(form: Linear, loops: readonly ForStmt[]): Judgement {
  if (isConstant(form)) return form.at >= 0 ? holds : firstFailure(form, loops);
  if (lowerBound(form, loops) >= 0) return holds;
  return firstFailure(form, loops);
}

/** Returns bounds of a form that hold in every iteration; they are not always reached. */
export const boundsOf = (form: Linear, loops: readonly ForStmt[]): readonly [least: number, most: number] => [
  lowerBound(form, loops),
  -lowerBound(scale(form, -1), loops),
];

/**
 * Returns an iteration in which a form is negative, with the form's value; `holds` if there is none.
 * Iterations are tried one by one; after 4096 the result is `unproved`.
 */
function firstFailure(form: Linear, loops: readonly ForStmt[]): Judgement {
  let tried = 0;
  for (const env of attempts(relevant(form, loops))) {
    if (env !== undefined) {
      const value = evaluate(form, env);
      if (value < 0) return { kind: "fails", env, value };
    }
    if (++tried > maxTried) return { kind: "unproved" };
  }
  return holds;
}

/**
 * Returns the loops whose variables a form depends on, through the bounds of inner loops too. Loops without
 * iterations are always included.
 */
function relevant(form: Linear, loops: readonly ForStmt[]): readonly ForStmt[] {
  const needed = new Set([...loopVariables(form), ...symbolsOf(form)]);
  for (const loop of [...loops].reverse()) {
    const empty = isConstant(loop.lower) && isConstant(loop.upper) && loop.upper.at <= loop.lower.at;
    const varies = !isConstant(loop.lower) || !isConstant(loop.upper);
    if (!needed.has(loop.iv) && !empty && !varies) continue;
    needed.add(loop.iv);
    for (const bound of [loop.lower, loop.upper]) {
      loopVariables(bound).forEach((name) => needed.add(name));
      symbolsOf(bound).forEach((name) => needed.add(name));
    }
  }
  return loops.filter((loop) => needed.has(loop.iv));
}

/** Yields the values of the loop variables in every iteration. */
export function* iterations(loops: readonly ForStmt[]): Generator<Env> {
  for (const env of attempts(loops)) if (env !== undefined) yield env;
}

/**
 * Yields the values of the loop variables in every iteration, and undefined where the inner loops have no
 * iteration. A caller that stops after a number of attempts thus counts empty iterations too.
 */
export function* attempts(
  loops: readonly ForStmt[],
  env: ReadonlyMap<string, number> = new Map(),
): Generator<Env | undefined> {
  const [loop, ...inner] = loops;
  if (loop === undefined) {
    yield env;
    return;
  }
  const [lower, upper] = [evaluate(loop.lower, env), evaluate(loop.upper, env)];
  for (let value = lower; value < upper; value += loop.step) {
    let empty = true;
    for (const attempt of attempts(inner, new Map(env).set(loop.iv, value))) {
      empty = false;
      yield attempt;
    }
    if (empty) yield undefined;
  }
}

/**
 * Returns the lower bound of a form. Minima come first. A minimum with a positive factor may be either side:
 * the smaller bound of both counts. A minimum with a negative factor gives at least the bound of either side.
 */
function lowerBound(form: Linear, loops: readonly ForStmt[]): number {
  if (isConstant(form)) return form.at;
  const rounded = form.terms.find(({ of }) => of.kind === "div" || of.kind === "mod");
  if (rounded !== undefined) {
    const [least, max] = roundedBounds(rounded.of, loops);
    return rounded.by * (rounded.by > 0 ? least : max) + lowerBound(without(form, rounded), loops);
  }
  const minima = form.terms.filter(({ of }) => of.kind === "min");
  const minimum = minima.find(({ by }) => by > 0) ?? minima[0];
  if (minimum?.of.kind === "min") {
    const rest = without(form, minimum);
    const sides = minimum.of.of.map((side) => lowerBound(add(rest, scale(side, minimum.by)), loops));
    return minimum.by > 0 ? Math.min(...sides) : Math.max(...sides);
  }
  return boundWithout(form, loops);
}

/** Returns bounds of a div or mod in every iteration; they may not be reached. */
function roundedBounds(of: Atom, loops: readonly ForStmt[]): readonly [least: number, most: number] {
  if (of.kind !== "div" && of.kind !== "mod") throw new InternalError(`${of.kind} rounds nothing`);
  const [least, max] = boundsOf(of.of, loops);
  const periods = [quotient(least, of.by), quotient(max, of.by)] as const;
  if (of.kind === "div") return periods;
  return periods[0] === periods[1] ? [remainder(least, of.by), remainder(max, of.by)] : [0, of.by - 1];
}

const without = ({ at: constantTerm, terms }: Linear, term: Term): Linear => ({
  at: constantTerm,
  terms: terms.filter((other) => other !== term),
});

/**
 * Returns the lower bound of a form without minima. The innermost variable comes first: its first value if
 * its factor is positive, otherwise its last.
 */
function boundWithout(form: Linear, loops: readonly ForStmt[]): number {
  const depth = loops.findLastIndex(({ iv }) => form.terms.some(({ of }) => variesWith(of, iv)));
  const term = form.terms.find(({ of }) => variesWith(of, loops[depth]?.iv));
  if (depth === -1 || term === undefined) return -Infinity;
  const loop = at(loops, depth);
  const outer = loops.slice(0, depth);
  const rest = without(form, term);
  const put = (value: Linear): number => lowerBound(add(rest, scale(value, term.by)), outer);
  return term.by > 0 ? put(loop.lower) : Math.max(...lastValues(loop, outer).map(put));
}

/** True if an atom is the loop variable of a name. A symbol is the variable of the loop over its sizes. */
const variesWith = (of: Atom, name: string | undefined): boolean =>
  (of.kind === "iv" || of.kind === "symbol") && of.name === name;

/** Returns upper bounds of a loop variable's last value, as linear forms in the outer loop variables. */
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

/**
 * Returns the remainder of a form divided by `by` if it is the same in every iteration; undefined otherwise.
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
 * Returns the remainder of `factor` times an atom divided by `by` if it is the same in every iteration;
 * undefined otherwise.
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
