/**
 * The tiles of UB in which a vector unit computes the rows of a value: elements that are read, and results of
 * operations. Machines that keep values in registers have none.
 */
import { countsElements, isMove, type AccessMap } from "../access.js";
import { keyOf, type Operand } from "../func.js";
import { at, type DType, type Shape } from "../types.js";
import { reductionsIn, typeOf } from "../values/expression.js";
import { wordsOfSum } from "../values/ops.js";
import { computedByRow, elementsTogether, liesInTile, programOfRows } from "./value-rows.js";

/** Tile in the unified buffer (UB) for an intermediate value of one gather. */
export interface Temporary {
  /** Name of the tile in messages, such as `gathered q`, `value 1` or `sum`. */
  readonly part: string;
  readonly dtype: DType;
  readonly tile: Shape;
}

/**
 * Returns the temporary tiles in the unified buffer (UB) for computing one row of an expression. The list is
 * empty if the access map moves elements unchanged. `inUb(k)`: true if input k is in UB. `tile`: the output
 * tile.
 */
export function temporariesOf(
  map: AccessMap,
  operands: readonly Operand[],
  inUb: (table: number) => boolean,
  tile: Shape,
): readonly Temporary[] {
  if (isMove(map)) return [];
  const row = [elementsTogether(map, tile)];
  const copied = map.reads.filter((read) => !(inUb(read.table) && liesInTile(map, read)));
  const gathered = copied.map((read, k): Temporary => {
    const operand = at(operands, read.table);
    const before = copied.slice(0, k).filter(({ table }) => table === read.table).length;
    const label = `gathered ${keyOf(operand)}${before === 0 ? "" : ` ${before + 1}`}`;
    return { part: label, dtype: operand.type.dtype, tile: row };
  });
  const { slots } = programOfRows(
    map,
    operands.map(({ type }) => type.dtype),
  );
  // A row of one element is computed in a place of its own: the output's may begin anywhere.
  const results = slots + (computedByRow(map) ? 0 : 1);
  const values = Array.from({ length: results }, (_, k): Temporary => ({
    part: `value ${k + 1}`,
    dtype: "f32",
    tile: row,
  }));
  return [...gathered, ...values];
}

/**
 * Returns the temporary tiles for partial results of a reduction; an empty list without a reduction.
 * `carried`: true if several executions of the gather continue the same reduction.
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
  const shape = carried ? tile : [elementsTogether(map, tile)];
  const sum: Temporary =
    words === 1
      ? { part: "sum", dtype: typeOf(reduction, reads), tile: shape }
      : { part: "sum", dtype: "u32", tile: [words, ...shape] };
  return carried && countsElements(map) ? [sum, { part: "terms", dtype: "u32", tile }] : [sum];
}
