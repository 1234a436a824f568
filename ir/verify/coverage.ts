/** Coverage check: a statement, over all its iterations, writes every element of the output once. */
import { constant, equalLinear, evaluate, isConstant, iv, min, sub, type Linear } from "../linear.js";
import { loopsMoving } from "../iteration.js";
import { attempts, neverNegative } from "../intervals/loop-bounds.js";
import type { Located } from "../task/index.js";
import { printLinear } from "../text/print.js";
import type { ForStmt, Region } from "../tile.js";
import { at, type Shape } from "../types.js";

/**
 * Upper limit of the iterations of one dim's loops that are evaluated one by one. This happens if the
 * structure of the loops does not prove that every element is written exactly once.
 */
const maxTried = 4096;

/**
 * Returns messages on output elements that are not proved to be written exactly once; an empty list if there
 * are none. `region`: part of the output that one iteration of the loops writes. `shape`: extents of the
 * output.
 */
export function uncovered(region: Region, { loops }: Located, shape: Shape): string[] {
  const owners = new Map<ForStmt, number[]>(loops.map((loop) => [loop, []]));
  shape.forEach((_, d) => {
    for (const loop of loopsMoving([at(region.offsets, d), at(region.sizes, d)], loops))
      owners.get(loop)?.push(d);
  });
  for (const [loop, dims] of owners) {
    if (dims.length > 1) return [`loop %${loop.iv} moves dims ${dims.join(" and ")} together`];
    const trip = sub(loop.upper, loop.lower);
    if (dims.length === 0 && !(isConstant(trip) && trip.at > 0 && trip.at <= loop.step)) {
      return [`no dim of the output depends on loop %${loop.iv}: its iterations write the same elements`];
    }
  }
  return shape.flatMap((extent, d) => {
    const owned = loops.filter((loop) => owners.get(loop)?.includes(d) === true);
    const [offset, size] = [at(region.offsets, d), at(region.sizes, d)];
    if (proved(offset, size, owned, extent)) return [];
    const fault = tried(offset, size, owned, extent);
    return fault === undefined ? [] : [`dim ${d} of ${extent}: ${fault}`];
  });
}

/**
 * True if each element of an output dim is proved to be written exactly once, because the loops have the
 * structure that lowering produces. False means that there is no proof. `offset`, `size`: range of elements
 * that one iteration writes. `extent`: extent of the dim.
 */
function proved(offset: Linear, size: Linear, loops: readonly ForStmt[], extent: number): boolean {
  const [outer, inner, ...deeper] = loops;
  if (outer === undefined)
    return isConstant(offset) && offset.at === 0 && isConstant(size) && size.at === extent;
  if (deeper.length > 0) return false;
  if (!equalLinear(outer.lower, constant(0)) || !equalLinear(outer.upper, constant(extent))) return false;
  const start = iv(outer.iv);
  const end = min(addStep(start, outer.step), constant(extent));
  if (inner === undefined) return equalLinear(offset, start) && same(size, sub(end, start), loops);
  const inside = iv(inner.iv);
  return (
    equalLinear(offset, inside) &&
    equalLinear(inner.lower, start) &&
    same(inner.upper, end, [outer]) &&
    same(size, min(constant(inner.step), sub(inner.upper, inside)), loops)
  );
}

const addStep = (form: Linear, step: number): Linear => ({ ...form, at: form.at + step });

const same = (a: Linear, b: Linear, loops: readonly ForStmt[]): boolean =>
  neverNegative(sub(a, b), loops).kind === "holds" && neverNegative(sub(b, a), loops).kind === "holds";

/**
 * Evaluates all iterations of the loops that split an output dim. Returns a message if some element is not
 * written exactly once or if there are too many iterations; else undefined. `offset`, `size`: range of
 * elements along the dim that one iteration writes. `extent`: extent of the dim.
 */
function tried(offset: Linear, size: Linear, loops: readonly ForStmt[], extent: number): string | undefined {
  const pieces: (readonly [start: number, end: number])[] = [];
  let count = 0;
  for (const env of attempts(loops)) {
    if (env !== undefined) {
      const start = evaluate(offset, env);
      pieces.push([start, start + evaluate(size, env)]);
    }
    if (++count > maxTried)
      return `it cannot be shown that ${printLinear(offset)} and ${printLinear(size)} cover it`;
  }
  let reached = 0;
  for (const [start, end] of pieces.filter(([a, b]) => a < b).sort((a, b) => a[0] - b[0])) {
    if (start > reached) return `element ${reached} is never written`;
    if (start < reached) return `element ${start} is written twice`;
    reached = end;
  }
  return reached < extent ? `element ${reached} is never written` : undefined;
}
