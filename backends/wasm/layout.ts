/**
 * Layout of a kernel's memory: the control block of its threads, then the tensors, then a unified buffer for
 * each thread.
 */
import type { TileFunc } from "../../ir/func.js";
import { ubBuffers } from "../../ir/regions.js";
import { ubBytes, type UbBuffer } from "../../ir/tile.js";
import { alignUp, at, byteCount } from "../../ir/types.js";
import { pageBytes } from "./instructions.js";
import { cacheLine, type Table } from "./table.js";
import { controlBytes } from "./thread.js";

/**
 * Layout of a kernel's memory: byte addresses of the tensors, of each thread's unified buffer (UB), and of
 * the table of resolved indices.
 */
export interface WasmLayout {
  /** Byte address of each operand, in the function's order. */
  readonly operands: readonly number[];
  /**
   * Byte address of the first thread's unified buffer. Those of the other threads follow, up to the end of
   * the memory.
   */
  readonly buffers: number;
  /** Bytes for each thread: the program's peak of unified buffer, then the table of resolved indices. */
  readonly bufferBytes: number;
  /** Byte offset of the table of resolved indices in a thread's unified buffer. */
  readonly table: number;
}

/**
 * Returns the layout of a program's memory: tensors first, then a unified buffer (UB) for each thread.
 * `table`: table of resolved indices, undefined if there is none.
 */
export function layoutOf(func: TileFunc, table: Table | undefined): WasmLayout {
  const place = func.operands.findIndex(({ inout }) => inout === true);
  const isAlias = ({ role }: TileFunc["operands"][number]): boolean => place !== -1 && role === "output";
  const { starts, end } = startsOf(
    func.operands.map((operand) => (isAlias(operand) ? 0 : byteCount(operand.type))),
  );
  // What is written in place is the memory of its input.
  const operands = starts.map((start, k) => (isAlias(at(func.operands, k)) ? at(starts, place) : start));
  const peak = alignUp(
    Math.max(0, ...[...ubBuffers(func).values()].map((buffer) => bufferAddress(buffer) + ubBytes(buffer))),
    cacheLine,
  );
  return {
    operands,
    buffers: end,
    bufferBytes: alignUp(peak + (table?.bytes ?? 0), cacheLine),
    table: peak,
  };
}

/**
 * Returns the byte address at which each tensor starts in memory, and the address after the last tensor
 * (`end`). `bytes`: sizes of the tensors in bytes.
 */
export function startsOf(bytes: readonly number[]): {
  readonly starts: readonly number[];
  readonly end: number;
} {
  let end = alignUp(controlBytes, cacheLine);
  const starts = bytes.map((length) => {
    const start = end;
    end = alignUp(start + length, cacheLine);
    return start;
  });
  return { starts, end };
}

/** Returns the number of memory pages (64 KiB each) that a layout needs for `threads` threads, at least 1. */
export const pagesFor = (layout: WasmLayout, threads: number): number =>
  Math.max(1, Math.ceil((layout.buffers + threads * layout.bufferBytes) / pageBytes));

/**
 * Returns the byte address of a buffer within the unified buffer (UB); for a double buffer, the address of
 * the first copy.
 */
export const bufferAddress = (buffer: UbBuffer): number => at(buffer.addresses ?? [], 0);
