/**
 * What is known of a value before it is computed: the unit that its finite values are multiples of, and how far they reach. Sums of such
 * values are exact as long as they are counted in units.
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

/** Finite values are whole numbers from `low` to `high` times 2^`lsb`, of `digits` significant bits at most. */
export interface ValueGrid {
  readonly lsb: number;
  readonly low: bigint;
  readonly high: bigint;
  readonly digits: number;
}

/** The grid of a value, or why one of its operations may round, overflow or wrap. */
export type GridResult =
  { readonly ok: true; readonly grid: ValueGrid } | { readonly ok: false; readonly why: string };

const abs = (value: bigint): bigint => (value < 0n ? -value : value);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Binary digits of a magnitude; 0 of zero. */
export const bitLength = (value: bigint): number => (value === 0n ? 0 : abs(value).toString(2).length);

/** The greatest magnitude of a grid, in units. */
export const reachOf = ({ low, high }: Pick<ValueGrid, "low" | "high">): bigint => max(abs(low), abs(high));

/** Bits that the greatest magnitude takes, in units. */
export const bitsOfGrid = (grid: ValueGrid): number => bitLength(reachOf(grid));

/** `digits`: as far as the range does not tell it. */
const gridFrom = (lsb: number, low: bigint, high: bigint, digits = Infinity): ValueGrid => ({
  lsb,
  low,
  high,
  digits: Math.min(digits, bitLength(reachOf({ low, high }))),
});

const leastUnit = (format: FloatFormat): number => format.least - format.digits + 1;

/** The largest finite number of a format, in its least units. */
const largest = ({ digits, infinity }: FloatFormat): bigint =>
  ((1n << BigInt(digits)) - 1n) << BigInt((infinity >>> (digits - 1)) - 2);

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

function gridOfFloat8(type: Float8SourceType): ValueGrid {
  const numbers = finiteFloat8(type).flatMap(({ value }) => (value > 0 ? [value] : []));
  // The least positive number is a power of two, of which all others are multiples.
  const lsb = Math.log2(at(numbers, 0));
  const high = inUnits(lsb, gridOfNumber(at(numbers, numbers.length - 1))).high;
  return type === "f8e8m0fnu"
    ? gridFrom(lsb, 0n, high, 1)
    : gridFrom(lsb, -high, high, float8Formats[type].mantissa + 1);
}

function gridOfNumber(value: number): ValueGrid {
  if (!Number.isFinite(value) || value === 0) return gridFrom(0, 0n, 0n);
  // Numbers of 32 bits are whole, or below 2^24 and multiples of 2^-149.
  let [units, lsb] = Number.isInteger(value) ? [BigInt(value), 0] : [BigInt(value * 2 ** 149), -149];
  for (; units % 2n === 0n; units /= 2n) lsb++;
  return gridFrom(lsb, units, units);
}

/** The same values in units of 2^`lsb`, which is no coarser. */
const inUnits = (lsb: number, grid: ValueGrid): ValueGrid => {
  const by = BigInt(grid.lsb - lsb);
  return { lsb, low: grid.low << by, high: grid.high << by, digits: grid.digits };
};

/** A whole number times 2^`lsb` in a format's least units, or in units of 2^`lsb` where these are coarser: rounded once, and no more than its largest. */
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

/** Whether whole numbers lie in a range. */
function isInside(grid: ValueGrid, low: bigint, high: bigint): boolean {
  const units = inUnits(0, grid);
  return units.low >= low && units.high <= high;
}

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

/** Why the results of an operation may be others than the real ones. */
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
 * The grids of some steps, by number. `reduced`: that of what the terms come to; undefined where no steps have it.
 */
export function gridsOf(steps: readonly ValueStep[], reduced?: GridResult): readonly GridResult[] {
  const grids: GridResult[] = [];
  for (const step of steps) grids.push(gridOfStep(step, grids, steps, reduced));
  return grids;
}

/** The grid of what steps without terms of their own come to. */
export const gridOfLast = (steps: readonly ValueStep[]): GridResult => at(gridsOf(steps), steps.length - 1);

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
      return reduced ?? { ok: false, why: "a sum of terms may round" };
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

/** The grid of a sum of up to so many terms of one grid, where each sum on the way is exact in f32 or does not wrap. */
export function gridOfSum(element: GridResult, elements: number, type: ArithmeticType): GridResult {
  if (!element.ok) return element;
  const { lsb, low, high } = element.grid;
  const count = BigInt(elements);
  return checked("add", gridFrom(lsb, least(low * count, 0n), max(high * count, 0n)), type);
}
