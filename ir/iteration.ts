/** Iteration of a tile program that writes a given output element. */
import { outputOf, type TileFunc } from "./func.js";
import { evaluate, loopVariables, type Env, type Linear } from "./linear.js";
import { iterations } from "./intervals/loop-bounds.js";
import { outputRegion, taskOfTile } from "./task/index.js";
import type { ForStmt, GatherStmt } from "./tile.js";
import { at } from "./types.js";

/**
 * Returns the loops, outermost first, that change the values of linear expressions. A loop counts if its
 * variable occurs in an expression, or in a bound of an inner loop that counts. `loops`: loops to choose
 * from, outermost first.
 */
export function loopsMoving(forms: readonly Linear[], loops: readonly ForStmt[]): ForStmt[] {
  const needed = new Set(forms.flatMap((form) => [...loopVariables(form)]));
  for (const loop of [...loops].reverse()) {
    if (!needed.has(loop.iv)) continue;
    for (const bound of [loop.lower, loop.upper]) loopVariables(bound).forEach((name) => needed.add(name));
  }
  return loops.filter((loop) => needed.has(loop.iv));
}

/** Output element of a gather, with the loop variables' values in the iteration that writes the element. */
export interface Iteration {
  readonly gather: GatherStmt;
  readonly env: Env;
  /** Coordinates of the element inside the gather's tile. */
  readonly dims: readonly number[];
}

/**
 * Returns the iteration of a gather's tile program that writes an output element. Undefined if the program
 * does not write the element, and for a scatter. `point`: coordinates of the element in the output tensor.
 */
export function iterationWriting(func: TileFunc, point: readonly number[]): Iteration | undefined {
  const task = taskOfTile(func);
  const region = outputRegion(func, task);
  if (task.gather === undefined || region === undefined) return undefined;
  const { stmt: gather, loops } = task.gather;
  const env = new Map<string, number>();
  const dims: number[] = [];
  for (const [d] of outputOf(func).type.shape.entries()) {
    const [offset, size] = [at(region.offsets, d), at(region.sizes, d)];
    const target = at(point, d);
    const writer = writingOne(offset, size, loopsMoving([offset, size], loops), target);
    if (writer === undefined) return undefined;
    writer.forEach((value, name) => env.set(name, value));
    dims.push(target - evaluate(offset, writer));
  }
  for (const loop of loops) if (!env.has(loop.iv)) env.set(loop.iv, evaluate(loop.lower, env));
  return { gather, env, dims };
}

/**
 * Returns the values of the loop variables in an iteration that writes coordinate `target` of one dim;
 * undefined if there is none. An iteration writes `size` elements from `offset` on.
 */
function writingOne(
  offset: Linear,
  size: Linear,
  loops: readonly ForStmt[],
  target: number,
): Env | undefined {
  const holds = (env: Env): boolean => {
    const start = evaluate(offset, env);
    return start <= target && target < start + evaluate(size, env);
  };
  const nearest = new Map<string, number>();
  for (const { iv, lower, step } of loops) {
    const first = evaluate(lower, nearest);
    nearest.set(iv, first + Math.max(0, Math.floor((target - first) / step)) * step);
  }
  if (holds(nearest)) return nearest;
  for (const env of iterations(loops)) if (holds(env)) return env;
  return undefined;
}
