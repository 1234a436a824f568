/** Element types, shapes and memory spaces: the words every level of the IR shares. */
import { checkArgument } from "./argument.js";
import { bytesFor, elementsInByte, isPacked, type DType, type ByteAlignedType } from "./element-types.js";
import type { Shape } from "./shape.js";
export * from "./element-types.js";
export type { Shape, Span } from "./shape.js";

/** `gm`: global memory; `ub`: the unified buffer of one core (a workgroup's memory on WebGPU). */
export type Space = "gm" | "ub";

/** Element type and extents. */
export interface TensorType {
  readonly dtype: DType;
  readonly shape: Shape;
}

/** Highest number of dims of a tensor. DirectML's limit, and the widest of the three dialects. */
export const maxRank = 8;

/**
 * Upper limit (exclusive) of an extent, of the elements of an output and of indices, and of the elements of a table where flat
 * positions are signed 32-bit integers: in PyPTO's operators and in WebGPU kernels.
 */
export const maxElements = 2 ** 31;

/** Upper limit (exclusive) of the elements of a table: positions in bytes stay below 2^53. */
export const maxTableElements = 2 ** 48;

/** Number of elements; 1 for a scalar. Exact below 2^53. */
export function elementCount(shape: Shape): number {
  let product = 1;
  for (const extent of shape) product *= extent;
  return product;
}

/** Returns a number of elements or bytes as messages state it. One that a number does not hold exactly is stated as a bound. */
export const shownAmount = (amount: number): string =>
  amount <= Number.MAX_SAFE_INTEGER ? String(amount) : "more than 2^53";

/** The type of an output, of indices, and of elements that move as they are: the verifier lets no packed one there (B9). */
export function byteAligned(dtype: DType): ByteAlignedType {
  if (isPacked(dtype)) throw new InternalError(`an element of ${dtype} has no address`);
  return dtype;
}

/** Bytes of a tensor without padding. */
export function byteCount(type: TensorType): number {
  checkArgument("byteCount", "type", type);
  return bytesFor(elementCount(type.shape), type.dtype);
}

/**
 * True if every row of a tensor begins at a byte. Packed elements lie one behind the other through the whole tensor, as ONNX packs
 * them, so that a row which does not fill its bytes ends inside the byte in which the next one begins.
 */
export const rowsFillBytes = ({ dtype, shape }: TensorType): boolean =>
  (shape[shape.length - 1] ?? 1) % elementsInByte(dtype) === 0;

/** Whether two shapes have the same extents. */
export const sameShape = (a: Shape, b: Shape): boolean =>
  a.length === b.length && a.every((extent, k) => extent === b[k]);

/** Row-major strides in elements. */
export function strides(shape: Shape): number[] {
  const result = new Array<number>(shape.length).fill(1);
  for (let k = shape.length - 2; k >= 0; k--) result[k] = at(result, k + 1) * at(shape, k + 1);
  return result;
}

/**
 * Elements of a box that lie together in a row-major tensor: trailing whole dims, and the dim in front of them. The box has the
 * tensor's innermost dims.
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

/** `4x8xf32`, and `f32` for a scalar: MLIR's notation. */
export const formatType = (type: TensorType): string => [...type.shape, type.dtype].join("x");

/** `[4, 8]` */
export const formatShape = (shape: Shape): string => `[${shape.join(", ")}]`;

/** The smallest multiple of `step` that is not below `value`. */
export const alignUp = (value: number, step: number): number => Math.ceil(value / step) * step;

/** Of whole numbers from 1. */
export const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));

/** `list[k]`, for a `k` the caller has proved to be in range. */
export function at<T>(list: ArrayLike<T>, k: number): T {
  if (k < 0 || k >= list.length) throw new InternalError(`index ${k} outside a list of ${list.length}`);
  return list[k] as T;
}

/** A bug in tilec: never the user's fault, and the only error that shows a stack. */
export class InternalError extends Error {
  override readonly name: string = "InternalError";
}

/** Throws an InternalError where what must hold does not. */
export function invariant(condition: boolean, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

/** Marks the end of an exhaustive switch. Throws an InternalError where a value gets there after all. */
export function assertNever(value: never): never {
  throw new InternalError(`unhandled case: ${JSON.stringify(value)}`);
}
