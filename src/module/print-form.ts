/** Linear forms as JavaScript. */
import { constant, type Atom, type Linear } from "../../ir/linear.js";
import { assertNever, InternalError } from "../../ir/types.js";

/** How numbers are written: `number` for sizes and bounds, `bigint` for positions and sums, which are exact. */
export type NumberKind = "number" | "bigint";

/** Over `d` and `s`, lists of coordinates and index values, and `n`, a record of sizes by name. */
export function printForm({ at, terms }: Linear, kind: NumberKind): string {
  const number = (value: number): string => (kind === "bigint" ? `${value}n` : `${value}`);
  const products = terms.map(({ by, of }) => {
    const atom = printAtom(of, kind);
    return by === 1 ? atom : `${number(by)} * ${atom}`;
  });
  return [...products, ...(at === 0 && terms.length > 0 ? [] : [number(at)])]
    .join(" + ")
    .replaceAll("+ -", "- ");
}

function printAtom(of: Atom, kind: NumberKind): string {
  const inside = (form: Linear): string => `(${printForm(form, kind)})`;
  switch (of.kind) {
    case "dim":
      return `d[${of.dim}]`;
    case "site":
      return `s[${of.site}]`;
    case "symbol":
      return kind === "bigint" ? `BigInt(n.${of.name})` : `n.${of.name}`;
    case "min": {
      const [a, b] = [inside(of.of[0]), inside(of.of[1])];
      return kind === "bigint" ? `(${a} < ${b} ? ${a} : ${b})` : `Math.min(${a}, ${b})`;
    }
    case "div": {
      const value = inside(of.of);
      if (kind === "number") return `Math.floor(${value} / ${of.by})`;
      return `((${value} - ${printAtom({ ...of, kind: "mod" }, kind)}) / ${of.by}n)`;
    }
    case "mod": {
      const [value, by] = [inside(of.of), printForm(constant(of.by), kind)];
      return `((${value} % ${by} + ${by}) % ${by})`;
    }
    case "iv":
      throw new InternalError(`loop variable ${of.name} stands in no map over tensors`);
    default:
      return assertNever(of);
  }
}
