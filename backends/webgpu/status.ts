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

/** Returns the 4 bytes of a status word that no launch has written: 0xffffffff. */
export const unwritten = (): Uint8Array<ArrayBuffer> => new Uint8Array(4).fill(0xff);

/**
 * Returns the status word in `bytes`: the lowest output element with an index out of range, or `noneBad`.
 * Returns `noneBad` if `bytes` is undefined.
 */
export const statusIn = (bytes: Uint8Array | undefined): number =>
  bytes === undefined ? noneBad : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
