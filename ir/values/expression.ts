/**
 * Expressions of output elements, over elements that are read. A gather that moves elements is the expression
 * of one read.
 *
 * Arithmetic is in i32, u32 and f32 only. The other types are stored and cast, without loss. f32 holds the
 * sum and the product of two f16 with digits to spare (24 >= 2 * 11 + 2). ONNX and torch compute bf16 through
 * f32 too.
 */
import { at, isFloat8, isPacked, type DType, type Float8Type, type PackedType } from "../types.js";

/** Element types on which tilec does arithmetic: they are added, multiplied and compared. */
export const arithmeticTypes = ["i32", "u32", "f32"] as const satisfies readonly DType[];
/** Element type on which tilec does arithmetic. */
export type ArithmeticType = (typeof arithmeticTypes)[number];

/** Element types that expressions can compute and store. */
export const valueTypes = ["i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32"] as const;
/** Element type that expressions can compute and store. */
export type ValueType = (typeof valueTypes)[number];

/** Type of 8-bit real numbers that expressions can read. HiF8 is not one: no page states its arithmetic. */
export type Float8SourceType = Exclude<Float8Type, "hif8">;

/**
 * Element type that expressions can read. Packed types and 8-bit real numbers are cast on load and never
 * stored.
 */
export type SourceType = ValueType | PackedType | Float8SourceType;

/** True if tilec does arithmetic on an element type: i32, u32 or f32. */
export const isArithmeticType = (dtype: DType): dtype is ArithmeticType =>
  arithmeticTypes.some((other) => other === dtype);
/** True if expressions can compute and store an element type. */
export const isValueType = (dtype: DType): dtype is ValueType => valueTypes.some((other) => other === dtype);

/** True if an element type has 8-bit real numbers that expressions can read. */
export const isFloat8Source = (dtype: DType): dtype is Float8SourceType =>
  isFloat8(dtype) && dtype !== "hif8";

/** True if expressions can read an element type. */
export const isSourceType = (dtype: DType): dtype is SourceType =>
  isPacked(dtype) || isValueType(dtype) || isFloat8Source(dtype);

const integerOperations = ["add", "sub", "mul", "min", "max"] as const;
/**
 * Operations on two values of the same arithmetic type. The result has that type, too. `div` is for f32 only.
 */
export const operations = [...integerOperations, "div"] as const;
/** Operation on two values: arithmetic, minimum or maximum. */
export type Operation = (typeof operations)[number];
/** Operation on two values that exists for integers. */
export type IntegerOperation = (typeof integerOperations)[number];

/** True if an operation exists for integers: every one but `div`. */
export const isIntegerOperation = (op: Operation): op is IntegerOperation => op !== "div";

/**
 * Reductions that make an element from its reduction elements. `fold`: their sum from +0, in order. `exact`:
 * their real sum, rounded once to f32. `mean`: the result of `fold`, divided by their number. `max`, `min`:
 * the largest or the smallest of them. Without reduction elements, the result is +0.
 */
export const reductions = ["fold", "exact", "mean", "max", "min"] as const;
/** Kind of reduction that makes an element from its reduction elements. */
export type Reduction = (typeof reductions)[number];

/**
 * True if a reduction needs the number of its reduction elements. A sum does not: without elements it is its
 * initial value.
 */
export const countsItsElements = (how: Reduction): boolean => how !== "fold" && how !== "exact";

/** Expression tree for the value of an output element. `typeOf` returns the type of a node. */
export type Expression =
  /** An element, by the number of its read in the map. */
  | { readonly kind: "read"; readonly read: number }
  /** `bits`: an unsigned number of 32 bits. */
  | { readonly kind: "number"; readonly type: ArithmeticType; readonly bits: number }
  /** The exact value, rounded once to another type. */
  | { readonly kind: "cast"; readonly to: DType; readonly of: Expression }
  | { readonly kind: "op"; readonly op: Operation; readonly of: readonly [Expression, Expression] }
  /**
   * Reduction over the reduction elements: one for each value of r. An expression has at most one reduction.
   */
  | { readonly kind: "reduce"; readonly how: Reduction; readonly of: Expression };

/** Returns a value of type `from` cast to type `to`; the value itself if the types are equal. */
export const castTo = (to: DType, from: DType, of: Expression): Expression =>
  to === from ? of : { kind: "cast", to, of };

/**
 * Returns the maximum number of reduction elements of an output element: 2^24, or 2^24 - 1 for a mean. f32
 * holds every whole number up to 2^24, and the number of a mean's elements is an f32.
 */
export const maxReductionElements = (how: Reduction): number => (how === "mean" ? 2 ** 24 - 1 : 2 ** 24);

/** Returns an expression in which each read is replaced by another expression. */
export function withReads(value: Expression, of: (read: number) => Expression): Expression {
  switch (value.kind) {
    case "read":
      return of(value.read);
    case "number":
      return value;
    case "cast":
    case "reduce":
      return { ...value, of: withReads(value.of, of) };
    case "op":
      return { ...value, of: [withReads(value.of[0], of), withReads(value.of[1], of)] };
  }
}

/**
 * Returns the numbers of the reads in an expression, in the order of its text, each as often as it occurs.
 */
export function readsIn(value: Expression): readonly number[] {
  switch (value.kind) {
    case "read":
      return [value.read];
    case "number":
      return [];
    case "cast":
    case "reduce":
      return readsIn(value.of);
    case "op":
      return value.of.flatMap(readsIn);
  }
}

/** Returns the number of operations, casts and reductions in an expression. */
export function operationsIn(value: Expression): number {
  switch (value.kind) {
    case "read":
    case "number":
      return 0;
    case "cast":
    case "reduce":
      return 1 + operationsIn(value.of);
    case "op":
      return 1 + operationsIn(value.of[0]) + operationsIn(value.of[1]);
  }
}

/** Returns the reductions of an expression, inner ones first. A verified expression has at most one. */
export function reductionsIn(value: Expression): readonly Extract<Expression, { readonly kind: "reduce" }>[] {
  switch (value.kind) {
    case "read":
    case "number":
      return [];
    case "cast":
      return reductionsIn(value.of);
    case "op":
      return value.of.flatMap(reductionsIn);
    case "reduce":
      return [...reductionsIn(value.of), value];
  }
}

/**
 * Returns the element type of an expression over reads of these types. An operation has the type of its left
 * side.
 */
export function typeOf(value: Expression, reads: readonly DType[]): DType {
  switch (value.kind) {
    case "read":
      return at(reads, value.read);
    case "number":
      return value.type;
    case "cast":
      return value.to;
    case "op":
      return typeOf(value.of[0], reads);
    case "reduce":
      return typeOf(value.of, reads);
  }
}
