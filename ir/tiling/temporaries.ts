/**
 * The tiles of UB in which a vector unit computes a value: the elements that index values pick, and results of operations. Machines
 * that keep values in registers have none.
 */
import { countsTerms, dimsOfRead, isMove, termDim, type AccessMap } from "../access.js";
import { keyOf, type Operand } from "../func.js";
import { sitesOf } from "../linear.js";
import { at, type DType, type Shape } from "../types.js";
import { reductionsIn, typeOf, type Expression } from "../values/expression.js";
import { wordsOfSum } from "../values/ops.js";

/** A tile that one gather writes and reads. */
export interface Temporary {
  /** `gathered q`, `value 1`, `sum` */
  readonly part: string;
  readonly dtype: DType;
  readonly tile: Shape;
}

/** `operands`: of the gather; `tile`: of its output. */
export function temporariesOf(
  map: AccessMap,
  operands: readonly Operand[],
  tile: Shape,
): readonly Temporary[] {
  if (isMove(map)) return [];
  const picking = map.reads.filter((read) => read.at.some((coord) => sitesOf(coord).length > 0));
  const picked = picking.map((read, k): Temporary => {
    const operand = at(operands, read.table);
    const before = picking.slice(0, k).filter(({ table }) => table === read.table).length;
    // Terms are taken one after the other.
    const extents = [...dimsOfRead(map, read.at)]
      .filter((d) => d !== termDim(map))
      .sort((a, b) => a - b)
      .map((d) => at(tile, d));
    return {
      part: `gathered ${keyOf(operand)}${before === 0 ? "" : ` ${before + 1}`}`,
      dtype: operand.type.dtype,
      tile: extents.length === 0 ? [1] : extents,
    };
  });
  // Each holds 4 bytes an element: f32, i32 or u32.
  // A term is computed, into the sum, before anything around it.
  const [reduction] = reductionsIn(map.value);
  const ofTerm = reduction === undefined ? 0 : heldAtOnce(reduction.of);
  const values = Array.from({ length: Math.max(ofTerm, heldAtOnce(map.value)) }, (_, k): Temporary => ({
    part: `value ${k + 1}`,
    dtype: "f32",
    tile,
  }));
  return [...picked, ...values];
}

/**
 * What the terms of a tile come to so far, one tile behind the other for each word of an element, and where runs of the gather take them in, their number, if the program does not tell it.
 */
export function sumsOf(
  map: AccessMap,
  operands: readonly Operand[],
  tile: Shape,
  carried: boolean,
): readonly Temporary[] {
  const [reduction] = reductionsIn(map.value);
  if (reduction === undefined) return [];
  const words = wordsOfSum(reduction.how);
  const reads = map.reads.map(({ table }) => at(operands, table).type.dtype);
  const sum: Temporary =
    words === 1
      ? { part: "sum", dtype: typeOf(reduction, reads), tile }
      : { part: "sum", dtype: "u32", tile: [words, ...tile] };
  return carried && countsTerms(map) ? [sum, { part: "terms", dtype: "u32", tile }] : [sum];
}

/** Results that are held at once at most, where the side that needs more is computed first (Ershov 1958). Reads, numbers and the sum take none. */
function heldAtOnce(value: Expression): number {
  switch (value.kind) {
    case "read":
    case "number":
    case "reduce":
      return 0;
    case "cast":
      return Math.max(1, heldAtOnce(value.of));
    case "op": {
      const [left, right] = [heldAtOnce(value.of[0]), heldAtOnce(value.of[1])];
      return left === right ? left + 1 : Math.max(left, right);
    }
  }
}
