/** How deep coordinates nest in text: what is printed can be read again. */
import { soleAtom, type Atom, type Linear } from "../linear.js";
import { assertNever } from "../types.js";

/** Deeper nesting is not a program but an attack on the stack. */
export const maxDepth = 64;

/** The coordinates inside one another that the text of a form has, itself included. `indices`: those inside the text of each index operand. */
export const depthOf = (form: Linear, indices: readonly number[] = []): number =>
  1 +
  form.terms.reduce(
    (deepest, { by, of }) => Math.max(deepest, (by === 1 || by === -1 ? inAtom : inFactor)(of, indices)),
    0,
  );

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

/** What stands beside an operator that binds closer than a sum: quotients and remainders in parentheses. */
const inFactor = (of: Atom, indices: readonly number[]): number =>
  (of.kind === "div" || of.kind === "mod" ? 1 : 0) + inAtom(of, indices);
