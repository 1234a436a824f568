/**
 * Element memory as machine units, and index values read exactly. Little-endian, row-major, as every host
 * array here.
 */
import { checkArgument } from "../ir/argument.js";
import { CompileError, error } from "../ir/diagnostic.js";
import { entryOf } from "../ir/entry-of.js";
import { keyOf, type Operand } from "../ir/func.js";
import {
  at,
  bitsOf,
  bytesOf,
  elementsInByte,
  elementTypes,
  InternalError,
  invariant,
  isIndexDType,
  isPacked,
  shownAmount,
  type DType,
  type IndexDType,
  type PackedType,
  type Shape,
  type TensorType,
} from "../ir/types.js";

/**
 * Tensor in host memory: the type, and the elements as bytes. Elements of a string tensor are u32 handles
 * (indices in a list of strings).
 */
export interface HostTensor {
  readonly type: TensorType;
  readonly bytes: Uint8Array;
  /** Memory of elements that take more bytes than a Uint8Array can hold; `bytes` is then empty. */
  readonly beyond?: Bytes;
}

/** Range of bytes in an ArrayBuffer. Every typed array is a range. */
export type Bytes = Pick<ArrayBufferView, "buffer" | "byteLength" | "byteOffset">;

/** Input tensors of a program in host memory, by operand key. */
export type HostInputs = Readonly<Record<string, HostTensor>>;

/** Maximum length of an array in bytes (4 GiB). Writing a longer array can crash the process. */
export const maxArrayBytes = 2 ** 32;

const tooLong = (bytes: number, what: string, limit: string, hint = "split the tensors"): CompileError =>
  new CompileError([
    error("TC502", `${what} takes ${shownAmount(bytes)} B, more than ${limit}`, {
      hint,
      data: { bytes },
    }),
  ]);

/**
 * Throws a CompileError (TC502) if one array cannot contain `bytes` bytes. `what`: name of the data in the
 * message.
 */
export function checkArrayBytes(bytes: number, what: string, hint?: string): void {
  if (bytes > maxArrayBytes) throw tooLong(bytes, what, `the ${maxArrayBytes} B of one array`, hint);
}

/**
 * Returns a new array of `bytes` zero bytes. Throws a CompileError (TC502) if the array would exceed 4 GiB or
 * the free memory. `what`: name of the data in the message.
 */
export function allocateArray(bytes: number, what: string): Uint8Array<ArrayBuffer> {
  checkArrayBytes(bytes, what);
  try {
    return new Uint8Array(bytes);
  } catch (thrown) {
    throw thrown instanceof RangeError ? tooLong(bytes, what, "there is") : thrown;
  }
}

/**
 * Maximum number of bytes that {@link copyBytes} copies in a loop. More bytes are copied faster by a call of
 * the JavaScript engine.
 */
export const fewBytes = 64;

/**
 * Copies `length` bytes from `from` to `to`; the arrays must not overlap. `target`: byte offset in `to`.
 * `source`: byte offset in `from`.
 */
export function copyBytes(
  to: Uint8Array,
  target: number,
  from: Uint8Array,
  source: number,
  length: number,
): void {
  if (length > fewBytes) to.set(from.subarray(source, source + length), target);
  else for (let k = 0; k < length; k++) to[target + k] = from[source + k] ?? 0;
}

/** Array of units of 1, 2 or 4 bytes, in which elements are copied. */
export type UnitArray = Uint8Array | Uint16Array | Uint32Array;

/** Returns `bytes` if the byte offset is a multiple of `size`; else an aligned copy. */
export const alignedTo = (size: number, bytes: Uint8Array): Uint8Array =>
  bytes.byteOffset % size === 0 ? bytes : new Uint8Array(bytes);

/**
 * Returns a tensor's bytes as an array of units of 1, 2 or 4 bytes, and the number of units in an element
 * (`per`). Units of packed types are bytes, each with several elements.
 */
export function unitsOf(
  bytes: Uint8Array,
  dtype: DType,
): { readonly units: UnitArray; readonly per: number } {
  const size = isPacked(dtype) ? 1 : bytesOf(dtype);
  const unit = size === 1 || size === 2 ? size : 4;
  return { units: unitsAt(alignedTo(unit, bytes), unit), per: size / unit };
}

/**
 * Returns the bits of an element of a packed type (several elements in a byte) as a number. `element`: index
 * of the element. `first`: byte offset of element 0.
 */
export function packedBits(bytes: ArrayLike<number>, dtype: PackedType, element: number, first = 0): number {
  const [width, each] = [bitsOf(dtype), elementsInByte(dtype)];
  const byte = at(bytes, first + Math.floor(element / each));
  return (byte >> (width * (element % each))) & (2 ** width - 1);
}

/**
 * Writes the low bits of an integer as an element of a packed type (several elements in a byte). `element`:
 * index of the element. Neighbours in the byte do not change.
 */
export function putPackedBits(bytes: Uint8Array, dtype: PackedType, element: number, value: number): void {
  const [width, each] = [bitsOf(dtype), elementsInByte(dtype)];
  const [place, shift] = [Math.floor(element / each), width * (element % each)];
  const mask = 2 ** width - 1;
  bytes[place] = (at(bytes, place) & ~(mask << shift)) | ((value & mask) << shift);
}

/**
 * Copies `length` elements of a packed type (several elements in a byte) to the start of `to`. `beyond`:
 * index in `from` of the first copied element.
 */
export function shiftPacked(
  to: Uint8Array,
  from: Uint8Array,
  dtype: PackedType,
  { beyond, length }: { readonly beyond: number; readonly length: number },
): void {
  for (let k = 0; k < length; k++) putPackedBits(to, dtype, k, packedBits(from, dtype, beyond + k));
}

/**
 * Returns bytes as an array of units of `unit` bytes, without a copy. The byte offset must be a multiple of
 * `unit`. An incomplete last unit is dropped.
 */
export function unitsAt(bytes: Bytes, unit: 1 | 2 | 4): UnitArray;
/**
 * Returns bytes as an array of units of `unit` bytes, without a copy. The byte offset must be a multiple of
 * `unit`. An incomplete last unit is dropped.
 */
export function unitsAt(bytes: Bytes, unit: 1 | 2 | 4 | 8): UnitArray | BigUint64Array;
/**
 * Returns bytes as an array of units of `unit` bytes, without a copy. The byte offset must be a multiple of
 * `unit`. An incomplete last unit is dropped.
 */
export function unitsAt(
  { buffer, byteLength, byteOffset }: Bytes,
  unit: 1 | 2 | 4 | 8,
): UnitArray | BigUint64Array {
  const length = Math.floor(byteLength / unit);
  switch (unit) {
    case 1:
      return new Uint8Array(buffer, byteOffset, length);
    case 2:
      return new Uint16Array(buffer, byteOffset, length);
    case 4:
      return new Uint32Array(buffer, byteOffset, length);
    case 8:
      return new BigUint64Array(buffer, byteOffset, length);
  }
}

/**
 * Function that returns the index value at a 0-based position of an input. Values up to 2^53 in magnitude are
 * exact; larger values are rounded but stay out of range. `exact`: returns the exact bigint.
 */
export interface IndexReader {
  (position: number): number;
  /** Returns the index value at a position, exact also beyond 2^53. */
  readonly exact: (position: number) => bigint;
}

/**
 * Returns a function that reads index values of type `dtype` from `bytes`. Throws an InternalError if `dtype`
 * is not an index type.
 */
export function indexReader(bytes: Uint8Array, dtype: DType): IndexReader {
  checkArgument("indexReader", "bytes", bytes);
  checkArgument("indexReader", "dtype", dtype);
  const list = indexList(bytes, dtype);
  if (!(list instanceof BigInt64Array || list instanceof BigUint64Array)) {
    const read = (p: number): number => list[p] ?? beyond(p);
    return Object.assign(read, { exact: (p: number) => BigInt(read(p)) });
  }
  const { buffer, byteOffset, length } = list;
  const low = new Uint32Array(buffer, byteOffset, 2 * length);
  const high = dtype === "i64" ? new Int32Array(buffer, byteOffset, 2 * length) : low;
  const read = (p: number): number => (high[2 * p + 1] ?? beyond(p)) * 2 ** 32 + (low[2 * p] ?? beyond(p));
  return Object.assign(read, { exact: (p: number) => at(list, p) });
}

function beyond(position: number): never {
  throw new InternalError(`index value ${position} lies outside its tensor`);
}

/** The values of an index tensor. */
type IndexList = InstanceType<(typeof elementTypes)[IndexDType]["array"]>;

/**
 * Returns the index values in bytes as a typed array of type `dtype`. Misaligned bytes are copied; an
 * incomplete last value is dropped. Throws an InternalError if `dtype` is not an index type.
 */
export function indexList(bytes: Uint8Array, dtype: DType): IndexList {
  if (!isIndexDType(dtype)) throw new InternalError(`${dtype} is no index type`);
  const size = bytesOf(dtype);
  const { buffer, byteOffset, byteLength } = alignedTo(size, bytes);
  return new elementTypes[dtype].array(buffer as ArrayBuffer, byteOffset, Math.floor(byteLength / size));
}

/** Index values as an array of integers of at most 32 bits. A 64-bit value takes two integers. */
export interface IndexWords {
  readonly words: Exclude<IndexList, BigInt64Array | BigUint64Array>;
  /** True if each value is two signed words, the low word first. */
  readonly isWide: boolean;
}

/**
 * Returns index values as an array of integers of at most 32 bits, two integers for a 64-bit value. Throws an
 * InternalError if `dtype` is not an index type.
 */
export function indexWords(bytes: Uint8Array, dtype: DType): IndexWords {
  const isWide = dtype === "i64" || dtype === "u64";
  const words = indexList(bytes, isWide ? "i32" : dtype);
  invariant(
    !(words instanceof BigInt64Array || words instanceof BigUint64Array),
    "words have 32 bits or less",
  );
  return { words, isWide };
}

/** Returns the coordinates, one for each dim of `shape`, of the element at a 0-based row-major position. */
export function coordinates(position: number, shape: Shape): number[] {
  const result = new Array<number>(shape.length).fill(0);
  let rest = position;
  for (let k = shape.length - 1; k >= 0; k--) {
    const extent = shape[k] ?? 1;
    result[k] = rest % extent;
    rest = Math.floor(rest / extent);
  }
  return result;
}

/**
 * Returns the host tensor of an operand, with the element type that the program reads. Throws an
 * InternalError if the tensor is missing.
 */
export function inputTensor(inputs: HostInputs, operand: Operand): HostTensor {
  checkArgument("inputTensor", "object", inputs);
  checkArgument("inputTensor", "operand", operand);
  const given = entryOf(inputs, keyOf(operand));
  if (given === undefined) throw new InternalError(`input ${keyOf(operand)} is missing`);
  const { type } = operand;
  return given.type.dtype === type.dtype ? given : { ...given, type };
}
