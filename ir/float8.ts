/**
 * Real numbers of 8 bits. Sources: OCP 8-bit Floating Point Specification (OFP8) 1.0, section 5, for E4M3 and
 * E5M2; onnx/onnx docs/docsgen/source/technical/float8.md for FNUZ (finite numbers and NaN, no negative
 * zero); OCP Microscaling Formats Specification (MX) 1.0, section 5.4.1, for E8M0; Luo et al., "Ascend
 * HiFloat8 Format for Deep Learning", tables 1 to 3, for HiF8.
 */
import type { Float8Type } from "./element-types.js";
import { at } from "./types.js";

/** Layout of an 8-bit floating-point format with a sign, an exponent and a mantissa. */
export interface Float8Format {
  /** Bits of the mantissa, without the leading one. */
  readonly mantissa: number;
  /** Number that is subtracted from the exponent's bits. */
  readonly bias: number;
  /** Bits of positive infinity. Absent: the format has none. */
  readonly infinity?: number;
  /**
   * `top`: NaN has the highest bits without the sign, above infinity. `negative-zero`: it has the sign bit alone.
   */
  readonly nan: "top" | "negative-zero";
}

/** Table of the layouts of 8-bit floating-point formats that have a sign, an exponent and a mantissa. */
export const float8Formats = {
  f8e4m3fn: { mantissa: 3, bias: 7, nan: "top" },
  f8e4m3fnuz: { mantissa: 3, bias: 8, nan: "negative-zero" },
  f8e5m2: { mantissa: 2, bias: 15, infinity: 0x7c, nan: "top" },
  f8e5m2fnuz: { mantissa: 2, bias: 16, nan: "negative-zero" },
} as const satisfies Readonly<Partial<Record<Float8Type, Float8Format>>>;

/**
 * Returns the number that 8 bits encode in an 8-bit float type; the result may be NaN or an infinity. `bits`:
 * 0 to 255.
 */
export function float8Value(type: Float8Type, bits: number): number {
  switch (type) {
    case "f8e8m0fnu":
      return bits === 0xff ? NaN : 2 ** (bits - 127);
    case "hif8":
      return hif8Value(bits);
    case "f8e4m3fn":
    case "f8e4m3fnuz":
    case "f8e5m2":
    case "f8e5m2fnuz":
      return formatValue(float8Formats[type], bits);
  }
}

/**
 * Returns the number that 8 bits encode in a format with a sign, an exponent and a mantissa. The result may
 * be NaN or an infinity. `bits`: 0 to 255.
 */
function formatValue({ mantissa, bias, infinity, nan }: Float8Format, bits: number): number {
  const [sign, magnitude] = [bits >= 0x80 ? -1 : 1, bits & 0x7f];
  if (nan === "negative-zero" ? bits === 0x80 : magnitude > (infinity ?? 0x7e)) return NaN;
  if (magnitude === infinity) return sign * Infinity;
  const [exponent, digits] = [magnitude >> mantissa, magnitude % 2 ** mantissa];
  const significand = exponent === 0 ? digits : digits + 2 ** mantissa;
  return sign * significand * 2 ** (Math.max(exponent, 1) - bias - mantissa);
}

/**
 * The prefix behind the sign says how many bits the exponent has; the exponent has a sign, and its leading
 * one is not stored.
 */
const hif8Prefixes = [
  { from: 0x60, exponent: 4, mantissa: 1 },
  { from: 0x40, exponent: 3, mantissa: 2 },
  { from: 0x20, exponent: 2, mantissa: 3 },
  { from: 0x10, exponent: 1, mantissa: 3 },
  { from: 0x08, exponent: 0, mantissa: 3 },
] as const;

/**
 * Returns the number that 8 bits encode in the format HiF8; the result may be NaN or an infinity. `bits`: 0
 * to 255.
 */
function hif8Value(bits: number): number {
  const [sign, magnitude] = [bits >= 0x80 ? -1 : 1, bits & 0x7f];
  if (bits === 0x80) return NaN;
  if (magnitude === 0x6f) return sign * Infinity;
  const prefix = hif8Prefixes.find(({ from }) => magnitude >= from);
  // Without a prefix: a power of two, or zero.
  if (prefix === undefined) return magnitude === 0 ? 0 : sign * 2 ** (magnitude - 23);
  const { from, mantissa } = prefix;
  const [field, digits] = [(magnitude - from) >> mantissa, magnitude % 2 ** mantissa];
  const leading = 2 ** (prefix.exponent - 1);
  const exponent = prefix.exponent === 0 ? 0 : field >= leading ? -field : leading + field;
  return sign * (1 + digits / 2 ** mantissa) * 2 ** exponent;
}

interface Finite {
  readonly value: number;
  readonly bits: number;
}

const finiteNumbers = new Map<Float8Type, readonly Finite[]>();

/**
 * Returns all non-negative finite numbers of an 8-bit float type with the bits of each number, in ascending
 * order.
 */
export function finiteFloat8(type: Float8Type): readonly Finite[] {
  const cached = finiteNumbers.get(type);
  if (cached !== undefined) return cached;
  const numbers = Array.from({ length: type === "f8e8m0fnu" ? 0x100 : 0x80 }, (_, bits) => ({
    value: float8Value(type, bits),
    bits,
  }))
    .filter(({ value }) => Number.isFinite(value))
    .sort((a, b) => a.value - b.value);
  finiteNumbers.set(type, numbers);
  return numbers;
}

const nanBits = {
  f8e4m3fn: 0x7f,
  f8e4m3fnuz: 0x80,
  f8e5m2: 0x7f,
  f8e5m2fnuz: 0x80,
  f8e8m0fnu: 0xff,
  hif8: 0x80,
} as const satisfies Readonly<Record<Float8Type, number>>;

/** Bits of positive infinity of the types that have it. */
const infinityBits: Readonly<Partial<Record<Float8Type, number>>> = { f8e5m2: 0x7c, hif8: 0x6f };

/**
 * Returns the 8 bits of the number nearest to `value` in an 8-bit float type. Ties go to even bits; overflow
 * gives infinity, or NaN in a type without infinity. In `f8e8m0fnu`, 0 and negative values give NaN.
 */
export function float8Bits(type: Float8Type, value: number): number {
  if (Number.isNaN(value) || (type === "f8e8m0fnu" && value <= 0)) return nanBits[type];
  const bits = nearestMagnitude(type, Math.abs(value)) ?? infinityBits[type];
  if (bits === undefined) return nanBits[type];
  const negative = value < 0 || Object.is(value, -0);
  const signed = negative ? bits + 0x80 : bits;
  // A type whose negative zero is NaN has one zero.
  return signed === nanBits[type] ? bits : signed;
}

/**
 * Returns the bits of the finite number nearest to `magnitude` in an 8-bit float type. Undefined if
 * `magnitude` rounds beyond the largest finite number.
 */
function nearestMagnitude(type: Float8Type, magnitude: number): number | undefined {
  const finite = finiteFloat8(type);
  let [low, high] = [0, finite.length];
  // The first number that is not below.
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(finite, middle).value < magnitude) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return at(finite, 0).bits;
  const lower = at(finite, low - 1);
  const above =
    low < finite.length
      ? at(finite, low)
      : { value: 2 * lower.value - at(finite, low - 2).value, bits: undefined };
  const [down, up] = [magnitude - lower.value, above.value - magnitude];
  return down < up || (down === up && lower.bits % 2 === 0) ? lower.bits : above.bits;
}
