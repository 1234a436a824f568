/** A tensor from or for a file: bytes little-endian row-major, strings as themselves. */
import { checkArgument } from "../../ir/argument.js";
import { bytesOf, elementCount, isPacked, byteAligned, type TensorType } from "../../ir/index.js";
import { fromHost, stringsOf, toHost, type HostValue } from "../../backends/index.js";

/**
 * Tensor: type and elements. `bytes`: elements in row-major order, little-endian. `strings`: elements of a
 * string tensor.
 */
export interface TensorValue {
  readonly type: TensorType;
  /** Empty for strings. */
  readonly bytes: Uint8Array;
  readonly strings?: readonly string[];
}

/**
 * Returns a tensor as a host array that backends take as input. Strings become handles, which are indices in
 * a list of strings. `name`: name of the tensor in errors.
 */
export function asHost(name: string, tensor: TensorValue): HostValue {
  checkArgument("asHost", "tensor", tensor);
  const { type, bytes, strings } = tensor;
  return isPacked(type.dtype) ? { type, bytes } : toHost(name, type, strings ?? bytes);
}

/**
 * Returns a backend's output bytes as a tensor. The bytes of a string tensor are handles: indices in the list
 * of strings that `inputs` have. `inputs`: inputs of the execution.
 */
export function fromOutput(
  type: TensorType,
  bytes: Uint8Array,
  inputs: Readonly<Record<string, HostValue>>,
): TensorValue {
  checkArgument("fromOutput", "type", type);
  if (type.dtype !== "string") return { type, bytes };
  return {
    type,
    bytes: new Uint8Array(),
    strings: fromHost(type, bytes, stringsOf(inputs)) as readonly string[],
  };
}

/** Number of elements that differ between two tensors, and row-major index of the first differing element. */
export interface Differences {
  /** Row-major index, from 0, of the first element that differs. */
  readonly first: number;
  readonly count: number;
}

/**
 * Compares two tensors of one type bit by bit. Returns the number of differing elements and the row-major
 * index of the first differing element; undefined if all bits are equal.
 */
function differencesOf(type: TensorType, a: Uint8Array, b: Uint8Array): Differences | undefined {
  if (alike(a, b)) return undefined;
  // Of outputs.
  const size = bytesOf(byteAligned(type.dtype));
  return differencesWhere(elementCount(type.shape), (element) => {
    for (let byte = element * size; byte < (element + 1) * size; byte++) if (a[byte] !== b[byte]) return true;
    return false;
  });
}

/**
 * Compares two tensors of one type, strings included. Returns the number of differing elements and the
 * row-major index of the first differing element; undefined if the tensors are equal.
 */
export function differencesBetween(a: TensorValue, b: TensorValue): Differences | undefined {
  if (a.strings === undefined && b.strings === undefined) return differencesOf(a.type, a.bytes, b.bytes);
  return differencesWhere(elementCount(a.type.shape), (k) => a.strings?.[k] !== b.strings?.[k]);
}

/**
 * True if two outputs have equal bytes. Most comparisons end with this test, which is much faster than to
 * name the element that differs.
 */
function alike(a: Uint8Array, b: Uint8Array): boolean {
  let k = 0;
  while (k < a.length && a[k] === b[k]) k++;
  return k === a.length && a.length === b.length;
}

/**
 * Counts the elements for which `differs` returns true. `differs`: takes a row-major element index, from 0.
 * Returns the count and the first element index; undefined if there is none.
 */
function differencesWhere(elements: number, differs: (element: number) => boolean): Differences | undefined {
  let first: number | undefined;
  let count = 0;
  for (let element = 0; element < elements; element++) {
    if (!differs(element)) continue;
    first ??= element;
    count++;
  }
  return first === undefined ? undefined : { first, count };
}
