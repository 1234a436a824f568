/** One element as people read it: its value, and its bits where the value hides them. */
import { bytesOf, elementTypes, isComplex, isFloat, isPacked, type DType } from "../../ir/index.js";
import { packedValue } from "../../backends/index.js";
import { componentOf, readFloat } from "./numbers.js";

/**
 * Returns element `k` of a tensor as text, for example `-7`. For a float, a complex number or the handle of a
 * string, the bits follow: `486 (0x43f30000)`.
 */
export function showElement(dtype: DType, bytes: Uint8Array, k: number): string {
  if (isPacked(dtype)) return String(packedValue(bytes, dtype, k));
  const size = bytesOf(dtype);
  const view = new DataView(bytes.buffer, bytes.byteOffset + k * size, size);
  const digits = Array.from({ length: size }, (_, b) =>
    view
      .getUint8(size - 1 - b)
      .toString(16)
      .padStart(2, "0"),
  );
  const hex = `0x${digits.join("")}`;
  if (isFloat(dtype)) return `${shown(readFloat(view, dtype, 0))} (${hex})`;
  if (isComplex(dtype)) {
    const [re, im] = [0, size / 2].map((place) => shown(readFloat(view, componentOf(dtype), place)));
    return `${re}+${im}i (${hex})`;
  }
  const { bits, class: kind } = elementTypes[dtype];
  const integer = BigInt(hex);
  if (kind === "string") return `${String(integer)} (${hex})`;
  return String(kind === "signed" ? BigInt.asIntN(bits, integer) : integer);
}

const shown = (value: number): string => (Object.is(value, -0) ? "-0" : String(value));
