/** A whole number as the bits of one element. */
import { float8Bits, float8Value } from "../float8.js";
import {
  assertNever,
  elementTypes,
  isFloat8,
  type DType,
  type Float8Type,
  type FloatType,
} from "../types.js";

/**
 * Returns the bits of an integer in an element type; undefined if the type cannot represent the number
 * exactly. For a complex type, the real part is in the low bits and the imaginary part is 0.
 */
export function bitsOfInteger(value: number, dtype: Exclude<DType, "string">): bigint | undefined {
  if (isFloat8(dtype)) {
    const bits = float8Bits(dtype, value);
    return float8Value(dtype, bits) === value ? BigInt(bits) : undefined;
  }
  const type = elementTypes[dtype];
  switch (type.class) {
    case "bool":
      return value === 0 || value === 1 ? BigInt(value) : undefined;
    case "signed":
    case "unsigned": {
      const integer = BigInt(value);
      const bits = BigInt.asUintN(type.bits, integer);
      return integer === (type.class === "signed" ? BigInt.asIntN(type.bits, integer) : bits)
        ? bits
        : undefined;
    }
    case "float":
      return floatBits(value, type);
    case "complex":
      return floatBits(value, elementTypes[type.component]);
    default:
      return assertNever(type);
  }
}

/**
 * Returns the IEEE 754 bits of an integer; undefined if the float type cannot represent the number exactly.
 */
function floatBits(
  value: number,
  { bits, mantissa }: (typeof elementTypes)[Exclude<FloatType, Float8Type>],
): bigint | undefined {
  if (value === 0) return 0n;
  const magnitude = BigInt(Math.abs(value));
  const exponent = magnitude.toString(2).length - 1;
  const bias = 2 ** (bits - mantissa - 2) - 1;
  const scaled = magnitude << BigInt(mantissa);
  const significand = scaled >> BigInt(exponent);
  if (exponent > bias || significand << BigInt(exponent) !== scaled) return undefined;
  const sign = value < 0 ? 1n << BigInt(bits - 1) : 0n;
  return sign | (BigInt(exponent + bias) << BigInt(mantissa)) | BigInt.asUintN(mantissa, significand);
}
