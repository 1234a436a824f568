/** Elements of up to 32 bits in a memory. */

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
