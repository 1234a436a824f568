/** Linear expressions that a kernel computes and compares in integers of 32 bits. */
import type { Linear } from "../ir/linear.js";
import { regionsOf, type Stmt } from "../ir/tile.js";

/**
 * Returns the linear expressions of a statement that a kernel compares: loop bounds, or offsets and sizes of
 * regions. The two arguments of each minimum in an expression are included.
 */
export function comparedForms(stmt: Stmt): readonly Linear[] {
  if (stmt.op !== "for")
    return regionsOf(stmt).flatMap((region) => [...region.offsets, ...region.sizes].flatMap(withSides));
  // The last increment passes the upper bound.
  const last = { ...stmt.upper, at: stmt.upper.at + stmt.step };
  return [stmt.lower, stmt.upper, last].flatMap(withSides);
}

const withSides = (form: Linear): Linear[] => [
  form,
  ...form.terms.flatMap(({ of }) => (of.kind === "min" ? of.of.flatMap(withSides) : [])),
];
