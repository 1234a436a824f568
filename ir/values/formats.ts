/**
 * The bits of the types that values are made from, as numbers and back: every value of these types is a
 * JavaScript number.
 */
import { float8Value } from "../float8.js";
import { isFloat8Source, type Float8SourceType, type SourceType, type ValueType } from "./expression.js";

/**
 * Binary floating-point format of IEEE 754. `digits`: bits of the significand, with the implicit leading bit.
 * `least`: exponent of the smallest normal number. `infinity`, `nan`: bit patterns.
 */
export interface FloatFormat {
  readonly bits: 16 | 32;
  readonly digits: number;
  readonly least: number;
  readonly infinity: number;
  /** Bits of every NaN that an operation or a cast gives. */
  readonly nan: number;
}

/** Binary formats of the float element types f16, bf16 and f32. */
export const floatFormats = {
  f16: { bits: 16, digits: 11, least: -14, infinity: 0x7c00, nan: 0x7e00 },
  bf16: { bits: 16, digits: 8, least: -126, infinity: 0x7f80, nan: 0x7fc0 },
  f32: { bits: 32, digits: 24, least: -126, infinity: 0x7f800000, nan: 0x7fc00000 },
} as const satisfies Readonly<Record<"f16" | "bf16" | "f32", FloatFormat>>;

/** Name of a float element type: f16, bf16 or f32. */
export type FloatValueType = keyof typeof floatFormats;
/** True if a type is f16, bf16 or f32. 8-bit floats are excluded. */
export const isFloatValue = (type: SourceType): type is FloatValueType => Object.hasOwn(floatFormats, type);

/** True if a type is a float: f16, bf16, f32 or an 8-bit float that expressions can read. */
export const isRealSource = (type: SourceType): type is FloatValueType | Float8SourceType =>
  isFloatValue(type) || isFloat8Source(type);

/** Lowest and highest value of each integer element type, inclusive. */
export const integerRanges = {
  u2: [0, 3],
  i2: [-2, 1],
  u4: [0, 15],
  i4: [-8, 7],
  i8: [-(2 ** 7), 2 ** 7 - 1],
  u8: [0, 2 ** 8 - 1],
  i16: [-(2 ** 15), 2 ** 15 - 1],
  u16: [0, 2 ** 16 - 1],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
} as const satisfies Readonly<
  Record<Exclude<SourceType, FloatValueType | Float8SourceType>, readonly [number, number]>
>;

/**
 * Returns the exponent of a number's leading digit; of a subnormal one of f64, too low, which all formats
 * here round to 0.
 */
function exponentOf(magnitude: number): number {
  scratch.setFloat64(0, magnitude);
  return ((scratch.getUint32(0) >>> 20) & 0x7ff) - 1023;
}

const scratch = new DataView(new ArrayBuffer(8));

/** Returns the integer nearest to a number that is not negative; of two, the even one. */
function nearestEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}

/**
 * Returns the value of a float format nearest to a number, ties to even. Numbers beyond the range become an
 * infinity; NaN and zeros are returned unchanged.
 */
export function rounded(value: number, { digits, least, infinity, bits }: FloatFormat): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const magnitude = Math.abs(value);
  const unit = 2 ** (Math.max(exponentOf(magnitude), least) - digits + 1);
  const near = nearestEven(magnitude / unit) * unit;
  const beyond = 2 ** ((infinity >>> (digits - 1)) - (2 ** (bits - digits - 1) - 1));
  return Math.sign(value) * (near >= beyond ? Infinity : near);
}

/** Returns the number that the bits of an element represent in a type; NaN for the bits of a NaN. */
export function numberOf(type: SourceType, bits: number): number {
  if (isFloat8Source(type)) return float8Value(type, bits);
  if (!isFloatValue(type)) {
    const [lowest, highest] = integerRanges[type];
    return bits > highest ? bits - (highest - lowest + 1) : bits;
  }
  const { digits, least, infinity, bits: width } = floatFormats[type];
  const sign = bits >= 2 ** (width - 1) ? -1 : 1;
  const magnitude = bits % 2 ** (width - 1);
  if (magnitude > infinity) return NaN;
  if (magnitude === infinity) return sign * Infinity;
  const fraction = 2 ** (digits - 1);
  const exponent = Math.floor(magnitude / fraction);
  const mantissa = magnitude % fraction;
  const unit = 2 ** (least - digits + 1);
  return sign * (exponent === 0 ? mantissa * unit : (mantissa + fraction) * unit * 2 ** (exponent - 1));
}

/**
 * Returns the bits of a number in a type. The type must be able to represent the number exactly. All NaNs
 * have the same bits.
 */
export function bitsOfNumber(type: ValueType, value: number): number {
  if (!isFloatValue(type)) return value < 0 ? value + 2 * (integerRanges[type][1] + 1) : value;
  const { digits, least, infinity, nan, bits } = floatFormats[type];
  if (Number.isNaN(value)) return nan;
  const sign = value < 0 || Object.is(value, -0) ? 2 ** (bits - 1) : 0;
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) return sign + infinity;
  const exponent = Math.max(exponentOf(magnitude), least);
  const scaled = magnitude / 2 ** (exponent - digits + 1);
  const fraction = 2 ** (digits - 1);
  return sign + (scaled < fraction ? scaled : (exponent - least) * fraction + scaled);
}
