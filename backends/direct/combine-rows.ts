/** Rows of updates combined with the elements that they go to, in order, one rounding a step. */
import type { AccessMap } from "../../ir/access.js";
import { invariant, type DType } from "../../ir/types.js";
import { combination, floatFormats, isValueType, type Combination } from "../../ir/values/index.js";
import type { UnitArray } from "../memory.js";
import type { AddressOffsets } from "./block.js";
import type { RowArray } from "./move-rows.js";
import type { writeRows } from "./write-rows.js";

/**
 * Returns a function that combines rows of a scatter's updates with elements of the output, with the
 * parameters of {@link writeRows}. `dtype`: output type. `from`: type of the updates.
 */
export function combineRows(
  combine: Exclude<AccessMap["write"]["combine"], "set">,
  dtype: DType,
  from: DType,
): typeof writeRows {
  invariant(isValueType(dtype) && isValueType(from), `points combine in ${dtype}`);
  if (dtype === "f32" && from === "f32" && combine === "add") return addFloats;
  if (dtype === from && combine === "add" && (dtype === "i32" || dtype === "u32")) return addWords;
  const step = combination(combine satisfies Combination, dtype, from);
  return (source, target, addresses, base, row, first, end, begin) => {
    const [given, into] = [numbersIn(source), numbersIn(target)];
    for (let [k, read] = [first, begin]; k < end; k++) {
      const to = base + (addresses[k] ?? 0);
      for (let u = 0; u < row; u++) {
        into[to + u] = step(into[to + u] ?? 0, given[read++] ?? 0);
      }
    }
  };
}

function numbersIn(units: RowArray): UnitArray {
  invariant(!(units instanceof BigUint64Array), "elements that combine have 32 bits or fewer");
  return units;
}

/**
 * Adds rows of f32 updates to rows of a scatter's output; NaN sums become the canonical NaN. Takes the
 * parameters of {@link writeRows}; `begin` is the parameter `from`.
 */
function addFloats(
  source: RowArray,
  target: RowArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  begin: number,
): void {
  const given = new Float32Array(source.buffer, source.byteOffset, source.length);
  const into = new Float32Array(target.buffer, target.byteOffset, target.length);
  for (let [k, read] = [first, begin]; k < end; k++, read += row) {
    const to = base + (addresses[k] ?? 0);
    // NaN where some sum is, and where infinities of both signs are.
    let all = 0;
    let u = 0;
    for (; u < row - 3; u += 4) {
      const a = Math.fround((into[to + u] ?? 0) + (given[read + u] ?? 0));
      const b = Math.fround((into[to + u + 1] ?? 0) + (given[read + u + 1] ?? 0));
      const c = Math.fround((into[to + u + 2] ?? 0) + (given[read + u + 2] ?? 0));
      const d = Math.fround((into[to + u + 3] ?? 0) + (given[read + u + 3] ?? 0));
      into[to + u] = a;
      into[to + u + 1] = b;
      into[to + u + 2] = c;
      into[to + u + 3] = d;
      all += a + b + (c + d);
    }
    for (; u < row; u++) {
      const sum = Math.fround((into[to + u] ?? 0) + (given[read + u] ?? 0));
      into[to + u] = sum;
      all += sum;
    }
    if (Number.isNaN(all)) oneNaN(numbersIn(target), into, to, to + row);
  }
}

function oneNaN(bits: UnitArray, values: Float32Array, first: number, end: number): void {
  for (let k = first; k < end; k++) if (Number.isNaN(values[k])) bits[k] = floatFormats.f32.nan;
}

/**
 * Adds rows of 32-bit integer updates to rows of a scatter's output, modulo 2^32. Takes the parameters of
 * {@link writeRows}; `begin` is the parameter `from`.
 */
function addWords(
  source: RowArray,
  target: RowArray,
  addresses: AddressOffsets,
  base: number,
  row: number,
  first: number,
  end: number,
  begin: number,
): void {
  const given = new Int32Array(source.buffer, source.byteOffset, source.length);
  const into = new Int32Array(target.buffer, target.byteOffset, target.length);
  for (let [k, read] = [first, begin]; k < end; k++, read += row) {
    const to = base + (addresses[k] ?? 0);
    for (let u = 0; u < row; u++) into[to + u] = ((into[to + u] ?? 0) + (given[read + u] ?? 0)) | 0;
  }
}
