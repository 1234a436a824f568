/** A tensor from or for a file: bytes little-endian row-major, strings as themselves. */
import { byteCount, elementCount, type TensorType } from "../../ir/index.js";
import { fromHost, toHost, type HostValue } from "../../backends/index.js";

export interface TensorValue {
  readonly type: TensorType;
  /** Empty for strings. */
  readonly bytes: Uint8Array;
  readonly strings?: readonly string[];
}

/** The tensor as backends take it: strings become handles. */
export const asHost = (name: string, value: TensorValue): HostValue =>
  toHost(name, value.type, value.strings ?? value.bytes);

/** What a backend gave back, with the handles of `data` resolved. */
export function fromOutput(type: TensorType, bytes: Uint8Array, data: HostValue): TensorValue {
  if (type.dtype !== "string") return { type, bytes };
  return { type, bytes: new Uint8Array(), strings: fromHost(type, bytes, data.strings) as readonly string[] };
}

/** Bit for bit; the index of the first element that differs, or -1. */
export function firstDifferentElement(a: TensorValue, b: TensorValue): number {
  const count = elementCount(a.type.shape);
  if (a.strings !== undefined || b.strings !== undefined) {
    for (let k = 0; k < count; k++) if (a.strings?.[k] !== b.strings?.[k]) return k;
    return -1;
  }
  const size = count === 0 ? 1 : byteCount(a.type) / count;
  const byte = a.bytes.findIndex((value, k) => value !== b.bytes[k]);
  if (byte !== -1) return Math.floor(byte / size);
  return a.bytes.byteLength === b.bytes.byteLength
    ? -1
    : Math.min(a.bytes.byteLength, b.bytes.byteLength) / size;
}
