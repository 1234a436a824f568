/** The WebAssembly memories of executors: made, grown, and left. */
import { CompileError, error, RunError } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import { maxPages, pageBytes } from "./instructions.js";

/**
 * Allocates a WebAssembly memory of `pages` pages of 64 KiB. `shared`: true for a memory that several threads
 * use. Throws a CompileError (TC502) if the allocation fails.
 */
export function allocateMemory(func: TileFunc, pages: number, shared: boolean): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: pages, ...(shared ? { maximum: maxPages, shared } : {}) });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    const bytes = pages * pageBytes;
    throw new CompileError([
      error("TC502", `the fast executor cannot allocate ${bytes} B of WebAssembly memory`, {
        span: func.span,
        hint: "split the tensors",
        data: { bytes },
      }),
    ]);
  }
}

/** Grows a memory to at least `pages` pages of 64 KiB. Returns the number of missing pages; 0 for success. */
export function grown(memory: WebAssembly.Memory, pages: number): number {
  const missing = Math.max(0, pages - memory.buffer.byteLength / pageBytes);
  try {
    if (missing > 0) memory.grow(missing);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return missing;
  }
}

/** Returns the error (TC603) for a hand-written program that reads or writes outside the program's memory. */
export const leftMemory = (): RunError =>
  new RunError([
    error("TC603", "the program reads or writes beyond its memory", {
      hint: "--executor checked names the statement",
    }),
  ]);
