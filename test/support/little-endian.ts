import { bytesFor, bitsOf, type DType } from "../../ir/index.js";

/** Whole numbers as the bytes of elements of a type, modulo what it holds; the first of a byte's elements in its low bits. */
export function littleEndian(dtype: DType, values: readonly bigint[]): Uint8Array {
  const width = BigInt(bitsOf(dtype));
  const all = values.reduceRight((bits, value) => (bits << width) | BigInt.asUintN(Number(width), value), 0n);
  return Uint8Array.from({ length: bytesFor(values.length, dtype) }, (_, k) =>
    Number((all >> BigInt(8 * k)) & 0xffn),
  );
}
