/** Numbers of an expression as text: exact in their type, or refused. */
import type { ArithmeticType } from "./expression.js";
import { bitsOfNumber, floatFormats, integerRanges, numberOf, rounded } from "./formats.js";

/**
 * Result of parsing a number in a type: the bits, or an error message with a hint if the type cannot
 * represent the number.
 */
export type ReadNumber =
  | { readonly ok: true; readonly bits: number }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/**
 * Parses a number. Returns the bits if the type represents the number exactly, or an error message and a
 * hint. `text`: a whole number, a decimal, or `0x` with 8 hexadecimal digits of the bits.
 */
export function readNumber(text: string, type: ArithmeticType): ReadNumber {
  if (text.startsWith("0x")) return { ok: true, bits: Number.parseInt(text.slice(2), 16) };
  const [digits = "", exponent = "0"] = text.split("e");
  const [integer = "", decimals = ""] = digits.split(".");
  const scale = Number(exponent) - decimals.length;
  if (Math.abs(scale) > 400) return inexact(text, type, Number(text));
  const mantissa = BigInt(integer + decimals);
  // The number is top / bottom.
  const [top, bottom] =
    scale >= 0 ? [mantissa * 10n ** BigInt(scale), 1n] : [mantissa, 10n ** BigInt(-scale)];
  if (type === "f32") {
    const near = rounded(Number(text), floatFormats.f32);
    if (!Number.isFinite(near) || !isQuotient(near, top, bottom)) return inexact(text, type, Number(text));
    return { ok: true, bits: bitsOfNumber("f32", text.startsWith("-") && near === 0 ? -0 : near) };
  }
  const [lowest, highest] = integerRanges[type];
  if (top % bottom !== 0n)
    return {
      ok: false,
      message: `${text} is no ${type}`,
      hint: `write a whole number, or cast the other side to f32`,
    };
  const value = top / bottom;
  if (value < BigInt(lowest) || value > BigInt(highest))
    return { ok: false, message: `${text} is no ${type}`, hint: `${type} holds ${lowest} to ${highest}` };
  return { ok: true, bits: bitsOfNumber(type, Number(value)) };
}

/** True if a finite number is exactly top / bottom. */
function isQuotient(value: number, top: bigint, bottom: bigint): boolean {
  // Times 2^149, every f32 is whole.
  const units = BigInt(Math.trunc(value)) === BigInt(0) ? value * 2 ** 149 : undefined;
  const scaled = units === undefined ? integerBits(value) : BigInt(units);
  return scaled * bottom === top * 2n ** 149n;
}

/** Returns a number of 1 or more in units of 2^-149. */
function integerBits(value: number): bigint {
  // An f32 of 1 or more is a multiple of 2^-23.
  return BigInt(value * 2 ** 23) * 2n ** 126n;
}

/**
 * Returns the parse error for a number that a type cannot represent exactly. For f32, the hint has the bits
 * of the nearest values.
 */
function inexact(text: string, type: ArithmeticType, value: number): ReadNumber {
  if (type !== "f32") return { ok: false, message: `${text} is no ${type}`, hint: "write a whole number" };
  const near = rounded(value, floatFormats.f32);
  const bits = bitsOfNumber("f32", near);
  // Bits of one sign count away from zero.
  const others =
    near === 0 ? [bits, bits + 1] : Math.abs(near) > Math.abs(value) ? [bits - 1, bits] : [bits, bits + 1];
  const shown = others.map(
    (bits) => `0x${bits.toString(16).padStart(8, "0")} = ${String(numberOf("f32", bits))}`,
  );
  return {
    ok: false,
    message: `${text} is no f32`,
    hint: `write the bits of a neighbour: ${shown.join(", or ")}`,
  };
}

/**
 * Returns the text of a number, given the bits: decimal for an integer, or `0x` and the bits in hexadecimal
 * for any other value.
 */
export function printNumber(type: ArithmeticType, bits: number): string {
  const value = numberOf(type, bits);
  const isInteger = Number.isInteger(value) && !Object.is(value, -0);
  return isInteger ? BigInt(value).toString() : `0x${bits.toString(16).padStart(8, "0")}`;
}
