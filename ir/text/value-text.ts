/** Expressions of values as text: `f16(f32(i32(%q[t, d1]) - 8) * %s[t])`. */
import { printNumber, readNumber } from "../values/number-text.js";
import {
  isArithmeticType,
  type ArithmeticType,
  type Expression,
  type Operation,
  type Reduction,
} from "../values/expression.js";
import type { DType } from "../types.js";
import type { Token } from "./lex.js";

/** Operator that stands between two values, by operation. Minimum and maximum are calls instead. */
const infix = { add: "+", sub: "-", mul: "*", div: "/" } as const satisfies Partial<
  Record<Operation, string>
>;

/** Expression of a value while the text is parsed, in which number literals have no types yet. */
export type DraftValue =
  | { readonly kind: "read"; readonly read: number }
  | { readonly kind: "literal"; readonly token: Token; readonly text: string }
  | { readonly kind: "cast"; readonly to: DType; readonly of: DraftValue }
  | { readonly kind: "op"; readonly op: Operation; readonly of: readonly [DraftValue, DraftValue] }
  | { readonly kind: "reduce"; readonly how: Reduction; readonly of: DraftValue };

type Fail = (token: Token, message: string, hint: string, code: "TC104" | "TC205") => never;

/**
 * Returns an expression with types for the number literals. `reads`: element types of the reads. `fail`:
 * called for a literal whose type is unknown or cannot represent the number.
 */
export function typedValue(draft: DraftValue, reads: readonly DType[], fail: Fail): Expression {
  const typeOf = (node: DraftValue): DType | undefined => {
    switch (node.kind) {
      case "read":
        return reads[node.read];
      case "literal":
        return undefined;
      case "cast":
        return node.to;
      case "op":
        return typeOf(node.of[0]) ?? typeOf(node.of[1]);
      case "reduce":
        return typeOf(node.of);
    }
  };
  const typed = (node: DraftValue, around: DType | undefined): Expression => {
    switch (node.kind) {
      case "read":
        return node;
      case "literal":
        return { kind: "number", ...literal(node.token, node.text, around, fail) };
      case "cast":
        // A number in a cast alone has its type, and needs none.
        return typeOf(node.of) === undefined
          ? typed(node.of, node.to)
          : { kind: "cast", to: node.to, of: typed(node.of, undefined) };
      case "op": {
        const side = typeOf(node) ?? around;
        return { kind: "op", op: node.op, of: [typed(node.of[0], side), typed(node.of[1], side)] };
      }
      case "reduce":
        return { ...node, of: typed(node.of, around) };
    }
  };
  return typed(draft, undefined);
}

/**
 * Returns the type and bits of a number literal in an expression. `fail`: called if the type is unknown, not
 * arithmetic, or cannot represent the number.
 */
function literal(
  token: Token,
  text: string,
  type: DType | undefined,
  fail: Fail,
): { readonly type: ArithmeticType; readonly bits: number } {
  if (type === undefined)
    return fail(
      token,
      `B4: the type of ${text} cannot be determined`,
      `put the number in a cast: f32(${text})`,
      "TC205",
    );
  if (!isArithmeticType(type))
    return fail(
      token,
      `B2: ${text} is combined with ${type}, and arithmetic takes i32, u32 and f32`,
      `cast the other side: f32(…)`,
      "TC104",
    );
  const number = readNumber(text, type);
  return number.ok ? { type, bits: number.bits } : fail(token, `B4: ${number.message}`, number.hint, "TC205");
}

const binding: Readonly<Record<Operation, number>> = { add: 1, sub: 1, mul: 2, div: 2, min: 3, max: 3 };

/**
 * Returns the text of an expression, with parentheses and number types only where needed. Parsing the text
 * gives an equal expression. `reads`: text of each read.
 */
export function printValue(value: Expression, reads: readonly string[]): string {
  /**
   * Returns the text of a node. `isTyped`: the text states the type of standalone numbers, at the first of
   * them.
   */
  const printed = (node: Expression, isTyped: boolean): string => {
    switch (node.kind) {
      case "read":
        return reads[node.read] ?? "";
      case "number": {
        const number = printNumber(node.type, node.bits);
        return isTyped ? `${node.type}(${number})` : number;
      }
      case "cast":
        return `${node.to}(${printed(node.of, isOfNumbers(node.of))})`;
      case "op": {
        const { op } = node;
        const [left, right] = node.of;
        if (op === "min" || op === "max") return `${op}(${printed(left, isTyped)}, ${printed(right, false)})`;
        return `${side(left, binding[op], isTyped)} ${infix[op]} ${side(right, binding[op] + 1, false)}`;
      }
      case "reduce":
        return `${node.how}(${printed(node.of, isTyped)})`;
    }
  };
  const side = (node: Expression, least: number, isTyped: boolean): string =>
    node.kind === "op" && binding[node.op] < least ? `(${printed(node, isTyped)})` : printed(node, isTyped);
  return printed(value, isOfNumbers(value));
}

/** True if an expression consists of numbers only, without an operand that determines a type. */
function isOfNumbers(node: Expression): boolean {
  switch (node.kind) {
    case "read":
    case "cast":
      return false;
    case "number":
      return true;
    case "op":
      return node.of.every(isOfNumbers);
    case "reduce":
      return isOfNumbers(node.of);
  }
}
