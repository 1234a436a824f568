/** Index expressions as WGSL, all in u32: a legal program never goes below zero. */
import type { IndexExpr } from "../../ir/expr.js";
import { assertNever } from "../../ir/types.js";

export function emitExpr(expr: IndexExpr): string {
  switch (expr.kind) {
    case "const":
      return `${expr.value}u`;
    case "iv":
      return expr.name;
    case "add":
      return `${emitExpr(expr.lhs)} + ${emitTerm(expr.rhs)}`;
    case "sub":
      return `${emitExpr(expr.lhs)} - ${emitTerm(expr.rhs)}`;
    case "min":
      return `min(${emitExpr(expr.lhs)}, ${emitExpr(expr.rhs)})`;
    default:
      return assertNever(expr);
  }
}

const emitTerm = (expr: IndexExpr): string =>
  expr.kind === "add" || expr.kind === "sub" ? `(${emitExpr(expr)})` : emitExpr(expr);

/** One summand of an address: a coordinate times a constant; absent when it is zero. */
export function scaled(coordinate: string, by: number): string[] {
  if (by === 0 || coordinate === "0u") return [];
  const simple = /^[\w.]+(?:\([^()]*\))?$/.test(coordinate) ? coordinate : `(${coordinate})`;
  if (by === 1) return [simple];
  const literal = /^(\d+)u$/.exec(coordinate)?.[1];
  return literal === undefined ? [`${simple} * ${by}u`] : [`${Number(literal) * by}u`];
}

export const sum = (terms: readonly string[]): string => (terms.length === 0 ? "0u" : terms.join(" + "));
