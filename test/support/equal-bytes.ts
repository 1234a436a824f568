/**
 * Tells vitest that typed arrays of equal bytes are equal. By itself it compares one element after another, which takes a second
 * for some ten thousand of them.
 */
import { expect } from "vitest";

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** Undefined for all that vitest must look into: it names what differs. */
const haveEqualBytes = (a: unknown, b: unknown): true | undefined =>
  ArrayBuffer.isView(a) &&
  ArrayBuffer.isView(b) &&
  a.constructor === b.constructor &&
  Buffer.compare(bytesOf(a), bytesOf(b)) === 0
    ? true
    : undefined;

expect.addEqualityTesters([haveEqualBytes]);
