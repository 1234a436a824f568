/**
 * A tensor as a case file states it: `values` where JSON numbers, or decimal strings, are exact, else `bits`.
 */
import { elementCount, bytesOf, dtypes, isPacked, type DType } from "../../ir/index.js";
import { fromHost, packedBits } from "../../backends/index.js";
import type { Json, TensorJson } from "./case-schema.js";
import type { TensorValue } from "./tensor.js";

const inValues: ReadonlySet<DType> = new Set([
  ...dtypes.filter(isPacked),
  "bool",
  "i8",
  "u8",
  "i16",
  "u16",
  "i32",
  "u32",
  "i64",
  "u64",
  "f32",
  "f64",
  "string",
] as const);

/**
 * Returns a tensor as a JSON value. `as`: field for the elements, as numbers (`values`) or hexadecimal
 * patterns (`bits`). `bits` is used in any case if numbers would not keep the exact bits.
 */
export function tensorJson(value: TensorValue, as: "values" | "bits"): TensorJson {
  const { type, bytes, strings } = value;
  const { dtype, shape } = type;
  if (strings !== undefined) return { dtype, shape, values: strings };
  if (as === "bits" || !inValues.has(dtype) || hidesBits(value))
    return { dtype, shape, bits: patternsOf(value) };
  const list = fromHost(type, bytes) as Iterable<number | bigint>;
  return { dtype, shape, values: [...list].map(written) };
}

const written = (value: number | bigint): Json => {
  if (typeof value === "bigint") return value.toString();
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? value : String(value);
};

/** True if an f32 or f64 tensor contains a NaN. A NaN in text form does not show its bits. */
function hidesBits({ type, bytes }: TensorValue): boolean {
  if (type.dtype !== "f32" && type.dtype !== "f64") return false;
  return [...(fromHost(type, bytes) as Iterable<number>)].some(Number.isNaN);
}

/** Returns the bit pattern of each element of a tensor in hexadecimal, the most significant digit first. */
function patternsOf({ type, bytes }: TensorValue): string[] {
  const { dtype } = type;
  if (isPacked(dtype))
    return Array.from({ length: elementCount(type.shape) }, (_, k) =>
      packedBits(bytes, dtype, k).toString(16),
    );
  const size = bytesOf(dtype);
  return Array.from({ length: elementCount(type.shape) }, (_, k) =>
    [...bytes.subarray(k * size, (k + 1) * size)]
      .reverse()
      .map((byte) => byte.toString(16).padStart(2, "0"))
      .join(""),
  );
}
