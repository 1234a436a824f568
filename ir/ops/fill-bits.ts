/** A whole number as the bits of one element. */
import { assertNever, type DType } from "../types.js";

/** Bits of the exponent and of the mantissa. */
type Float = readonly [exponent: number, mantissa: number];
const [f16, bf16, f32, f64]: readonly [Float, Float, Float, Float] = [
  [5, 10],
  [8, 7],
  [8, 23],
  [11, 52],
];

/** Undefined where the type does not hold the number exactly. Of a complex number the real part, below the zero bits of the other. */
export function bitsOfWhole(value: number, dtype: Exclude<DType, "string">): bigint | undefined {
  switch (dtype) {
    case "bool":
      return value === 0 || value === 1 ? BigInt(value) : undefined;
    case "i8":
    case "i16":
    case "i32":
    case "i64":
    case "u8":
    case "u16":
    case "u32":
    case "u64": {
      const width = Number(dtype.slice(1));
      const whole = BigInt(value);
      const held = dtype.startsWith("i") ? BigInt.asIntN(width, whole) : BigInt.asUintN(width, whole);
      return held === whole ? BigInt.asUintN(width, whole) : undefined;
    }
    case "f16":
      return floatBits(value, f16);
    case "bf16":
      return floatBits(value, bf16);
    case "f32":
    case "c64":
      return floatBits(value, f32);
    case "f64":
    case "c128":
      return floatBits(value, f64);
    default:
      return assertNever(dtype);
  }
}

/** IEEE 754: sign, biased exponent, and the mantissa without its leading 1. */
function floatBits(value: number, [exponentBits, mantissaBits]: Float): bigint | undefined {
  if (value === 0) return 0n;
  const magnitude = BigInt(Math.abs(value));
  const exponent = magnitude.toString(2).length - 1;
  const bias = 2 ** (exponentBits - 1) - 1;
  const scaled = magnitude << BigInt(mantissaBits);
  const significand = scaled >> BigInt(exponent);
  if (exponent > bias || significand << BigInt(exponent) !== scaled) return undefined;
  const sign = value < 0 ? 1n << BigInt(exponentBits + mantissaBits) : 0n;
  const mantissa = BigInt.asUintN(mantissaBits, significand);
  return sign | (BigInt(exponent + bias) << BigInt(mantissaBits)) | mantissa;
}
