/**
 * The status word of kernels that report an index out of range: the number of an output element, from which
 * on it is looked for.
 */

/** Value of the status word if every index was in range. */
export const noneBad = 0xffffffff;

/**
 * Maximum number of output elements whose indices a kernel resolves together: four rows of 16 elements of one
 * byte.
 */
export const maxPerAccess = 64;

/** Returns the four bytes of a status word before launches. */
export const unwritten = (): Uint8Array<ArrayBuffer> => new Uint8Array(4).fill(0xff);

/** Returns the status word that `bytes` hold. Without bytes, returns `noneBad`: every index is in range. */
export const statusIn = (bytes: Uint8Array | undefined): number =>
  bytes === undefined ? noneBad : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
