/**
 * Rows of updates, written where a block's addresses lead, in order: a later row may write what an earlier
 * one wrote. V8 compiles a loop for the kinds of arrays that it has seen, so each unit has loops of its own;
 * their text is the same.
 */
import type { UnitArray } from "../memory.js";
import { asInteger, type AddressOffsets } from "./block.js";
import { shortRowUnits, type RowArray } from "./move-rows.js";

/**
 * Copies rows `first` to `end` (exclusive), of `row` array elements each, from `source` to `target`. In
 * `source` the rows are contiguous, with row `first` at offset `from`; in `target`, row k is at offset `base
 * + addresses[k]`. All offsets count array elements.
 */
export function writeRows(
  source: RowArray,
  target: RowArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  from: number,
): void {
  const [to, units, begin] = [asInteger(base), asInteger(row), asInteger(from)];
  if (units > shortRowUnits) writeLong(source, target, addresses, to, units, first, end, begin);
  else if (source instanceof BigUint64Array)
    writeWides(source, target as BigUint64Array, addresses, to, units, first, end, begin);
  else if (source instanceof Uint32Array)
    writeWords(source, target as Uint32Array, addresses, to, units, first, end, begin);
  else if (source instanceof Uint16Array)
    writeHalves(source, target as Uint16Array, addresses, to, units, first, end, begin);
  else writeBytes(source, target as UnitArray, addresses, to, units, first, end, begin);
}

/**
 * Writes rows longer than {@link shortRowUnits} array elements by calls of `set`, which write adjacent rows
 * together. Takes the parameters of {@link writeRows}.
 */
function writeLong(
  source: RowArray,
  target: RowArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  from: number,
): void {
  const { buffer, byteOffset, BYTES_PER_ELEMENT: unit } = source;
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  let read = byteOffset + from * unit;
  for (let k = first; k < end;) {
    const place = addresses[k] ?? 0;
    let next = place + row;
    k++;
    while (k < end && addresses[k] === next) {
      next += row;
      k++;
    }
    const length = (next - place) * unit;
    bytes.set(new Uint8Array(buffer, read, length), (base + place) * unit);
    read += length;
  }
}

/** Writes rows of `row` 8-byte array elements. Takes the parameters of {@link writeRows}. */
function writeWides(
  source: BigUint64Array,
  target: BigUint64Array,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  from: number,
): void {
  for (let [k, read] = [first, from]; k < end; k++) {
    const to = base + (addresses[k] ?? 0);
    for (let u = 0; u < row; u++) target[to + u] = source[read++] ?? 0n;
  }
}

/** Writes rows of `row` 4-byte array elements. Takes the parameters of {@link writeRows}. */
function writeWords(
  source: Uint32Array,
  target: Uint32Array,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  from: number,
): void {
  for (let [k, read] = [first, from]; k < end; k++) {
    const to = base + (addresses[k] ?? 0);
    for (let u = 0; u < row; u++) target[to + u] = source[read++] ?? 0;
  }
}

/** Writes rows of `row` 2-byte array elements. Takes the parameters of {@link writeRows}. */
function writeHalves(
  source: Uint16Array,
  target: Uint16Array,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  from: number,
): void {
  for (let [k, read] = [first, from]; k < end; k++) {
    const to = base + (addresses[k] ?? 0);
    for (let u = 0; u < row; u++) target[to + u] = source[read++] ?? 0;
  }
}

/** Writes rows of `row` bytes. Takes the parameters of {@link writeRows}. */
function writeBytes(
  source: UnitArray,
  target: UnitArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  from: number,
): void {
  for (let [k, read] = [first, from]; k < end; k++) {
    const to = base + (addresses[k] ?? 0);
    for (let u = 0; u < row; u++) target[to + u] = source[read++] ?? 0;
  }
}
