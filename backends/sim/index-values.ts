/** A table of index values as numbers: exact up to 2^53, and out of every extent beyond. */
import { elementCount } from "../../ir/types.js";
import type { HostTensor } from "../memory.js";

export type IndexValues = Int32Array | Uint32Array | Float64Array;

export function indexValues({ type, bytes }: HostTensor): IndexValues {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset } = aligned;
  const count = elementCount(type.shape);
  if (type.dtype === "i32") return new Int32Array(buffer, byteOffset, count);
  if (type.dtype === "u32") return new Uint32Array(buffer, byteOffset, count);
  const low = new Uint32Array(buffer, byteOffset, 2 * count);
  const high = type.dtype === "i64" ? new Int32Array(buffer, byteOffset, 2 * count) : low;
  const values = new Float64Array(count);
  for (let k = 0; k < count; k++) values[k] = (high[2 * k + 1] ?? 0) * 2 ** 32 + (low[2 * k] ?? 0);
  return values;
}
