/**
 * Values that a linear form can have over all iterations of the loops around it. Bounds are proved from the
 * text of the loops, at a cost that does not depend on their trip counts. Where a proof fails and the
 * iterations are few, they are tried one by one.
 */
import { evaluate, isConstant, loopVariables, symbolsOf, type Env, type Linear } from "../linear.js";
import type { ForStmt } from "../tile.js";
import { boundOf } from "./range.js";

/**
 * Result of a check on a value: `holds` or `fails`, or `unproved` if the check found neither a proof nor a
 * failure.
 */
export type Judgement =
  | { readonly kind: "holds" }
  /** `env`: loop variables in an iteration that fails. `value`: the checked value there. */
  | { readonly kind: "fails"; readonly env: Env; readonly value: number }
  | { readonly kind: "unproved" };

const holds: Judgement = { kind: "holds" };

/**
 * Upper limit of the loop iterations in which a value is computed one by one, if its sign is not proved from
 * the bounds of the loops.
 */
const maxTried = 4096;

/**
 * Returns `holds` if a linear expression is never negative, `fails` with an iteration in which the expression
 * is negative, or `unproved`. `loops`: surrounding loops, outermost first.
 */
export function neverNegative(form: Linear, loops: readonly ForStmt[]): Judgement {
  if (isConstant(form)) return form.at >= 0 ? holds : firstFailure(form, loops);
  if (boundOf(form, { loops }, "least") >= 0) return holds;
  return firstFailure(form, loops);
}

/**
 * Returns `fails` with an iteration in which a linear expression is negative; `holds` if there is none.
 * Returns `unproved` after 4096 iterations.
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
 * Returns the loops on which a linear expression depends, directly or through bounds of inner loops. Loops
 * that may be empty are always included.
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

/**
 * Yields the values of the loop variables, by name, in every iteration of a loop nest. `loops`: outermost
 * first.
 */
export function* iterations(loops: readonly ForStmt[]): Generator<Env> {
  for (const env of attempts(loops)) if (env !== undefined) yield env;
}

/**
 * Yields the values of the loop variables in every iteration of a loop nest. Yields undefined for an
 * iteration whose inner loops are empty. `loops`: outermost first.
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
