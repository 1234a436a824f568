/** Where a kernel's memory holds what: tensors first, then a unified buffer for each thread. */
import type { TileFunc } from "../../ir/func.js";
import { ubBytes, type UbBuffer } from "../../ir/tile.js";
import { alignUp, at, byteCount } from "../../ir/types.js";
import { ubBuffers } from "../../ir/verify/accesses.js";
import { pageBytes } from "./instructions.js";
import { cacheLine, entryBytes, tableBytes } from "./table.js";

/** Byte addresses in the memory. */
export interface WasmLayout {
  readonly data: number;
  readonly indices: number;
  readonly output: number;
  /** Unified buffers, one after the other to the end of the memory. */
  readonly buffers: number;
  /** Bytes of one of them: the program's peak, then the table of resolved indices. */
  readonly bufferBytes: number;
  /** Byte of a unified buffer where the table starts. */
  readonly table: number;
}

/** Bytes at the start of memory that threads share. */
export const controlBytes = 64;

export function layoutOf(func: TileFunc): WasmLayout {
  const data = controlBytes;
  const indices = alignUp(data + byteCount(func.data.type), cacheLine);
  const output = alignUp(indices + byteCount(func.indices.type), cacheLine);
  const buffers = alignUp(output + byteCount(func.output.type), cacheLine);
  const table = alignUp(
    Math.max(0, ...[...ubBuffers(func).values()].map((buffer) => addressOf(buffer) + ubBytes(buffer))),
    cacheLine,
  );
  return {
    data,
    indices,
    output,
    buffers,
    bufferBytes: alignUp(table + tableBytes(func) + entryBytes, cacheLine),
    table,
  };
}

export const pagesFor = (layout: WasmLayout, threads: number): number =>
  Math.max(1, Math.ceil((layout.buffers + threads * layout.bufferBytes) / pageBytes));

/** The first copy of a double buffer: a thread runs its statements in order and never needs the second. */
export const addressOf = (buffer: UbBuffer): number => at(buffer.addresses ?? [], 0);
