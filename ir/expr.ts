/** Index expressions over loop variables, built by constructors that fold constants. */
import { assertNever, InternalError } from "./types.js";

export type IndexExpr =
  | { readonly kind: "const"; readonly value: number }
  | { readonly kind: "iv"; readonly name: string }
  | { readonly kind: "add" | "sub" | "min"; readonly lhs: IndexExpr; readonly rhs: IndexExpr };

export const constant = (value: number): IndexExpr => ({ kind: "const", value });
export const iv = (name: string): IndexExpr => ({ kind: "iv", name });

export function add(lhs: IndexExpr, rhs: IndexExpr): IndexExpr {
  if (lhs.kind === "const" && rhs.kind === "const") return constant(lhs.value + rhs.value);
  if (rhs.kind === "const" && rhs.value === 0) return lhs;
  if (lhs.kind === "const" && lhs.value === 0) return rhs;
  return { kind: "add", lhs, rhs };
}

export function sub(lhs: IndexExpr, rhs: IndexExpr): IndexExpr {
  if (lhs.kind === "const" && rhs.kind === "const") return constant(lhs.value - rhs.value);
  if (rhs.kind === "const" && rhs.value === 0) return lhs;
  return { kind: "sub", lhs, rhs };
}

export function min(lhs: IndexExpr, rhs: IndexExpr): IndexExpr {
  if (lhs.kind === "const" && rhs.kind === "const") return constant(Math.min(lhs.value, rhs.value));
  return { kind: "min", lhs, rhs };
}

export type Env = ReadonlyMap<string, number>;

export function evaluate(expr: IndexExpr, env: Env): number {
  switch (expr.kind) {
    case "const":
      return expr.value;
    case "iv": {
      const value = env.get(expr.name);
      if (value === undefined) throw new InternalError(`loop variable %${expr.name} is not in scope`);
      return value;
    }
    case "add":
      return evaluate(expr.lhs, env) + evaluate(expr.rhs, env);
    case "sub":
      return evaluate(expr.lhs, env) - evaluate(expr.rhs, env);
    case "min":
      return Math.min(evaluate(expr.lhs, env), evaluate(expr.rhs, env));
    default:
      return assertNever(expr);
  }
}

/** Replaces loop variables; folds what becomes constant. */
export function substitute(expr: IndexExpr, values: ReadonlyMap<string, IndexExpr>): IndexExpr {
  switch (expr.kind) {
    case "const":
      return expr;
    case "iv":
      return values.get(expr.name) ?? expr;
    case "add":
      return add(substitute(expr.lhs, values), substitute(expr.rhs, values));
    case "sub":
      return sub(substitute(expr.lhs, values), substitute(expr.rhs, values));
    case "min":
      return min(substitute(expr.lhs, values), substitute(expr.rhs, values));
    default:
      return assertNever(expr);
  }
}

export function loopVariables(expr: IndexExpr): ReadonlySet<string> {
  switch (expr.kind) {
    case "const":
      return new Set();
    case "iv":
      return new Set([expr.name]);
    case "add":
    case "sub":
    case "min":
      return new Set([...loopVariables(expr.lhs), ...loopVariables(expr.rhs)]);
    default:
      return assertNever(expr);
  }
}

export function equalExpr(a: IndexExpr, b: IndexExpr): boolean {
  switch (a.kind) {
    case "const":
      return b.kind === "const" && a.value === b.value;
    case "iv":
      return b.kind === "iv" && a.name === b.name;
    case "add":
    case "sub":
    case "min":
      return b.kind === a.kind && equalExpr(a.lhs, b.lhs) && equalExpr(a.rhs, b.rhs);
    default:
      return assertNever(a);
  }
}

/** The largest value of a size, which is a constant or a minimum with one; undefined for other forms. */
export function largestValue(expr: IndexExpr): number | undefined {
  if (expr.kind === "const") return expr.value;
  if (expr.kind !== "min") return undefined;
  const sides = [expr.lhs, expr.rhs].flatMap((side) => (side.kind === "const" ? [side.value] : []));
  return sides.length === 0 ? undefined : Math.min(...sides);
}
