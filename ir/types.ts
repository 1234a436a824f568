/** Element types, shapes and memory spaces: the words every level of the IR shares. */
import { checkArgument } from "./argument.js";
import { bytesFor, elementsInByte, isPacked, type DType, type ByteAlignedType } from "./element-types.js";
import type { Shape } from "./shape.js";
export * from "./element-types.js";
export type { Shape, Span } from "./shape.js";

/**
 * Memory space. `gm`: global memory. `ub`: the unified buffer of one core, or the memory of a workgroup on
 * WebGPU.
 */
export type Space = "gm" | "ub";

/** Type of a tensor: element type and extents. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: Shape;
}

/**
 * Upper limit (inclusive) of the number of dims of a tensor. It is DirectML's limit, the largest of the three
 * dialects.
 */
export const maxRank = 8;

/**
 * Upper limit (exclusive) of an extent, and of the elements of an output or of indices. It also limits the
 * elements of a table where flat positions are signed 32-bit integers: in PyPTO's operators and in WebGPU
 * kernels.
 */
export const maxElements = 2 ** 31;

/** Upper limit (exclusive) of the elements of a table. Byte positions then stay below 2^53. */
export const maxTableElements = 2 ** 48;

/** Returns the number of elements; 1 for a scalar. Exact below 2^53. */
export function elementCount(shape: Shape): number {
  let product = 1;
  for (const extent of shape) product *= extent;
  return product;
}

/**
 * Returns a number of elements or bytes as text for a message: the number, or `more than 2^53` if it is not
 * exact.
 */
export const shownAmount = (amount: number): string =>
  amount <= Number.MAX_SAFE_INTEGER ? String(amount) : "more than 2^53";

/**
 * Returns an element type unchanged, typed as one of whole bytes. Throws an InternalError for a packed type:
 * the verifier allows none for outputs, indices, and elements that are copied unchanged (B9).
 */
export function byteAligned(dtype: DType): ByteAlignedType {
  if (isPacked(dtype)) throw new InternalError(`an element of ${dtype} has no address`);
  return dtype;
}

/** Returns the bytes of a tensor without padding. */
export function byteCount(type: TensorType): number {
  checkArgument("byteCount", "type", type);
  return bytesFor(elementCount(type.shape), type.dtype);
}

/**
 * True if every row of a tensor starts at a byte. Packed elements are contiguous through the whole tensor, as
 * in ONNX. So a row that does not fill its last byte shares that byte with the next row.
 */
export const rowsFillBytes = ({ dtype, shape }: TensorType): boolean =>
  (shape[shape.length - 1] ?? 1) % elementsInByte(dtype) === 0;

/** True if two shapes have the same extents. */
export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((extent, k) => extent === b[k]);

/** Returns the row-major strides in elements. */
export function strides(shape: Shape): number[] {
  const result = new Array<number>(shape.length).fill(1);
  for (let k = shape.length - 2; k >= 0; k--) result[k] = at(result, k + 1) * at(shape, k + 1);
  return result;
}

/**
 * Returns the number of elements of a region that are contiguous in a row-major tensor: trailing whole dims,
 * and the dim before them. The region has the tensor's innermost dims.
 */
export function contiguousRun(sizes: Shape, tensor: Shape): number {
  const outer = tensor.length - sizes.length;
  let run = 1;
  for (let k = sizes.length - 1; k >= 0; k--) {
    const size = at(sizes, k);
    run *= size;
    if (size !== tensor[outer + k]) break;
  }
  return run;
}

/** Formats a tensor type in MLIR's notation: `4x8xf32`, or `f32` for a scalar. */
export const formatType = (type: TensorType): string => [...type.shape, type.dtype].join("x");

/** Formats a shape: `[4, 8]`. */
export const formatShape = (shape: Shape): string => `[${shape.join(", ")}]`;

/** Returns the smallest multiple of `step` that is at least `value`. */
export const alignUp = (value: number, step: number): number => Math.ceil(value / step) * step;

/** True if a whole number from 1 on is a power of two. */
export const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/**
 * Returns `list[k]`, for a `k` that the caller has proved to be in range. Throws an InternalError if `k` is
 * not.
 */
export function at<T>(list: ArrayLike<T>, k: number): T {
  if (k < 0 || k >= list.length) throw new InternalError(`index ${k} outside a list of ${list.length}`);
  return list[k] as T;
}

/**
 * Error that reports a bug in tilec. It is never the user's fault, and the only error shown with a stack
 * trace.
 */
export class InternalError extends Error {
  override readonly name: string = "InternalError";
}

/** Throws an InternalError with the message unless a condition holds. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

/** Throws an InternalError. It marks the end of an exhaustive switch, which no value should reach. */
export function assertNever(value: never): never {
  throw new InternalError(`unhandled case: ${JSON.stringify(value)}`);
}
