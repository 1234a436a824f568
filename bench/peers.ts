/** The packages of bench/, apart from the repository's: what the benchmarks and the cross-checks compare with. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageFile } from "../src/device/package-files.js";
import { fail } from "./arguments.js";

const folder = packageFile("bench/node_modules");

export const installPeers = "npm ci --prefix bench";

/** One module of an installed package: `onnxruntime-node/dist/index.js`. Rejects as `import` does. */
export const importPeer = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, file)).href);

export const missingPeers = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !existsSync(join(folder, name)));

/** Ends the process with a word where one of these packages is not installed. */
export function requirePeers(names: readonly string[]): void {
  const missing = missingPeers(names);
  if (missing.length > 0)
    fail(`${missing.join(", ")}: not installed`, `${installPeers} installs what is compared with`);
}
