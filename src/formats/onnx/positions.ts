/**
 * Positions of what is not zero in a value that the model fixes: how NonZero and Compress come to a shape
 * before anything runs.
 */
import { derivedOnce } from "../../../ir/derived-once.js";
import { elementCount, type Shape } from "../../../ir/index.js";
import { fromHost } from "../../../backends/index.js";
import { coordinatesOf, flatNonzero, isReal } from "../nonzero.js";
import type { TensorValue } from "../tensor.js";
import { constantOf, type TrackedValue } from "./value.js";

/** Positions of each tensor: many nodes may ask about one. */
const positionsOf = derivedOnce((tensor: TensorValue) => flatNonzero(tensor));

/**
 * Returns the row-major positions of the non-zero elements of a constant, in ascending order. Returns
 * undefined if the value is not constant or not real-valued.
 */
export function positionsIn(value: TrackedValue | undefined): Float64Array | undefined {
  const tensor = constantOf(value);
  if (tensor === undefined || !isReal(tensor.type.dtype)) return undefined;
  return positionsOf(tensor);
}

/**
 * Upper limit of the size of a coordinate tensor that shape inference stores, in bytes. The elements of
 * larger tensors count as unknown.
 */
export const maxBytes = 2 ** 31;

/** Returns the size in bytes of the tensor that {@link coordinateRows} creates. */
export const coordinateBytes = (positions: Float64Array, shape: Shape): number =>
  8 * shape.length * positions.length;

/**
 * Converts row-major positions in a tensor of shape `shape` to coordinates. Returns a tensor i64[rank, n]
 * with one row for each dim and one column for each position.
 */
export function coordinateRows(positions: Float64Array, shape: Shape): TensorValue {
  const bytes = new Uint8Array(coordinateBytes(positions, shape));
  for (const k of shape.keys()) bytes.set(coordinatesOf(positions, shape, k).bytes, 8 * k * positions.length);
  return { type: { dtype: "i64", shape: [shape.length, positions.length] }, bytes };
}

/** Returns an i64 tensor with permuted dims: output dim `k` is input dim `perm[k]`. */
export function permuted({ type, bytes }: TensorValue, perm: readonly number[]): TensorValue {
  const { dtype, shape } = type;
  const from = fromHost(type, bytes) as BigInt64Array;
  const to = new BigInt64Array(elementCount(shape));
  const dims = perm.map((k) => shape[k] ?? 1);
  const steps = perm.map((k) => elementCount(shape.slice(k + 1)));
  const position = dims.map(() => 0);
  let source = 0;
  for (let k = 0; k < to.length; k++) {
    to[k] = from[source] ?? 0n;
    for (let d = dims.length - 1; d >= 0; d--) {
      const [at = 0, step = 0, extent = 0] = [position[d], steps[d], dims[d]];
      if (at + 1 < extent) {
        position[d] = at + 1;
        source += step;
        break;
      }
      position[d] = 0;
      source -= at * step;
    }
  }
  return { type: { dtype, shape: dims }, bytes: new Uint8Array(to.buffer) };
}
