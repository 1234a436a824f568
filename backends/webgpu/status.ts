/**
 * The status word of kernels that report an index out of range: the number of an output element, from which
 * on it is looked for, or of a point of a scatter. Scatters that reject duplicates have two more words.
 */

import type { DuplicatePoints } from "../bad-index.js";

/** Value of the status word if every index was in range. */
export const noneBad = 0xffffffff;

/**
 * Maximum number of output elements whose indices a kernel resolves together: four rows of 16 one-byte
 * elements.
 */
export const maxPerAccess = 64;

/** Returns the 4 bytes of a status word that no launch has written: 0xffffffff. */
export const unwritten = (): Uint8Array<ArrayBuffer> => new Uint8Array(4).fill(0xff);

/**
 * Returns the status word in `bytes`: the lowest output element with an index out of range, or `noneBad`.
 * Undefined `bytes` give `noneBad`.
 */
export const statusIn = (bytes: Uint8Array | undefined): number =>
  bytes === undefined ? noneBad : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

/** Bit of the status word that marks the number of a point whose element an earlier point wrote. */
const duplicateMark = 2 ** 31;

/**
 * Returns the two points of a scatter that write the same element, read from the status words in `bytes`;
 * undefined if no duplicate is reported.
 */
export function duplicateIn(bytes: Uint8Array): DuplicatePoints | undefined {
  const first = statusIn(bytes);
  if (bytes.length < 12 || first < duplicateMark || first === noneBad) return undefined;
  const word = (k: number): number => statusIn(bytes.subarray(4 * k));
  return { point: first - duplicateMark, earlier: word(1), element: word(2) };
}
