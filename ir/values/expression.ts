/**
 * Expressions of output elements, over elements that are read. A gather that moves elements is the expression
 * of one read.
 *
 * Arithmetic is in i32, u32 and f32 only. The other types are stored and cast, without loss. f32 holds the
 * sum and the product of two f16 with digits to spare (24 >= 2 * 11 + 2). ONNX and torch compute bf16 through
 * f32 too.
 */
import { at, isFloat8, isPacked, type DType, type Float8Type, type PackedType } from "../types.js";

/** Element types in which tilec computes sums, products, minima and maxima. */
export const arithmeticTypes = ["i32", "u32", "f32"] as const satisfies readonly DType[];
/** Element type in which tilec computes: i32, u32 or f32. */
export type ArithmeticType = (typeof arithmeticTypes)[number];

/** Element types that the result of an expression may have and that the output may store. */
export const valueTypes = ["i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32"] as const;
/** Element type that the result of an expression may have and that the output may store. */
export type ValueType = (typeof valueTypes)[number];

/** Type of 8-bit floats that expressions can read; all but HiF8. */
export type Float8SourceType = Exclude<Float8Type, "hif8">;

/**
 * Element type that expressions can read. Packed types (several elements in a byte) and 8-bit floats cannot
 * be stored.
 */
export type SourceType = ValueType | PackedType | Float8SourceType;

/** True if tilec computes in an element type: i32, u32 or f32. */
export const isArithmeticType = (dtype: DType): dtype is ArithmeticType =>
  arithmeticTypes.some((other) => other === dtype);
/** True if the result of an expression can have an element type. */
export const isValueType = (dtype: DType): dtype is ValueType => valueTypes.some((other) => other === dtype);

/** True if an element type is an 8-bit float that expressions can read: all but HiF8. */
export const isFloat8Source = (dtype: DType): dtype is Float8SourceType =>
  isFloat8(dtype) && dtype !== "hif8";

/**
 * True if expressions can read an element type: result types ({@link isValueType}), packed types and 8-bit
 * floats.
 */
export const isSourceType = (dtype: DType): dtype is SourceType =>
  isPacked(dtype) || isValueType(dtype) || isFloat8Source(dtype);

const integerOperations = ["add", "sub", "mul", "min", "max"] as const;
/** Operations on two values of one arithmetic type, with a result of the same type. `div` is for f32 only. */
export const operations = [...integerOperations, "div"] as const;
/** Operation on two values: addition, subtraction, multiplication, division, minimum or maximum. */
export type Operation = (typeof operations)[number];
/** Operation on two values that integer types support: all but `div`. */
export type IntegerOperation = (typeof integerOperations)[number];

/** True if integer types support an operation: all but `div`. */
export const isIntegerOperation = (op: Operation): op is IntegerOperation => op !== "div";

/**
 * Reductions that combine several elements into one output element. `fold`: sum, added in order. `exact`:
 * exact sum, rounded once to f32. `mean`: `fold` divided by the number of elements. `max`, `min`: largest or
 * smallest element. Without any element, the result is +0.
 */
export const reductions = ["fold", "exact", "mean", "max", "min"] as const;
/** Kind of reduction, which combines several elements into one output element; see {@link reductions}. */
export type Reduction = (typeof reductions)[number];

/**
 * True if the result of a reduction depends on the number of elements that it combines: `mean`, `max` and
 * `min`.
 */
export const countsItsElements = (how: Reduction): boolean => how !== "fold" && how !== "exact";

/**
 * Expression tree for the value of an output element, with reads, numbers, casts, operations and reductions
 * as nodes.
 */
export type Expression =
  /** Element that is read, given by the index of the read in the access map. */
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

/**
 * Returns an expression that casts `of` from type `from` to type `to`; `of` itself if the types are equal.
 */
export const castTo = (to: DType, from: DType, of: Expression): Expression =>
  to === from ? of : { kind: "cast", to, of };

/**
 * Returns the maximum number of elements that a reduction may combine into one output element: 2^24, or 2^24
 * - 1 for a mean.
 */
export const maxReductionElements = (how: Reduction): number => (how === "mean" ? 2 ** 24 - 1 : 2 ** 24);

/**
 * Returns a copy of an expression with the reads replaced. `of`: returns the replacement for a read, given
 * the read's index in the access map.
 */
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
 * Returns the indices, from 0, of the reads in an expression, from left to right. A read that is used twice
 * is listed twice.
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

/** Returns the reductions in an expression, innermost first. The list is empty if there is none. */
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

/** Returns the element type of an expression. `reads`: element types of the reads. */
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
