/** A table of index values as numbers: exact up to 2^53, and out of every extent beyond. */
import { indexList, indexReader, type HostTensor } from "../memory.js";

/**
 * Array of the values of an index tensor, as numbers. Values up to 2^53 are exact; larger values may be
 * rounded but stay out of range.
 */
export type IndexValues =
  Exclude<ReturnType<typeof indexList>, BigInt64Array | BigUint64Array> | Float64Array;

/**
 * Returns the values of an index tensor as numbers. Values up to 2^53 are exact; larger values may be rounded
 * but stay out of range.
 */
export function indexValues({ type, bytes }: HostTensor): IndexValues {
  const list = indexList(bytes, type.dtype);
  if (!(list instanceof BigInt64Array || list instanceof BigUint64Array)) return list;
  const read = indexReader(bytes, type.dtype);
  return Float64Array.from({ length: list.length }, (_, k) => read(k));
}
