/**
 * Distance of two outputs in units in the last place: how far arithmetic of a device is from the bits of the
 * reference.
 */
import { bitsOf, counted, error, isSigned, type Diagnostic, type DType } from "../../ir/index.js";

/**
 * Difference between two outputs: number of elements, number of differing elements, and largest distance in
 * units in the last place (ULP). The distance between a number and NaN is Infinity.
 */
export interface UlpDifference {
  readonly elements: number;
  readonly differing: number;
  readonly largest: number;
}

/** Types of values that are computed, with the bits of their infinity. */
const infinities: Partial<Record<DType, number>> = { f32: 0x7f800000, f16: 0x7c00, bf16: 0x7f80 };

/**
 * Returns the difference between two outputs of one element type, in units in the last place. Elements wider
 * than 32 bits have distance 0 or Infinity.
 */
export function ulpDifference(dtype: DType, a: Uint8Array, b: Uint8Array): UlpDifference {
  const size = Math.max(1, bitsOf(dtype) / 8);
  const distance = distanceOf(dtype);
  const elements = Math.max(a.byteLength, b.byteLength) / size;
  let [differing, largest] = [0, 0];
  for (let k = 0; k < elements; k++) {
    const apart = distance(wordAt(a, k, size), wordAt(b, k, size));
    if (apart === 0) continue;
    differing++;
    largest = Math.max(largest, apart);
  }
  return { elements, differing, largest };
}

/**
 * Returns an element as a number without a sign; of one that is wider than 32 bits, text. NaN where there is
 * none.
 */
function wordAt(bytes: Uint8Array, k: number, size: number): number | string {
  const from = bytes.subarray(k * size, (k + 1) * size);
  if (from.length < size) return NaN;
  return size > 4 ? from.join(" ") : from.reduceRight((value, byte) => value * 256 + byte, 0);
}

/**
 * Returns a function from the bits of two elements to their distance in units in the last place: 0 for equal
 * bits or two NaNs. The distance is Infinity if only one element is NaN, or if one array is too short to
 * contain the element (passed as the number NaN). Elements wider than 32 bits (passed as text) have distance
 * Infinity if their bits differ.
 */
function distanceOf(dtype: DType): (a: number | string, b: number | string) => number {
  const infinity = infinities[dtype];
  const sign = 2 ** (bitsOf(dtype) - 1);
  /** Ascends with the value; -0 and +0 lie one apart. */
  const place = (bits: number): number =>
    infinity === undefined
      ? isSigned(dtype) && bits >= sign
        ? bits - 2 * sign
        : bits
      : bits >= sign
        ? sign - 1 - bits
        : bits;
  const isNan = (bits: number): boolean => infinity !== undefined && bits % sign > infinity;
  return (a, b) => {
    if (a === b) return 0;
    if (typeof a === "string" || typeof b === "string") return Infinity;
    if (isNan(a) && isNan(b)) return 0;
    return isNan(a) || isNan(b) || Number.isNaN(a + b) ? Infinity : Math.abs(place(a) - place(b));
  };
}

/**
 * Returns the difference between two outputs as text: `12 of 4,096 elements differ, by 1 unit in the last
 * place at most`.
 */
export function formatUlpDifference({ elements, differing, largest }: UlpDifference): string {
  const total = elements.toLocaleString("en");
  if (differing === 0) return `none of ${total} elements differ`;
  const apart = largest === Infinity ? "a number from NaN" : `${counted(largest, "unit")} in the last place`;
  return `${differing.toLocaleString("en")} of ${total} elements differ, by ${apart} at most`;
}

/**
 * Returns an error (TC610) if elements of two outputs are more than `allowed` units in the last place apart;
 * undefined if all elements are within `allowed`.
 */
export function beyondUlp(
  sides: readonly [string, string],
  difference: UlpDifference,
  allowed: number,
): Diagnostic | undefined {
  if (difference.largest <= allowed) return undefined;
  const { largest } = difference;
  return error("TC610", `${sides.join(" and ")}: ${formatUlpDifference(difference)}`, {
    ...(largest === Infinity
      ? {}
      : { hint: `arithmetic native promises no bits; --ulp ${largest} allows this distance` }),
    data: { differing: difference.differing },
  });
}
