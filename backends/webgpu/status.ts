/** The status word of kernels that report an index out of range: the number of an output element, from which on it is looked for. */

/** What the status word holds when every index was in range. */
export const noneBad = 0xffffffff;

/** Output elements whose indices a kernel resolves together, at most: four rows of 16 elements of one byte. */
export const maxPerAccess = 64;

/** Returns what a status word holds before launches. */
export const unwritten = (): Uint8Array<ArrayBuffer> => new Uint8Array(4).fill(0xff);

/** Returns the status word; without one, that every index was in range. */
export const statusIn = (bytes: Uint8Array | undefined): number =>
  bytes === undefined ? noneBad : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
