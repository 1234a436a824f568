/** Element types, shapes and memory spaces: the words every level of the IR shares. */
import { checkArgument } from "./argument.js";
import { bytesFor, elementsInByte, isPacked, type DType, type ByteAlignedType } from "./element-types.js";
import type { Shape } from "./shape.js";
export * from "./element-types.js";
export type { Shape, Span } from "./shape.js";

/** Memory space. `gm`: global memory. `ub`: the unified buffer of one core, or workgroup memory on WebGPU. */
export type Space = "gm" | "ub";

/** Type of a tensor: element type and shape. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: Shape;
}

/** Maximum number of dims of a tensor, which is DirectML's limit. */
export const maxRank = 8;

/**
 * Upper limit (exclusive) of an extent, and of the number of elements of an output or index tensor. In PyPTO
 * operators and WebGPU kernels, the limit also applies to inputs that are read by index.
 */
export const maxElements = 2 ** 31;

/** Upper limit (exclusive) of the number of elements of an input that is read by index. */
export const maxTableElements = 2 ** 48;

/** Returns the number of elements of a shape; 1 for a scalar. The result is exact below 2^53. */
export function elementCount(shape: Shape): number {
  let product = 1;
  for (const extent of shape) product *= extent;
  return product;
}

/**
 * Formats a number of elements or bytes for a message: the number, or `more than 2^53` for a number that is
 * not exact.
 */
export const shownAmount = (amount: number): string =>
  amount <= Number.MAX_SAFE_INTEGER ? String(amount) : "more than 2^53";

/**
 * Returns `dtype` with the static type of whole-byte element types. Throws an InternalError for a packed
 * type.
 */
export function byteAligned(dtype: DType): ByteAlignedType {
  if (isPacked(dtype)) throw new InternalError(`an element of ${dtype} has no address`);
  return dtype;
}

/** Returns the size of a tensor in bytes, without padding. */
export function byteCount(type: TensorType): number {
  checkArgument("byteCount", "type", type);
  return bytesFor(elementCount(type.shape), type.dtype);
}

/**
 * True if every row of a tensor starts at a byte boundary. Packed elements are contiguous through the whole
 * tensor, also across rows.
 */
export const rowsFillBytes = ({ dtype, shape }: TensorType): boolean =>
  (shape[shape.length - 1] ?? 1) % elementsInByte(dtype) === 0;

/** True if two shapes have equal rank and extents. */
export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((extent, k) => extent === b[k]);

/** Returns the row-major strides of a shape, in elements. */
export function strides(shape: Shape): number[] {
  const result = new Array<number>(shape.length).fill(1);
  for (let k = shape.length - 2; k >= 0; k--) result[k] = at(result, k + 1) * at(shape, k + 1);
  return result;
}

/**
 * Returns the number of elements that are contiguous from the start of a region of a row-major tensor.
 * `sizes`: extents of the region along the tensor's innermost dims. `tensor`: shape of the tensor.
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

/** Formats a shape as text: `[4, 8]`. */
export const formatShape = (shape: Shape): string => `[${shape.join(", ")}]`;

/** Returns the smallest multiple of `step` that is at least `value`. */
export const alignUp = (value: number, step: number): number => Math.ceil(value / step) * step;

/** True if an integer of at least 1 is a power of two. */
export const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/**
 * Returns `list[k]`. Throws an InternalError if `k` is out of range, which the caller should have ruled out.
 */
export function at<T>(list: ArrayLike<T>, k: number): T {
  if (k < 0 || k >= list.length) throw new InternalError(`index ${k} outside a list of ${list.length}`);
  return list[k] as T;
}

/** Error that reports a bug in tilec, not a mistake of the user. */
export class InternalError extends Error {
  override readonly name: string = "InternalError";
}

/** Throws an InternalError with `message` if `condition` is false. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

/** Throws an InternalError; for the default case of an exhaustive switch. */
export function assertNever(value: never): never {
  throw new InternalError(`unhandled case: ${JSON.stringify(value)}`);
}
