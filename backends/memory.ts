/** Element memory as machine units, and index values read exactly. Little-endian, row-major, as every host array here. */
import { CompileError, error, RunError } from "../ir/diagnostic.js";
import { gatherDims, indexDims, type AccessMap, type NegativeIndex, type OutOfBounds } from "../ir/access.js";
import {
  at,
  dtypeBytes,
  formatShape,
  InternalError,
  type DType,
  type IndexDType,
  type Shape,
  type TensorType,
} from "../ir/types.js";

/** A tensor's elements as bytes; strings are u32 handles. */
export interface HostTensor {
  readonly type: TensorType;
  readonly bytes: Uint8Array;
}

export interface HostInputs {
  readonly data: HostTensor;
  readonly indices: HostTensor;
}

/** Some engines make longer arrays, and the process dies when they are written. */
const maxArrayBytes = 2 ** 32;

/** Zeroed bytes. Throws a CompileError (TC502) for more than 4 GiB or than the machine has; `what` names them. */
export function allocate(bytes: number, what: string): Uint8Array {
  const refused = (most: string): CompileError =>
    new CompileError([
      error("TC502", `${what} takes ${bytes} B, more than ${most}`, {
        hint: "split the tensors",
        data: { bytes },
      }),
    ]);
  if (bytes > maxArrayBytes) throw refused(`the ${maxArrayBytes} B of one array`);
  try {
    return new Uint8Array(bytes);
  } catch (thrown) {
    throw thrown instanceof RangeError ? refused("there is") : thrown;
  }
}

export type UnitArray = Uint8Array | Uint16Array | Uint32Array;

/** The largest unit that moves an element of this type whole: 1, 2 or 4 bytes, so `per` units an element. */
export function unitsOf(
  bytes: Uint8Array,
  dtype: DType,
): { readonly units: UnitArray; readonly per: number } {
  const size = dtypeBytes[dtype];
  if (size === 1) return { units: bytes, per: 1 };
  const unit = size === 2 ? 2 : 4;
  const aligned = bytes.byteOffset % unit === 0 ? bytes : bytes.slice();
  const length = Math.floor(bytes.byteLength / unit);
  return {
    units:
      unit === 2
        ? new Uint16Array(aligned.buffer, aligned.byteOffset, length)
        : new Uint32Array(aligned.buffer, aligned.byteOffset, length),
    per: size / unit,
  };
}

/** Reads index values. A number is exact up to 2^53 and out of every extent beyond; `exact` is always exact. */
export interface IndexReader {
  (position: number): number;
  readonly exact: (position: number) => bigint;
}

export function indexReader(bytes: Uint8Array, dtype: DType): IndexReader {
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset, byteLength } = aligned;
  const words = Math.floor(byteLength / 4);
  const narrow = (list: Int32Array | Uint32Array): IndexReader =>
    Object.assign((p: number) => at(list, p), { exact: (p: number) => BigInt(at(list, p)) });
  const wide = (list: BigInt64Array | BigUint64Array, high: Int32Array | Uint32Array): IndexReader => {
    const low = new Uint32Array(buffer, byteOffset, words);
    const read = (p: number): number => at(high, 2 * p + 1) * 2 ** 32 + at(low, 2 * p);
    return Object.assign(read, { exact: (p: number) => at(list, p) });
  };
  switch (dtype as IndexDType) {
    case "i32":
      return narrow(new Int32Array(buffer, byteOffset, words));
    case "u32":
      return narrow(new Uint32Array(buffer, byteOffset, words));
    case "i64":
      return wide(
        new BigInt64Array(buffer, byteOffset, Math.floor(words / 2)),
        new Int32Array(buffer, byteOffset, words),
      );
    case "u64":
      return wide(
        new BigUint64Array(buffer, byteOffset, Math.floor(words / 2)),
        new Uint32Array(buffer, byteOffset, words),
      );
    default:
      throw new InternalError(`${dtype} is no index type`);
  }
}

/** The index reads as zero bits (`zero`). */
export const zeroFill = -1;
/** The index is out of range and the policy says that this matters (`error`, `unchecked`). */
export const outOfRange = -2;

/** The element an index names along an extent, or one of the two marks above. */
export function resolveIndex(
  read: IndexReader,
  position: number,
  extent: number,
  negative: NegativeIndex,
  oob: OutOfBounds,
): number {
  const value = read(position);
  if (value >= 0 && value < extent) return value;
  if (negative === "from-end" && value < 0 && value >= -extent) return value + extent;
  switch (oob) {
    case "clamp":
      return value < 0 ? 0 : extent - 1;
    case "wrap": {
      const n = BigInt(extent);
      return Number(((read.exact(position) % n) + n) % n);
    }
    case "zero":
      return zeroFill;
    case "error":
    case "unchecked":
      return outOfRange;
  }
}

/** Coordinates of a row-major position. */
export function coordinates(position: number, shape: Shape): number[] {
  const result = new Array<number>(shape.length).fill(0);
  let rest = position;
  for (let k = shape.length - 1; k >= 0; k--) {
    result[k] = rest % at(shape, k);
    rest = Math.floor(rest / at(shape, k));
  }
  return result;
}

/**
 * The run failed: the first index out of range, by its position in the index tensor. Every backend reports the same
 * one in the same words. `value` is what stood there.
 */
export function indexOutOfRange(
  map: AccessMap,
  data: TensorType,
  indices: TensorType,
  position: number,
  value: bigint,
): RunError {
  const where = coordinates(position, indices.shape);
  const tupleAt = indexDims(map).indexOf(undefined);
  const component = tupleAt === -1 ? 0 : at(where, tupleAt);
  const axis = at(gatherDims(map), component);
  const extent = at(data.shape, axis);
  const access = at(map.results, axis);
  const lowest = access.kind === "indirect" && access.negative === "from-end" ? -extent : 0;
  const range = extent === 0 ? "which has no elements" : `which takes [${lowest}, ${extent - 1}]`;
  return new RunError([
    error(
      "TC601",
      `index ${value} at indices${formatShape(where)} is out of range for data dim ${axis}, ${range}`,
      {
        hint: "mend the index, or choose what it means with --oob clamp, zero or wrap",
        data: { position, value: value.toString(), axis, extent, coordinates: where },
      },
    ),
  ]);
}
