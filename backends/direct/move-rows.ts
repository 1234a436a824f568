/**
 * Rows of a block, moved. V8 compiles a loop for the kinds of arrays that it has seen. A loop that has seen
 * several takes twice as long with each, so each unit has loops of its own; their text is the same.
 */
import type { UnitArray } from "../memory.js";
import { asInteger, type AddressOffsets } from "./block.js";

/**
 * Array of the units (1, 2, 4 or 8 bytes) in which rows are moved. Units are never f64, because an engine
 * need not preserve the bits of a NaN.
 */
export type RowArray = UnitArray | BigUint64Array;

/**
 * Maximum length of a row, in units, that a loop moves. Longer rows are moved by a call of the JavaScript
 * engine.
 */
export const shortRowUnits = 48;

/**
 * Copies rows `first` to `end` (exclusive), of `row` array elements each, from `source` to `target`. In
 * `source`, row k is at offset `base + addresses[k]`; in `target` the rows are contiguous, with row `first`
 * at offset `into`. All offsets count array elements.
 */
export function moveRows(
  source: RowArray,
  target: RowArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  into: number,
): void {
  const [from, units, to] = [asInteger(base), asInteger(row), asInteger(into)];
  // The misses of single units overlap by themselves.
  const words = units === 1 || source.byteLength <= farBytes ? undefined : wordsOf(source);
  if (words === undefined) {
    moveAtOnce(source, target, addresses, from, units, first, end, to);
    return;
  }
  for (let k = first; k < end; k += rowsAhead) {
    const stop = Math.min(end, k + rowsAhead);
    readAhead(words, words.length / source.length, addresses, from, units, k, stop);
    moveAtOnce(source, target, addresses, from, units, k, stop, to + (k - first) * units);
  }
}

/** Copies rows like {@link moveRows}, without reading ahead. Takes the parameters of {@link moveRows}. */
function moveAtOnce(
  source: RowArray,
  target: RowArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  into: number,
): void {
  if (row > shortRowUnits) moveLong(source, target, addresses, base, row, first, end, into);
  else if (source instanceof BigUint64Array) {
    if (row > 1) moveWideRows(source, target as BigUint64Array, addresses, base, row, first, end, into);
    else moveWides(source, target as BigUint64Array, addresses, base, first, end, into);
  } else if (row > 1) {
    if (source instanceof Uint32Array)
      moveWordRows(source, target as Uint32Array, addresses, base, row, first, end, into);
    else movePartialRows(source, target as UnitArray, addresses, base, row, first, end, into);
  } else if (source instanceof Uint32Array)
    moveWords(source, target as Uint32Array, addresses, base, first, end, into);
  else if (source instanceof Uint16Array)
    moveHalves(source, target as Uint16Array, addresses, base, first, end, into);
  else moveBytes(source, target as Uint8Array, addresses, base, first, end, into);
}

/** Arrays of more bytes lie in memory, not in a cache. */
const farBytes = 2 ** 25;
/**
 * Rows whose first lines are read before any of them moves, so that the misses of all overlap, and lines of
 * each.
 */
const rowsAhead = 16;
const linesAhead = 8;
const lineBytes = 64;

/**
 * Combination of the words that were read ahead last. No code uses it: it keeps the engine from removing the
 * reads.
 */
const ahead = { read: 0 };

/**
 * Returns an array whose elements are numbers, for reading ahead. Undefined for bigints of 16 GiB or more: no
 * array of words is as long.
 */
function wordsOf(source: RowArray): UnitArray | undefined {
  if (!(source instanceof BigUint64Array)) return source;
  const length = 2 * source.length;
  return length < 2 ** 32 ? new Uint32Array(source.buffer, source.byteOffset, length) : undefined;
}

/**
 * Reads words from rows `first` to `end` (exclusive) of a block before these rows are copied, so that their
 * cache misses overlap. `per`: number of words in an array element of the copy.
 */
function readAhead(
  words: UnitArray,
  per: number,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
): void {
  const line = lineBytes / words.BYTES_PER_ELEMENT;
  const limit = Math.min(row * per, linesAhead * line);
  let read = 0;
  for (let k = first; k < end; k++) {
    const from = (base + (addresses[k] ?? 0)) * per;
    for (let u = 0; u < limit; u += line) read ^= words[from + u] ?? 0;
  }
  ahead.read = read;
}

/**
 * Copies rows longer than {@link shortRowUnits} array elements, by one call of `set` for each row. Takes the
 * parameters of {@link moveRows}.
 */
function moveLong(
  source: RowArray,
  target: RowArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  into: number,
): void {
  const { buffer, byteOffset, BYTES_PER_ELEMENT: unit } = source;
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
  const length = row * unit;
  for (let k = first, to = into * unit; k < end; k++, to += length)
    bytes.set(new Uint8Array(buffer, byteOffset + (base + (addresses[k] ?? 0)) * unit, length), to);
}

/**
 * Copies rows of one 8-byte array element. Takes the parameters of {@link moveRows} without `row`, which is
 * 1.
 */
function moveWides(
  source: BigUint64Array,
  target: BigUint64Array,
  addresses: AddressOffsets,
  base: number,
  first: number,
  end: number,
  into: number,
): void {
  let [k, to] = [first, into];
  for (; k < end - 3; k += 4, to += 4) {
    const a = source[base + (addresses[k] ?? 0)] ?? 0n;
    const b = source[base + (addresses[k + 1] ?? 0)] ?? 0n;
    const c = source[base + (addresses[k + 2] ?? 0)] ?? 0n;
    const d = source[base + (addresses[k + 3] ?? 0)] ?? 0n;
    target[to] = a;
    target[to + 1] = b;
    target[to + 2] = c;
    target[to + 3] = d;
  }
  for (; k < end; k++, to++) target[to] = source[base + (addresses[k] ?? 0)] ?? 0n;
}

/**
 * Copies rows of one 4-byte array element. Takes the parameters of {@link moveRows} without `row`, which is
 * 1.
 */
function moveWords(
  source: Uint32Array,
  target: Uint32Array,
  addresses: AddressOffsets,
  base: number,
  first: number,
  end: number,
  into: number,
): void {
  let [k, to] = [first, into];
  for (; k < end - 3; k += 4, to += 4) {
    const a = source[base + (addresses[k] ?? 0)] ?? 0;
    const b = source[base + (addresses[k + 1] ?? 0)] ?? 0;
    const c = source[base + (addresses[k + 2] ?? 0)] ?? 0;
    const d = source[base + (addresses[k + 3] ?? 0)] ?? 0;
    target[to] = a;
    target[to + 1] = b;
    target[to + 2] = c;
    target[to + 3] = d;
  }
  for (; k < end; k++, to++) target[to] = source[base + (addresses[k] ?? 0)] ?? 0;
}

/**
 * Copies rows of one 2-byte array element. Takes the parameters of {@link moveRows} without `row`, which is
 * 1.
 */
function moveHalves(
  source: Uint16Array,
  target: Uint16Array,
  addresses: AddressOffsets,
  base: number,
  first: number,
  end: number,
  into: number,
): void {
  let [k, to] = [first, into];
  for (; k < end - 3; k += 4, to += 4) {
    const a = source[base + (addresses[k] ?? 0)] ?? 0;
    const b = source[base + (addresses[k + 1] ?? 0)] ?? 0;
    const c = source[base + (addresses[k + 2] ?? 0)] ?? 0;
    const d = source[base + (addresses[k + 3] ?? 0)] ?? 0;
    target[to] = a;
    target[to + 1] = b;
    target[to + 2] = c;
    target[to + 3] = d;
  }
  for (; k < end; k++, to++) target[to] = source[base + (addresses[k] ?? 0)] ?? 0;
}

/** Copies rows of one byte. Takes the parameters of {@link moveRows} without `row`, which is 1. */
function moveBytes(
  source: Uint8Array,
  target: Uint8Array,
  addresses: AddressOffsets,
  base: number,
  first: number,
  end: number,
  into: number,
): void {
  let [k, to] = [first, into];
  for (; k < end - 3; k += 4, to += 4) {
    const a = source[base + (addresses[k] ?? 0)] ?? 0;
    const b = source[base + (addresses[k + 1] ?? 0)] ?? 0;
    const c = source[base + (addresses[k + 2] ?? 0)] ?? 0;
    const d = source[base + (addresses[k + 3] ?? 0)] ?? 0;
    target[to] = a;
    target[to + 1] = b;
    target[to + 2] = c;
    target[to + 3] = d;
  }
  for (; k < end; k++, to++) target[to] = source[base + (addresses[k] ?? 0)] ?? 0;
}

/** Copies rows of `row` 8-byte array elements. Takes the parameters of {@link moveRows}. */
function moveWideRows(
  source: BigUint64Array,
  target: BigUint64Array,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  into: number,
): void {
  for (let k = first, to = into; k < end; k++) {
    let from = base + (addresses[k] ?? 0);
    const stop = to + row;
    for (; to < stop - 3; from += 4, to += 4) {
      const a = source[from] ?? 0n;
      const b = source[from + 1] ?? 0n;
      const c = source[from + 2] ?? 0n;
      const d = source[from + 3] ?? 0n;
      target[to] = a;
      target[to + 1] = b;
      target[to + 2] = c;
      target[to + 3] = d;
    }
    for (; to < stop; from++, to++) target[to] = source[from] ?? 0n;
  }
}

/** Copies rows of `row` 4-byte array elements. Takes the parameters of {@link moveRows}. */
function moveWordRows(
  source: Uint32Array,
  target: Uint32Array,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  into: number,
): void {
  for (let k = first, to = into; k < end; k++) {
    let from = base + (addresses[k] ?? 0);
    const stop = to + row;
    for (; to < stop - 3; from += 4, to += 4) {
      const a = source[from] ?? 0;
      const b = source[from + 1] ?? 0;
      const c = source[from + 2] ?? 0;
      const d = source[from + 3] ?? 0;
      target[to] = a;
      target[to + 1] = b;
      target[to + 2] = c;
      target[to + 3] = d;
    }
    for (; to < stop; from++, to++) target[to] = source[from] ?? 0;
  }
}

/** Copies rows of `row` array elements of 1 or 2 bytes. Takes the parameters of {@link moveRows}. */
function movePartialRows(
  source: UnitArray,
  target: UnitArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  into: number,
): void {
  for (let k = first, to = into; k < end; k++, to += row) {
    const from = base + (addresses[k] ?? 0);
    for (let u = 0; u < row; u++) target[to + u] = source[from + u] ?? 0;
  }
}
