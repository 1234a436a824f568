/** The build of tilec in a folder, by the entry points that the folder's own package.json names. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

type EntryPoint = "tilec" | "tilec/sim" | "tilec/webgpu" | "tilec/pto" | "tilec/node";

/**
 * Returns the path of the file that implements an entry point of the tilec build in a folder. Throws an Error
 * if the folder has no `package.json` or the build does not have the file.
 */
export function builtFile(folder: string, entryPoint: EntryPoint): string {
  const manifest = join(folder, "package.json");
  // Without it Node would look for a package.json in the folders above.
  if (!existsSync(manifest)) throw new Error(`${manifest} does not exist`);
  return createRequire(manifest).resolve(entryPoint);
}

/**
 * Imports entry points of the tilec build in a folder and resolves to one object with all exports. Rejects if
 * a file is missing.
 */
export async function importBuilt(folder: string, entryPoints: readonly EntryPoint[]): Promise<object> {
  const modules = await Promise.all(
    entryPoints.map((name) => import(pathToFileURL(builtFile(folder, name)).href) as Promise<object>),
  );
  return Object.assign({}, ...modules) as object;
}
