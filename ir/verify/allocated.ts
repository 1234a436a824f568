/**
 * `allocated`: addresses present, aligned, inside the budget; a buffer never overlaps one that is live with it.
 */
import { error, type Diagnostic } from "../diagnostic.js";
import type { TileFunc } from "../func.js";
import type { Target } from "../target.js";
import { ubBytes } from "../tile.js";
import { alignUp } from "../types.js";
import { ubBuffers } from "../regions.js";

/**
 * Returns a diagnostic (TC202) for each fault in the addresses of buffers in the unified buffer (UB); an
 * empty list if there is none. Faults: an address is missing, is misaligned, or is such that the buffer
 * exceeds the budget or overlaps another buffer.
 */
export function verifyAllocated(func: TileFunc, target: Target): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const report = (message: string): void => {
    diagnostics.push(error("TC202", message, { span: func.span }));
  };
  const budget = func.schedule.ubBytes ?? target.ubBytes;
  const copies: { readonly name: string; readonly start: number; readonly end: number }[] = [];
  for (const buffer of ubBuffers(func).values()) {
    const size = alignUp(ubBytes(buffer), target.blockBytes);
    if (buffer.addresses === undefined) {
      report(`%${buffer.name} has no address`);
      continue;
    }
    for (const start of buffer.addresses) {
      const end = start + size;
      if (start % target.blockBytes !== 0)
        report(`%${buffer.name} at ${start} is not ${target.blockBytes} B aligned`);
      if (end > budget) report(`%${buffer.name} at ${start} ends at ${end}, beyond ${budget} B`);
      // One gather's operands are all live while it runs, so no two buffers of a function may share bytes.
      for (const other of copies) {
        if (start < other.end && other.start < end)
          report(`%${buffer.name} at ${start} overlaps %${other.name}`);
      }
      copies.push({ name: buffer.name, start, end });
    }
  }
  return diagnostics;
}
