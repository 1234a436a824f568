/**
 * Advance of a form along an unrolled step: so many neighbouring elements of an output dim, the first of
 * which is a multiple of their number. Each advance is proved from the loops around the gather.
 */
import { residue } from "../../ir/intervals/range.js";
import { dimsOf, substitute, scale, dim, type Atom, type Linear } from "../../ir/linear.js";
import type { ForStmt } from "../../ir/tile.js";

/**
 * Steps of an unrolled loop along output dim `dim` of a tile; each step covers `count` consecutive elements.
 * `loops`: enclosing loops, outermost first.
 */
export interface UnrolledSteps {
  readonly dim: number;
  readonly count: number;
  readonly loops: readonly ForStmt[];
}

/**
 * Returns the constant by which a linear expression grows from element to element within an unrolled step.
 * Undefined if no constant is proved for all steps.
 */
export function advanceAlong(form: Linear, steps: UnrolledSteps): number | undefined {
  let sum = 0;
  for (const { by, of } of form.terms) {
    const advance = advanceOf(of, steps);
    if (advance === undefined) return undefined;
    sum += by * advance;
  }
  return sum;
}

/**
 * Returns the constant by which an atom (variable, quotient, remainder or minimum) grows from element to
 * element within an unrolled step. Undefined if no constant is proved for all steps.
 */
function advanceOf(of: Atom, steps: UnrolledSteps): number | undefined {
  if (!dimsOf({ at: 0, terms: [{ by: 1, of }] }).includes(steps.dim)) return 0;
  switch (of.kind) {
    case "dim":
      return 1;
    case "div":
    case "mod": {
      const inner = advanceAlong(of.of, steps);
      if (inner === 0) return 0;
      // The values of a step lie in one block of the quotient, if a step begins at a multiple of what it
      // moves and blocks hold whole ones.
      const advance = inner === undefined ? 0 : inner * steps.count;
      if (advance <= 0 || of.by % advance !== 0 || !beginsAtMultiples(of.of, advance, steps))
        return undefined;
      return of.kind === "div" ? 0 : inner;
    }
    case "min":
      return of.of.every((side) => advanceAlong(side, steps) === 0) ? 0 : undefined;
    case "iv":
    case "index":
    case "symbol":
      return 0;
  }
}

/**
 * True if a linear expression is proved to be a multiple of `of` at the first element of each unrolled step.
 */
export const beginsAtMultiples = (
  form: Linear,
  of: number,
  { count, dim: along, loops }: UnrolledSteps,
): boolean =>
  residue(
    substitute(form, (atom) =>
      atom.kind === "dim" && atom.dim === along ? scale(dim(along), count) : undefined,
    ),
    of,
    loops,
  ) === 0;
