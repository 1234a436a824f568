/**
 * Semantics of each operation and cast on numbers: the definition that every backend implements in its own
 * instructions.
 */
import { assertNever, invariant } from "../types.js";
import {
  isIntegerOperation,
  type ArithmeticType,
  type IntegerOperation,
  type Operation,
  type Reduction,
  type SourceType,
  type ValueType,
} from "./expression.js";
import { floatFormats, integerRanges, isFloatValue, isRealSource, rounded } from "./formats.js";

/**
 * Reduction that combines elements one by one with an operation; all reductions are stepwise apart from
 * `exact`.
 */
export type StepwiseReduction = Exclude<Reduction, "exact">;

type Meaning = (a: number, b: number) => number;

/** To 32 bits, of a sum or product that is exact modulo 2^32. */
const wraps: Readonly<Record<"i32" | "u32", (value: number) => number>> = {
  i32: (value) => value | 0,
  u32: (value) => value >>> 0,
};

const integer = (type: "i32" | "u32"): Readonly<Record<IntegerOperation, Meaning>> => ({
  add: (a, b) => wraps[type](a + b),
  sub: (a, b) => wraps[type](a - b),
  mul: (a, b) => wraps[type](Math.imul(a, b)),
  min: (a, b) => Math.min(a, b),
  max: (a, b) => Math.max(a, b),
});

/**
 * By type. Integers wrap at 32 bits. f32 rounds once to nearest even: f64 holds a product of two f32 exactly,
 * and a sum or a quotient with digits enough that rounding it again changes nothing (53 >= 2 * 24 + 2). x / 0
 * is an infinity, and 0 / 0 NaN. Its minimum and maximum are those of IEEE 754-2019: NaN wins, and -0 is
 * below +0.
 */
const meanings = {
  i32: integer("i32"),
  u32: integer("u32"),
  f32: {
    add: (a, b) => Math.fround(a + b),
    sub: (a, b) => Math.fround(a - b),
    mul: (a, b) => Math.fround(a * b),
    min: (a, b) => Math.min(a, b),
    max: (a, b) => Math.max(a, b),
    div: (a, b) => Math.fround(a / b),
  },
} as const satisfies {
  readonly [T in ArithmeticType]: Readonly<Record<T extends "f32" ? Operation : IntegerOperation, Meaning>>;
};

/**
 * Returns the function that applies an operation to two numbers of a type. Throws an internal error for `div`
 * of an integer type.
 */
export function meaningOf(op: Operation, type: ArithmeticType): Meaning {
  if (type === "f32") return meanings.f32[op];
  invariant(isIntegerOperation(op), `${op} of ${type}`);
  return meanings[type][op];
}

/**
 * Initial value of a reduction, by type, and the operation that takes in an element. Without reduction
 * elements, the result is +0 instead.
 */
interface Accumulator {
  readonly op: IntegerOperation;
  readonly start: Readonly<Record<ArithmeticType, number>>;
}

const sum: Accumulator = { op: "add", start: { i32: 0, u32: 0, f32: 0 } };

/**
 * Operation and start value of each stepwise reduction. A mean accumulates a sum; `reducedTo` divides
 * the sum by the number of elements.
 */
export const accumulators: Readonly<Record<StepwiseReduction, Accumulator>> = {
  fold: sum,
  mean: sum,
  max: { op: "max", start: { i32: integerRanges.i32[0], u32: integerRanges.u32[0], f32: -Infinity } },
  min: { op: "min", start: { i32: integerRanges.i32[1], u32: integerRanges.u32[1], f32: Infinity } },
};

/**
 * Returns the final value of a reduction of `count` elements; 0 if `count` is 0. `taken`: the accumulated
 * value, which a mean divides by `count`.
 */
export function reducedTo(how: StepwiseReduction, taken: number, count: number): number {
  if (count === 0) return 0;
  return how === "mean" ? Math.fround(taken / count) : taken;
}

/**
 * Returns the number of 32-bit words that store a partial reduction: three for an exact sum, else one. An
 * exact sum stores the low and high half of a 64-bit integer, and the f32 sum of NaN and infinite elements.
 */
export const wordsOfSum = (how: Reduction): number => (how === "exact" ? 3 : 1);

/** Returns `units` · 2^`unit` as an f32, rounded once to nearest; +0 if `units` is 0. */
export function roundedUnits(units: bigint, unit: number): number {
  const size = units < 0n ? -units : units;
  // f64 holds the first digits, and a last one that says whether any other is set: rounding that is rounding
  // once (53 >= 24 + 2).
  const drop = BigInt(Math.max(size.toString(2).length - 52, 0));
  const kept = size >> drop;
  const last = kept << drop === size ? 0n : 1n;
  const near = Math.fround(Number((kept << 1n) | last) * 2 ** (Number(drop) - 1 + unit));
  return units < 0n ? -near : near;
}

/**
 * Returns a value cast to another type. A float result is rounded to nearest, ties to even. A float cast to
 * an integer is truncated and clamped (NaN becomes 0); a cast between integers wraps.
 */
export function castNumber(from: SourceType, to: ValueType, value: number): number {
  if (isFloatValue(to)) return rounded(value, floatFormats[to]);
  const [lowest, highest] = integerRanges[to];
  if (isRealSource(from))
    return Number.isNaN(value) ? 0 : Math.min(Math.max(Math.trunc(value), lowest), highest) + 0;
  switch (to) {
    case "i8":
      return (value << 24) >> 24;
    case "u8":
      return value & 0xff;
    case "i16":
      return (value << 16) >> 16;
    case "u16":
      return value & 0xffff;
    case "i32":
      return value | 0;
    case "u32":
      return value >>> 0;
    default:
      return assertNever(to);
  }
}
