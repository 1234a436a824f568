import { truncateSync, writeFileSync } from "node:fs";
import { constants } from "node:buffer";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CompileError } from "../../ir/index.js";
import { readBytes, readText } from "../../src/formats/files.js";
import { scratchFolder } from "../support/scratch-folder.js";
import { refusals } from "../support/refusal.js";

const folder = scratchFolder("files");

/** A file of this length that takes no room on the disk. */
function sparse(name: string, bytes: number): string {
  const path = join(folder, name);
  writeFileSync(path, "");
  truncateSync(path, bytes);
  return path;
}

const refusal = (read: () => unknown): string => new CompileError(refusals(read)).message;

describe("a file too long for memory is a diagnostic", () => {
  it("by its size, before it is read", () => {
    expect(refusal(() => readBytes(sparse("bytes", 2 ** 31)))).toMatch(
      /error\[TC010\].*2147483648 bytes are more than the 2147483647 that can be read/,
    );
  });

  it("by the longest text there is", () => {
    const bytes = constants.MAX_STRING_LENGTH + 1;
    expect(refusal(() => readText(sparse("text", bytes)))).toMatch(
      new RegExp(`error\\[TC010\\].*${bytes} bytes are more than the ${constants.MAX_STRING_LENGTH}`),
    );
  });

  it.runIf(process.platform === "linux")("by what a device gives without end", () => {
    expect(refusal(() => readBytes("/dev/zero"))).toMatch(/error\[TC010\].*can be read/);
  });
});
