/**
 * The packages of bench/, apart from the repository's: what the benchmarks and the cross-checks compare with.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packageFile } from "../src/device/package-files.js";
import { fail } from "./flags.js";

const folder = packageFile("bench/node_modules");

/** Shell command that installs the packages with which the benchmarks compare tilec. */
export const installPeers = "npm ci --prefix bench";

/**
 * Imports a file of a package in `bench/node_modules`, for example `onnxruntime-node/dist/index.js`. Rejects
 * if the import fails.
 */
export const importPeer = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, file)).href);

/** Returns the package names in `names` that are not installed in `bench/node_modules`. */
export const missingPeers = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !existsSync(join(folder, name)));

/** Ends the process with an error if one of the named packages is not installed in `bench/node_modules`. */
export function requirePeers(names: readonly string[]): void {
  const missing = missingPeers(names);
  if (missing.length > 0)
    fail(`${missing.join(", ")}: not installed`, `${installPeers} installs what is compared with`);
}
