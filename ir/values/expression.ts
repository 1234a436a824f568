/**
 * What an output element is: an expression of elements that are read. A gather that moves elements is the expression of one read.
 *
 * Arithmetic is in i32, u32 and f32 alone. The other types are stored and cast: nothing is lost, because f32 holds the sum and the
 * product of two f16 with digits to spare (24 >= 2 * 11 + 2), and ONNX and torch compute bf16 through f32 too.
 */
import { at, isFloat8, isPacked, type DType, type Float8Type, type PackedType } from "../types.js";

/** Types that are added, multiplied and compared. */
export const arithmeticTypes = ["i32", "u32", "f32"] as const satisfies readonly DType[];
/** A type that is added, multiplied and compared. */
export type ArithmeticType = (typeof arithmeticTypes)[number];

/** Types of elements that values are made from. */
export const valueTypes = ["i8", "u8", "i16", "u16", "i32", "u32", "f16", "bf16", "f32"] as const;
/** A type of elements that values are made from. */
export type ValueType = (typeof valueTypes)[number];

/** A type of 8-bit real numbers that elements are read in. No page states arithmetic of HiF8. */
export type Float8SourceType = Exclude<Float8Type, "hif8">;

/** A type that elements are read in. Packed types and 8-bit real numbers are cast on load and never stored. */
export type SourceType = ValueType | PackedType | Float8SourceType;

export const isArithmeticType = (dtype: DType): dtype is ArithmeticType =>
  arithmeticTypes.some((other) => other === dtype);
export const isValueType = (dtype: DType): dtype is ValueType => valueTypes.some((other) => other === dtype);

/** True if elements of a type are 8-bit real numbers that can be read. */
export const isFloat8Source = (dtype: DType): dtype is Float8SourceType =>
  isFloat8(dtype) && dtype !== "hif8";

export const isSourceType = (dtype: DType): dtype is SourceType =>
  isPacked(dtype) || isValueType(dtype) || isFloat8Source(dtype);

const integerOperations = ["add", "sub", "mul", "min", "max"] as const;
/** Operations on two values of one arithmetic type, which the result has too. A quotient is of f32. */
export const operations = [...integerOperations, "div"] as const;
/** An operation on two values. */
export type Operation = (typeof operations)[number];
/** An operation that integers have too. */
export type IntegerOperation = (typeof integerOperations)[number];

/** True if integers have an operation. */
export const isIntegerOperation = (op: Operation): op is IntegerOperation => op !== "div";

/**
 * What the terms of an element come to. `fold`: their sum from +0, in order. `exact`: their real sum, rounded once to f32. `mean`: what
 * `fold` gives, divided by their number. `max`, `min`: of the terms. Of no term, +0.
 */
export const reductions = ["fold", "exact", "mean", "max", "min"] as const;
/** What becomes of an element's terms. */
export type Reduction = (typeof reductions)[number];

/** Whether the number of an element's terms matters; a sum of none is what it starts from. */
export const countsItsElements = (how: Reduction): boolean => how !== "fold" && how !== "exact";

/** A tree; `typeOf` gives the type of each node. */
export type Expression =
  /** An element, by the number of its read in the map. */
  | { readonly kind: "read"; readonly read: number }
  /** `bits`: an unsigned number of 32 bits. */
  | { readonly kind: "number"; readonly type: ArithmeticType; readonly bits: number }
  /** The exact value, rounded once to another type. */
  | { readonly kind: "cast"; readonly to: DType; readonly of: Expression }
  | { readonly kind: "op"; readonly op: Operation; readonly of: readonly [Expression, Expression] }
  /** Of the terms of an element: one for each value of r. At most one stands in an expression. */
  | { readonly kind: "reduce"; readonly how: Reduction; readonly of: Expression };

/** A value of type `from` as one of type `to`, which it may be already. */
export const castTo = (to: DType, from: DType, of: Expression): Expression =>
  to === from ? of : { kind: "cast", to, of };

/** The most terms of an element: f32 holds every whole number up to 2^24, and the number of a mean's terms is one. */
export const maxReductionElements = (how: Reduction): number => (how === "mean" ? 2 ** 24 - 1 : 2 ** 24);

/** Returns an expression with others in the place of its reads. */
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

/** The numbers of the reads that an expression names, in the order of its text, each as often as it stands there. */
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

/** Returns how many operations and casts an expression has. */
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

/** The reductions of an expression, inner first: a verified one has one or none. */
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

/** The element type of an expression over reads of these types. That of an operation is its left side's. */
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
