/** Nesting depth of coordinates in text. It ensures that printed text can be parsed again. */
import { soleAtom, type Atom, type Linear } from "../linear.js";
import { assertNever } from "../types.js";

/** Maximum nesting depth of coordinates that the parser accepts, which prevents stack overflow. */
export const maxDepth = 64;

/**
 * Returns the nesting depth of coordinates in the text of a linear expression, at least 1. `indices`: nesting
 * depth inside the text of each index operand; a missing entry counts as 0.
 */
export const depthOf = (form: Linear, indices: readonly number[] = []): number =>
  1 +
  form.terms.reduce(
    (deepest, { by, of }) => Math.max(deepest, (by === 1 || by === -1 ? inAtom : inFactor)(of, indices)),
    0,
  );

/**
 * Returns the nesting depth of coordinates inside the text of an atom; 0 for a plain name. `indices`: nesting
 * depth inside the text of each index operand; a missing entry counts as 0.
 */
function inAtom(of: Atom, indices: readonly number[]): number {
  switch (of.kind) {
    case "dim":
    case "iv":
    case "symbol":
      return 0;
    case "index":
      return indices[of.index] ?? 0;
    case "div":
    case "mod": {
      const only = soleAtom(of.of);
      return only === undefined ? depthOf(of.of, indices) : inFactor(only, indices);
    }
    case "min":
      return Math.max(...of.of.map((side) => depthOf(side, indices)));
    default:
      return assertNever(of);
  }
}

/**
 * Returns the depth of an atom next to an operator that binds tighter than a sum. Quotients and remainders
 * get parentheses there.
 */
const inFactor = (of: Atom, indices: readonly number[]): number =>
  (of.kind === "div" || of.kind === "mod" ? 1 : 0) + inAtom(of, indices);
