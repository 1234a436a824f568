/** A user's JavaScript or TypeScript module, loaded. */
import { statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Error for a TypeScript module that cannot be loaded, because Node does not support TypeScript and the
 * package jiti is not installed.
 */
export class NoTypeScript extends Error {}

/**
 * Returns the file URL from which a module is imported. Throws an Error if the path exists but is not a
 * regular file.
 */
export function moduleUrl(file: string): string {
  const path = resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new Error("the path is not a regular file");
  return pathToFileURL(path).href;
}

/**
 * Imports a JavaScript or TypeScript module and resolves to the exports. Rejects with a NoTypeScript error if
 * Node cannot load TypeScript and the package jiti is missing.
 */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const url = moduleUrl(file);
  if (!/^\.[cm]?ts$/.test(extname(file)) || readsTypeScript())
    return (await import(url)) as Readonly<Record<string, unknown>>;
  const loader = await import("jiti").catch(() => undefined);
  if (loader === undefined)
    throw new NoTypeScript(`Node ${process.versions.node} does not load TypeScript by itself`);
  const jiti = loader.createJiti(import.meta.url, { fsCache: false, interopDefault: false });
  return jiti.import(resolve(file));
}

/**
 * True if Node loads TypeScript by itself, according to `process.features`. The types of Node 20 do not
 * declare that field.
 */
const readsTypeScript = (): boolean => Boolean(Reflect.get(process.features, "typescript"));
