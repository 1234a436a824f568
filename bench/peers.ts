/** The packages of bench/, apart from the repository's: what the benchmarks and the cross-checks compare with. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fail } from "./arguments.js";

/** From here, and from where it is built to. */
const folder = new URL("node_modules/", import.meta.url.replace("/dist/bench/", "/bench/"));

export const installPeers = "npm ci --prefix bench";

/** One module of an installed package: `onnxruntime-node/dist/index.js`. Rejects as `import` does. */
export const importPeer = (file: string): Promise<unknown> => import(new URL(file, folder).href);

export const missingPeers = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !existsSync(fileURLToPath(new URL(name, folder))));

/** Ends the process with a word where one of these packages is not installed. */
export function requirePeers(names: readonly string[]): void {
  const missing = missingPeers(names);
  if (missing.length > 0)
    fail(`${missing.join(", ")}: not installed`, `${installPeers} installs what is compared with`);
}
