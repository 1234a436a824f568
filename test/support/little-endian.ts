import { bytesOf, type DType } from "../../ir/index.js";

/** Whole numbers as the bytes of elements of a type, modulo what it holds. */
export function littleEndian(dtype: DType, values: readonly bigint[]): Uint8Array {
  const size = bytesOf(dtype);
  const bytes = new Uint8Array(values.length * size);
  values.forEach((value, n) => {
    for (let k = 0; k < size; k++) bytes[n * size + k] = Number((value >> BigInt(8 * k)) & 0xffn);
  });
  return bytes;
}
