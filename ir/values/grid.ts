/**
 * Bounds of a value that are known before it is computed: the unit of which its finite values are multiples,
 * and their range. Sums of such values are exact as long as they are counted in units.
 */
import { finiteFloat8, float8Formats } from "../float8.js";
import { assertNever, at } from "../types.js";
import {
  isFloat8Source,
  type ArithmeticType,
  type Float8SourceType,
  type Operation,
  type SourceType,
  type ValueType,
} from "./expression.js";
import {
  floatFormats,
  integerRanges,
  isFloatValue,
  isRealSource,
  numberOf,
  type FloatFormat,
} from "./formats.js";
import type { ValueStep } from "./steps.js";

/**
 * Bounds of a value, derived without computing the value. Finite values are n · 2^`lsb` for an integer n from
 * `low` to `high`, with at most `digits` significant bits.
 */
export interface ValueGrid {
  readonly lsb: number;
  readonly low: bigint;
  readonly high: bigint;
  readonly digits: number;
}

/**
 * Result of an analysis: the bounds of a value, or the reason (`why`) why there are no bounds. A value has no
 * bounds if an operation may round, overflow or wrap.
 */
export type GridResult =
  { readonly ok: true; readonly grid: ValueGrid } | { readonly ok: false; readonly why: string };

const abs = (value: bigint): bigint => (value < 0n ? -value : value);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Returns the number of binary digits of a value without the sign; 0 for zero. */
export const bitLength = (value: bigint): number => (value === 0n ? 0 : abs(value).toString(2).length);

/** Returns the greatest absolute value within bounds, in the unit of the bounds (2^`lsb`). */
export const reachOf = ({ low, high }: Pick<ValueGrid, "low" | "high">): bigint => max(abs(low), abs(high));

/**
 * Returns the number of bits of the greatest absolute value within bounds. The value is counted as an
 * integer, in units of 2^`lsb`.
 */
const bitsOfGrid = (grid: ValueGrid): number => bitLength(reachOf(grid));

/** Returns a value grid. `digits`: limit of its significant bits; the range may give a lower limit. */
const gridFrom = (lsb: number, low: bigint, high: bigint, digits = Infinity): ValueGrid => ({
  lsb,
  low,
  high,
  digits: Math.min(digits, bitLength(reachOf({ low, high }))),
});

const leastUnit = (format: FloatFormat): number => format.least - format.digits + 1;

/** Returns the largest finite number of a format, in its least units. */
const largest = ({ digits, infinity }: FloatFormat): bigint =>
  ((1n << BigInt(digits)) - 1n) << BigInt((infinity >>> (digits - 1)) - 2);

/** Returns the bounds of all finite values of an element type. */
function gridOfType(type: SourceType): ValueGrid {
  if (isFloat8Source(type)) return gridOfFloat8(type);
  if (!isFloatValue(type)) {
    const [low, high] = integerRanges[type];
    return gridFrom(0, BigInt(low), BigInt(high));
  }
  const format = floatFormats[type];
  const high = largest(format);
  return gridFrom(leastUnit(format), -high, high, format.digits);
}

/** Returns the bounds of all finite values of an 8-bit float type. */
function gridOfFloat8(type: Float8SourceType): ValueGrid {
  const numbers = finiteFloat8(type).flatMap(({ value }) => (value > 0 ? [value] : []));
  // The least positive number is a power of two, of which all others are multiples.
  const lsb = Math.log2(at(numbers, 0));
  const high = inUnits(lsb, gridOfNumber(at(numbers, numbers.length - 1))).high;
  return type === "f8e8m0fnu"
    ? gridFrom(lsb, 0n, high, 1)
    : gridFrom(lsb, -high, high, float8Formats[type].mantissa + 1);
}

/** Returns the bounds of a single 32-bit number. Infinities and NaN have the bounds of 0. */
function gridOfNumber(value: number): ValueGrid {
  if (!Number.isFinite(value) || value === 0) return gridFrom(0, 0n, 0n);
  // Numbers of 32 bits are whole, or below 2^24 and multiples of 2^-149.
  let [units, lsb] = Number.isInteger(value) ? [BigInt(value), 0] : [BigInt(value * 2 ** 149), -149];
  for (; units % 2n === 0n; units /= 2n) lsb++;
  return gridFrom(lsb, units, units);
}

/** Returns the same values in units of 2^`lsb`, which is no coarser. */
const inUnits = (lsb: number, grid: ValueGrid): ValueGrid => {
  const by = BigInt(grid.lsb - lsb);
  return { lsb, low: grid.low << by, high: grid.high << by, digits: grid.digits };
};

/**
 * Returns the number `value` · 2^`lsb`, rounded to a float format and clamped to the format's largest finite
 * magnitude. The result counts in a unit: the larger of the format's smallest subnormal and 2^`lsb`.
 */
function roundedTo(format: FloatFormat, value: bigint, lsb: number): bigint {
  const [size, bound] = [abs(value), largest(format)];
  const drop = Math.max(bitLength(size) - format.digits, leastUnit(format) - lsb, 0);
  const unit = 1n << BigInt(drop);
  const [kept, rest] = [size / unit, size % unit];
  const up = 2n * rest > unit || (2n * rest === unit && kept % 2n === 1n) ? 1n : 0n;
  const back = leastUnit(format) - lsb;
  const near = (kept + up) * unit;
  const grid =
    back >= 0
      ? least(near >> BigInt(back), bound)
      : least(near, bound >> BigInt(Math.min(-back, bitLength(bound))));
  return value < 0n ? -grid : grid;
}

/**
 * Returns the bounds of a value after a cast from type `from` to type `to`. `grid`: bounds before the cast.
 */
function castGrid(grid: ValueGrid, from: SourceType, to: ValueType): ValueGrid {
  if (isFloatValue(to)) {
    const format = floatFormats[to];
    // What is rounded stays a multiple of the unit that it had.
    return gridFrom(
      Math.max(grid.lsb, leastUnit(format)),
      roundedTo(format, grid.low, grid.lsb),
      roundedTo(format, grid.high, grid.lsb),
      Math.min(grid.digits, format.digits),
    );
  }
  const [low, high] = integerRanges[to];
  const isExact = !isRealSource(from) && isInside(grid, BigInt(low), BigInt(high));
  // An infinity comes to either end of the range.
  return isExact ? grid : gridOfType(to);
}

/** True if the values of a grid lie in a range of whole numbers. */
function isInside(grid: ValueGrid, low: bigint, high: bigint): boolean {
  const units = inUnits(0, grid);
  return units.low >= low && units.high <= high;
}

/**
 * Returns the bounds of the exact result of an operation, before rounding or wrapping. `left`, `right`:
 * bounds of the operands.
 */
function combined(op: Exclude<Operation, "div">, left: ValueGrid, right: ValueGrid): ValueGrid {
  if (op === "mul") {
    const corners = [left.low, left.high].flatMap((a) => [a * right.low, a * right.high]);
    return gridFrom(
      left.lsb + right.lsb,
      corners.reduce(least),
      corners.reduce(max),
      left.digits + right.digits,
    );
  }
  const lsb = Math.min(left.lsb, right.lsb);
  const [a, b] = [inUnits(lsb, left), inUnits(lsb, right)];
  switch (op) {
    case "add":
      return gridFrom(lsb, a.low + b.low, a.high + b.high);
    case "sub":
      return gridFrom(lsb, a.low - b.high, a.high - b.low);
    case "min":
    case "max":
      // Either side, since the other may be an infinity.
      return gridFrom(lsb, least(a.low, b.low), max(a.high, b.high), Math.max(a.digits, b.digits));
    default:
      return assertNever(op);
  }
}

/**
 * Returns the reason why an operation may round, overflow or wrap in a type; undefined for an operation that
 * is always exact. `grid`: bounds of the exact results.
 */
function inexact(op: Operation, grid: ValueGrid, type: ValueType): string | undefined {
  if (op === "min" || op === "max") return undefined;
  if (!isFloatValue(type)) {
    const [low, high] = integerRanges[type];
    return isInside(grid, BigInt(low), BigInt(high)) ? undefined : `${op} of ${type} may wrap`;
  }
  const { digits, least: lowest, infinity } = floatFormats[type];
  if (grid.digits > digits) return `${op} of ${type} takes ${grid.digits} digits of ${digits} and may round`;
  const leading = grid.lsb + bitsOfGrid(grid);
  const exponents = (infinity >>> (digits - 1)) + lowest - 1;
  if (leading > exponents) return `${op} of ${type} may reach 2^${leading - 1} and overflow`;
  return grid.lsb < leastUnit(floatFormats[type])
    ? `${op} of ${type} has multiples of 2^${grid.lsb} and may round`
    : undefined;
}

/**
 * Returns the bounds of the value that each step (one operation, in evaluation order) computes, or the reason
 * why the value has no bounds. `reduced`: bounds of the reduction's result; undefined if no step uses the
 * reduction.
 */
export function gridsOf(steps: readonly ValueStep[], reduced?: GridResult): readonly GridResult[] {
  const grids: GridResult[] = [];
  for (const step of steps) grids.push(gridOfStep(step, grids, steps, reduced));
  return grids;
}

/**
 * Returns the bounds of the value that the last step (one operation, in evaluation order) computes, or the
 * reason why the value has no bounds. No step may use a reduction.
 */
export const gridOfLast = (steps: readonly ValueStep[]): GridResult => at(gridsOf(steps), steps.length - 1);

/**
 * Returns the bounds of the value that a step (one operation, in evaluation order) computes, or the reason
 * why the value has no bounds. `before`: bounds of the values of earlier steps. `reduced`: bounds of the
 * reduction's result.
 */
function gridOfStep(
  step: ValueStep,
  before: readonly GridResult[],
  steps: readonly ValueStep[],
  reduced: GridResult | undefined,
): GridResult {
  switch (step.kind) {
    case "read":
      return { ok: true, grid: gridOfType(step.type) };
    case "number":
      return { ok: true, grid: gridOfNumber(numberOf(step.type, step.bits)) };
    case "reduced":
      return reduced ?? { ok: false, why: "a sum of reduction elements may round" };
    case "cast": {
      const from = at(before, step.of);
      return from.ok ? { ok: true, grid: castGrid(from.grid, at(steps, step.of).type, step.type) } : from;
    }
    case "op": {
      const [left, right] = [at(before, step.of[0]), at(before, step.of[1])];
      if (!left.ok) return left;
      if (!right.ok) return right;
      if (step.op === "div") return { ok: false, why: "a quotient is a multiple of no unit" };
      return checked(step.op, combined(step.op, left.grid, right.grid), step.type);
    }
    default:
      return assertNever(step);
  }
}

const checked = (op: Operation, grid: ValueGrid, type: ValueType): GridResult => {
  const why = inexact(op, grid, type);
  return why === undefined ? { ok: true, grid } : { ok: false, why };
};

/**
 * Returns the bounds of a sum of at most `elements` values with the bounds `element`. Returns a reason if a
 * partial sum may be inexact or wrap.
 */
export function gridOfSum(element: GridResult, elements: number, type: ArithmeticType): GridResult {
  if (!element.ok) return element;
  const { lsb, low, high } = element.grid;
  const count = BigInt(elements);
  return checked("add", gridFrom(lsb, least(low * count, 0n), max(high * count, 0n)), type);
}
