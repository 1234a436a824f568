/**
 * Slots of a scatter on an Ascend core: rows in UB behind all tiles. Points pass through them that no single
 * instruction writes: single elements to global memory, combinations there, and combinations of floats.
 */
import { alignUp, bytesOf, byteAligned, isInteger, type DType } from "../types.js";

/**
 * Use of a slot: the row of the output (`element`), the row of values (`operand`), and both as f32 (`wide`,
 * `wideOperand`).
 */
export type SlotName = "element" | "operand" | "wide" | "wideOperand";

/** Row in the unified buffer (UB) for one use. `columns`: number of elements. */
export interface RowSlot {
  readonly name: SlotName;
  readonly dtype: DType;
  readonly columns: number;
  readonly bytes: number;
}

/** Facts of a scatter that the slots follow. */
export interface SlottedPoints {
  /** Element type of the output. */
  readonly dtype: DType;
  /** True if a point replaces its element. */
  readonly isSet: boolean;
  /** True if the written region is in the unified buffer (UB). */
  readonly inUb: boolean;
  /** Maximum number of elements of a row; absent for points that are written one by one. */
  readonly columns?: number;
}

/** Returns the slots through which points pass, in the order of their addresses. */
export function rowSlots(
  { dtype, isSet, inUb, columns }: SlottedPoints,
  blockBytes: number,
): readonly RowSlot[] {
  const isSingle = columns === undefined;
  const isReal = !isSet && !isInteger(dtype);
  const slot = (name: SlotName, type: DType): RowSlot => {
    const bytes = alignUp((columns ?? 1) * bytesOf(byteAligned(type)), blockBytes);
    return { name, dtype: type, columns: columns ?? 1, bytes };
  };
  return [
    ...(!inUb || (isReal && isSingle) ? [slot("element", dtype)] : []),
    ...(isReal && isSingle ? [slot("operand", dtype)] : []),
    ...(isReal && dtype !== "f32" ? [slot("wide", "f32"), slot("wideOperand", "f32")] : []),
  ];
}

/** Returns an upper bound of the bytes of all slots, for rows of up to `columns` elements. */
export function maxSlotBytes(points: Required<SlottedPoints>, blockBytes: number): number {
  const bytesFor = (facts: SlottedPoints): number =>
    rowSlots(facts, blockBytes).reduce((sum, { bytes }) => sum + bytes, 0);
  const { columns: _, ...single } = points;
  return Math.max(bytesFor(points), bytesFor(single));
}
