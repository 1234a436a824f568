/** Memories of the checked executor, and the bits of their elements. */
import type { UbBuffer } from "../../ir/tile.js";
import { isPacked, type DType } from "../../ir/types.js";
import { packedBits } from "../memory.js";

/** Memory of a simulated machine: a tensor in global memory, or a buffer in the unified buffer (UB). */
export interface CheckedMemory {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** Byte offset of the first element in `bytes`. */
  readonly first: number;
  /** The byte behind its last one. */
  readonly end: number;
  readonly dtype: DType;
  /** Bytes of an element; less than one where several share a byte. */
  readonly elementBytes: number;
  readonly name: string;
  /** Absent for global memory. */
  readonly ub?: UbBuffer;
}

/** Returns the bits of an element of at most 32 bits. `element`: its number in the memory. */
export const elementBits = (
  { bytes, view, first, dtype, elementBytes }: CheckedMemory,
  element: number,
): number =>
  isPacked(dtype)
    ? packedBits(bytes, dtype, element, first)
    : readBits(view, first + element * elementBytes, elementBytes);

/**
 * Returns the bits of an element of `size` bytes (1, 2 or 4) at byte offset `byte`, as an unsigned
 * little-endian integer.
 */
export function readBits(view: DataView, byte: number, size: number): number {
  if (size === 1) return view.getUint8(byte);
  return size === 2 ? view.getUint16(byte, true) : view.getUint32(byte, true);
}

/**
 * Writes the bits of an element of `size` bytes (1, 2 or 4) at byte offset `byte`, as a little-endian
 * integer.
 */
export function writeBits(view: DataView, byte: number, bits: number, size: number): void {
  if (size === 1) view.setUint8(byte, bits);
  else if (size === 2) view.setUint16(byte, bits, true);
  else view.setUint32(byte, bits, true);
}
