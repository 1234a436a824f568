/** The standard input in place of a file. */
import { readSync } from "node:fs";
import { once } from "./once.js";

/** File name that stands for the standard input. */
export const standardInput = "-";

const chunkBytes = 2 ** 16;

/**
 * Returns all bytes of the standard input, cached for further calls. Waits for the end of the input. Throws
 * the platform's errors.
 */
export const readStandardInput = once((): Uint8Array => {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const chunk = new Uint8Array(chunkBytes);
    const length = readSome(chunk);
    if (length === 0) return new Uint8Array(Buffer.concat(chunks));
    chunks.push(chunk.subarray(0, length));
  }
});

/**
 * Reads bytes of the standard input into `chunk` and returns the number of bytes; 0 at the end of the input.
 * Throws the platform's errors.
 */
function readSome(chunk: Uint8Array): number {
  for (;;) {
    try {
      return readSync(0, chunk);
    } catch (thrown) {
      const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
      // Windows ends a pipe so.
      if (code === "EOF") return 0;
      // A pipe that its writer made non-blocking has nothing yet.
      if (code !== "EAGAIN") throw thrown;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}
