/** A folder for one run of the tests, where the package is packed once; gone when the run ends. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    readonly packedFolder: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "tilec-packed-"));
  project.provide("packedFolder", folder);
  return () => {
    rmSync(folder, { recursive: true, force: true });
  };
}
