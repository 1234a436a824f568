/**
 * Bounds of values that are not zero, also of steps that round: the grid (grid.ts) speaks of steps that do
 * not. An f32 step whose operands and result are no subnormals has one
 * result on machines that flush subnormals and on those that keep them, whether they look for tiny results
 * before or after rounding.
 */
import { assertNever, at } from "../types.js";
import { isFloat8Source, type Operation, type SourceType, type ValueType } from "./expression.js";
import { floatFormats, integerRanges, isFloatValue, isRealSource, numberOf } from "./formats.js";
import type { FloatFormat } from "./formats.js";
import type { ValueStep } from "./steps.js";

/** Number `units` · 2^`exponent`, represented exactly. */
export interface Dyadic {
  readonly units: bigint;
  readonly exponent: number;
}

/**
 * Bounds of a value whose operations may round. Finite values are from `low` to `high`; nonzero values are
 * multiples of 2^`unit` with a magnitude of at least 2^`least`.
 */
export interface Magnitude {
  readonly unit: number;
  readonly least: number;
  readonly low: Dyadic;
  readonly high: Dyadic;
  /** False if a value may be an infinity or NaN. */
  readonly finite: boolean;
  /** True if a value may be -0. */
  readonly negativeZero: boolean;
}

/**
 * Bounds that the program promises for the elements of an operand. Elements are finite; the magnitude of
 * nonzero elements is from 2^`least` to below 2^`below`.
 */
export interface ElementBounds {
  readonly least?: number;
  readonly below?: number;
}

/** Exponent of the smallest normal f32: -126. */
export const leastNormal = floatFormats.f32.least;
/** Exponent of the exclusive upper bound of f32: the magnitude of a finite f32 is less than 2^`f32Limit`. */
export const f32Limit = 128;

const lengthOf = (value: bigint): number =>
  value === 0n ? 0 : (value < 0n ? -value : value).toString(2).length;

/** Returns the number `units` · 2^`exponent` as an exact {@link Dyadic}. */
export const dyadic = (units: bigint, exponent = 0): Dyadic => ({ units, exponent });
const zero = dyadic(0n);

/** Returns both numbers in one unit. */
function aligned(a: Dyadic, b: Dyadic): readonly [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.units << BigInt(a.exponent - exponent), b.units << BigInt(b.exponent - exponent), exponent];
}

/** True if `a` is less than `b`. */
export function isLess(a: Dyadic, b: Dyadic): boolean {
  const [left, right] = aligned(a, b);
  return left < right;
}

const lower = (a: Dyadic, b: Dyadic): Dyadic => (isLess(a, b) ? a : b);
const higher = (a: Dyadic, b: Dyadic): Dyadic => (isLess(a, b) ? b : a);
const negated = ({ units, exponent }: Dyadic): Dyadic => dyadic(-units, exponent);

function sumOf(a: Dyadic, b: Dyadic): Dyadic {
  const [left, right, exponent] = aligned(a, b);
  return dyadic(left + right, exponent);
}

const productOf = (a: Dyadic, b: Dyadic): Dyadic => dyadic(a.units * b.units, a.exponent + b.exponent);

/** Returns the greatest absolute value within bounds. */
export const largestOf = ({ low, high }: Pick<Magnitude, "low" | "high">): Dyadic =>
  higher(negated(low), high);

/** Returns a number rounded to the precision of a float format, away from zero. */
function roundedAway({ units, exponent }: Dyadic, { digits, least }: FloatFormat): Dyadic {
  const size = units < 0n ? -units : units;
  const drop = Math.max(lengthOf(size) - digits, least - digits + 1 - exponent);
  if (drop <= 0) return dyadic(units, exponent);
  const kept = (size + (1n << BigInt(drop)) - 1n) >> BigInt(drop);
  return dyadic(units < 0n ? -kept : kept, exponent + drop);
}

/** Returns the bounds of a value after rounding to a float format. */
function afterRounding(value: Magnitude, format: FloatFormat): Magnitude {
  const last = format.least - format.digits + 1;
  const rounds = value.unit < last;
  const least = Math.max(value.least, last);
  return {
    ...value,
    least,
    unit: Math.max(value.unit, least - format.digits + 1, last),
    low: roundedAway(value.low, format),
    high: roundedAway(value.high, format),
    // What is below half of the least subnormal becomes a zero of its sign.
    negativeZero: value.negativeZero || (rounds && value.low.units < 0n),
  };
}

const largestUnder = ({ digits, least }: FloatFormat, exponent: number): Dyadic => {
  const precision = Math.min(digits, exponent - (least - digits + 1));
  return precision <= 0 ? zero : dyadic((1n << BigInt(precision)) - 1n, exponent - precision);
};

/**
 * Returns the bounds of the elements of a type. `bounds`: promised bounds of float elements; absent if
 * infinities and NaN are possible.
 */
export function magnitudeOfType(type: SourceType, bounds?: ElementBounds): Magnitude {
  if (isFloat8Source(type)) {
    // From the least subnormal of E5M2FNUZ, or of the scales of E8M0, to their largest.
    const high = dyadic(1n, f32Limit - 1);
    return { unit: -127, least: -127, low: negated(high), high, finite: false, negativeZero: true };
  }
  if (!isFloatValue(type)) {
    const [low, high] = integerRanges[type];
    return between(BigInt(low), BigInt(high));
  }
  const format = floatFormats[type];
  const last = format.least - format.digits + 1;
  const bias = (format.infinity >>> (format.digits - 1)) - 1;
  const least = Math.max(last, bounds?.least ?? last);
  const high = largestUnder(format, Math.min(bias + format.least, bounds?.below ?? Infinity));
  return {
    unit: Math.max(last, least - format.digits + 1),
    least,
    low: negated(high),
    high,
    finite: bounds !== undefined,
    negativeZero: true,
  };
}

const between = (low: bigint, high: bigint): Magnitude => ({
  unit: 0,
  least: 0,
  low: dyadic(low),
  high: dyadic(high),
  finite: true,
  negativeZero: false,
});

/**
 * Returns the bounds of a single number. For 0, infinities and NaN, `low` and `high` are 0, and `unit` and
 * `least` are infinite.
 */
export function magnitudeOfNumber(value: number): Magnitude {
  const finite = Number.isFinite(value);
  if (value === 0 || !finite)
    return {
      unit: Infinity,
      least: Infinity,
      low: zero,
      high: zero,
      finite,
      negativeZero: Object.is(value, -0),
    };
  let [units, exponent] = Number.isInteger(value) ? [BigInt(value), 0] : [BigInt(value * 2 ** 149), -149];
  for (; units % 2n === 0n; units /= 2n) exponent++;
  const exact = dyadic(units, exponent);
  const least = exponent + lengthOf(units) - 1;
  return { unit: exponent, least, low: exact, high: exact, finite, negativeZero: false };
}

/** Returns the same toward zero, as a whole number. */
function truncated({ units, exponent }: Dyadic): bigint {
  if (exponent >= 0) return units << BigInt(exponent);
  const size = (units < 0n ? -units : units) >> BigInt(-exponent);
  return units < 0n ? -size : size;
}

/** True if all values within bounds fit an integer type after truncation toward zero. */
export function fitsInteger({ low, high }: Magnitude, type: keyof typeof integerRanges): boolean {
  const [lowest, highest] = integerRanges[type];
  return truncated(low) >= BigInt(lowest) && truncated(high) <= BigInt(highest);
}

/**
 * Returns the bounds of a value after a cast from type `from` to type `to`. `value`: bounds before the cast.
 */
function castMagnitude(value: Magnitude, from: SourceType, to: ValueType): Magnitude {
  if (isFloatValue(to)) return afterRounding(value, floatFormats[to]);
  const [lowest, highest] = integerRanges[to];
  if (!isRealSource(from)) return fitsInteger(value, to) ? value : between(BigInt(lowest), BigInt(highest));
  if (!value.finite || !fitsInteger(value, to)) return between(BigInt(lowest), BigInt(highest));
  return between(truncated(value.low), truncated(value.high));
}

/**
 * Returns the bounds of the exact result of an operation, before rounding or wrapping. `a`, `b`: bounds of
 * the operands.
 */
export function combined(op: Exclude<Operation, "div">, a: Magnitude, b: Magnitude): Magnitude {
  const finite = a.finite && b.finite;
  switch (op) {
    case "mul": {
      const corners = [productOf(a.low, b.low), productOf(a.low, b.high), productOf(a.high, b.low)];
      const last = productOf(a.high, b.high);
      const low = corners.reduce(lower, last);
      return {
        unit: a.unit + b.unit,
        least: a.least + b.least,
        low,
        high: corners.reduce(higher, last),
        finite,
        // 0 * -1 is -0.
        negativeZero: a.negativeZero || b.negativeZero || a.low.units < 0n || b.low.units < 0n,
      };
    }
    case "add":
    case "sub": {
      const [low, high] = op === "add" ? [b.low, b.high] : [negated(b.high), negated(b.low)];
      const unit = Math.min(a.unit, b.unit);
      return {
        unit,
        least: unit,
        low: sumOf(a.low, low),
        high: sumOf(a.high, high),
        finite,
        negativeZero: a.negativeZero && (op === "sub" || b.negativeZero),
      };
    }
    case "min":
    case "max": {
      const [low, high] = op === "min" ? [lower, lower] : [higher, higher];
      return {
        unit: Math.min(a.unit, b.unit),
        least: Math.min(a.least, b.least),
        low: low(a.low, b.low),
        high: high(a.high, b.high),
        finite,
        negativeZero: a.negativeZero || b.negativeZero,
      };
    }
    default:
      return assertNever(op);
  }
}

/**
 * Returns the bounds of a result after conversion to a type. An integer result that may wrap has the whole
 * range of the type as bounds.
 */
export function inType(value: Magnitude, type: ValueType): Magnitude {
  if (isFloatValue(type)) return afterRounding(value, floatFormats[type]);
  return fitsInteger(value, type) ? value : magnitudeOfType(type);
}

/**
 * Returns the bounds of a sum of at most `count` elements with the bounds `element`, added in order with
 * rounding to `digits` binary digits; each sum may be rounded to f32 first.
 */
export function foldMagnitude(
  element: Magnitude,
  count: number,
  digits: number = floatFormats.f32.digits,
): Magnitude {
  const zeroed = { low: lower(element.low, zero), high: higher(element.high, zero) };
  // Each of n sums grows by 2^-d of itself at most: (1 + 2^-d)^n is below 1 + n * 2^(1-d) for n <= 2^d. Sums
  // of more elements end below 2^(d+2) of the largest: there an element is less than half of the last digit.
  const growth = digits - 1;
  const grown =
    count <= 2 ** digits
      ? dyadic(BigInt(count) * ((1n << BigInt(growth)) + BigInt(count)), -growth)
      : dyadic(1n, digits + 2);
  return {
    ...element,
    least: element.unit,
    low: productOf(zeroed.low, grown),
    high: productOf(zeroed.high, grown),
    negativeZero: false,
  };
}

/** Returns bounds that hold for the values of both. */
export const eitherMagnitude = (a: Magnitude, b: Magnitude): Magnitude => ({
  unit: Math.min(a.unit, b.unit),
  least: Math.min(a.least, b.least),
  low: lower(a.low, b.low),
  high: higher(a.high, b.high),
  finite: a.finite && b.finite,
  negativeZero: a.negativeZero || b.negativeZero,
});

/**
 * Returns the bounds, before rounding, of an exact sum of at most `count` elements with the bounds `element`.
 */
export const exactSum = (element: Magnitude, count: number): Magnitude => ({
  ...element,
  low: productOf(lower(element.low, zero), dyadic(BigInt(count))),
  high: productOf(higher(element.high, zero), dyadic(BigInt(count))),
});

/**
 * Bounds from which an analysis of steps starts: the bounds that the program promises for the elements of
 * each read, and the bounds of the reduction's result. `bounds`: returns undefined for a read without a
 * promise.
 */
export interface MagnitudeOf {
  readonly bounds: (read: number) => ElementBounds | undefined;
  readonly reduced?: Magnitude;
}

/**
 * Returns the bounds of the value that each step (one operation) computes, in evaluation order. `of`: gives
 * the bounds of the elements that are read, and of the reduction's result.
 */
export function magnitudes(steps: readonly ValueStep[], of: MagnitudeOf): readonly Magnitude[] {
  const results: Magnitude[] = [];
  for (const step of steps) results.push(magnitudeOfStep(step, results, of));
  return results;
}

/**
 * Returns the bounds of the value that a step (one operation, in evaluation order) computes. `operands`:
 * bounds of the values of earlier steps, by step number. `of`: gives the bounds of the elements that are
 * read, and of the reduction's result.
 */
function magnitudeOfStep(step: ValueStep, operands: readonly Magnitude[], of: MagnitudeOf): Magnitude {
  switch (step.kind) {
    case "read":
      return magnitudeOfType(step.type, of.bounds(step.read));
    case "number":
      return magnitudeOfNumber(numberOf(step.type, step.bits));
    case "cast":
      return castMagnitude(at(operands, step.of), step.from, step.type);
    case "op":
      // A quotient by a number near zero may be anything.
      if (step.op === "div") return magnitudeOfType(step.type);
      return inType(combined(step.op, at(operands, step.of[0]), at(operands, step.of[1])), step.type);
    case "reduced":
      return of.reduced ?? magnitudeOfType(step.type);
    default:
      return assertNever(step);
  }
}
