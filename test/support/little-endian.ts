import { bitsOf, bytesFor, type DType } from "../../ir/index.js";

/** Whole numbers as the bytes of elements of a type, modulo what it holds; the first of a byte's elements in its low bits. */
export function littleEndian(dtype: DType, values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(bytesFor(values.length, dtype));
  const width = bitsOf(dtype);
  values.forEach((value, k) => {
    const bits = BigInt.asUintN(width, value) << BigInt((k * width) % 8);
    for (let byte = Math.floor((k * width) / 8), rest = bits; rest > 0n; byte += 1, rest >>= 8n) {
      bytes[byte]! |= Number(rest & 0xffn);
    }
  });
  return bytes;
}
