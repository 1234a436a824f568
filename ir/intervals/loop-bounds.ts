/**
 * What a linear form can be over all iterations of the loops around it. Bounds are proved from the text of the loops, at a
 * cost that does not depend on their trips; where a proof fails, few enough iterations are simply tried.
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

/** Whether a value stays within its bounds, or the place where it does not. */
export type Judgement =
  | { readonly kind: "holds" }
  /** An iteration in which it does not, and the value there. */
  | { readonly kind: "fails"; readonly env: Env; readonly value: number }
  | { readonly kind: "unproved" };

const holds: Judgement = { kind: "holds" };

/** Iterations that are tried one by one when there is no proof. */
const maxTried = 4096;

/** Whether a form is at least zero in every iteration of the loops, outermost first. */
export function neverNegative(form: Linear, loops: readonly ForStmt[]): Judgement {
  if (isConstant(form)) return form.at >= 0 ? holds : firstFailure(form, loops);
  if (lowerBound(form, loops) >= 0) return holds;
  return firstFailure(form, loops);
}

/** Bounds that hold in every iteration; not always reached. */
export const boundsOf = (form: Linear, loops: readonly ForStmt[]): readonly [least: number, most: number] => [
  lowerBound(form, loops),
  -lowerBound(scale(form, -1), loops),
];

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

/** Loops whose variables a form depends on, through the bounds of inner loops too; those without iterations always. */
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

/** The variables of every iteration. */
export function* iterations(loops: readonly ForStmt[]): Generator<Env> {
  for (const env of attempts(loops)) if (env !== undefined) yield env;
}

/** The same, with undefined for an iteration of a loop whose body has none: whoever stops after so many counts those too. */
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
 * Minima first: one with a positive factor may be either side, and both are looked at before anything is chosen; one with a
 * negative factor counts for at least either side.
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

/** Innermost variable first: its first value where it counts for, its last where it counts against. */
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

/** A symbol is the variable of the loop over its sizes. */
const variesWith = (of: Atom, name: string | undefined): boolean =>
  (of.kind === "iv" || of.kind === "symbol") && of.name === name;

/** Forms that the last value of a loop variable does not exceed. */
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

/** The remainder that a form leaves by a number in every iteration, where it is always the same. */
export function residue(form: Linear, by: number, loops: readonly ForStmt[]): number | undefined {
  let sum = form.at;
  for (const term of form.terms) {
    const rest = residueOf(term.of, term.by, by, loops);
    if (rest === undefined) return undefined;
    sum += rest;
  }
  return ((sum % by) + by) % by;
}

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
