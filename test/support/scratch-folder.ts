/** Folders of a test file's own. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes an empty folder, which is removed after the tests of the file or the group that asks, and returns its path. */
export function scratchFolder(name: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `tilec-${name}-`)));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
