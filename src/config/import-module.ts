/** A user's JavaScript or TypeScript module, loaded. */
import { statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Error for a TypeScript module that neither Node nor an installed loader can load. */
export class NoTypeScript extends Error {}

/**
 * Returns the file URL by which a module is imported. Throws an Error for a path that is no regular file,
 * such as a pipe, on which an import would hang or fail.
 */
export function moduleUrl(file: string): string {
  const path = resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error("it is no regular file");
  return pathToFileURL(path).href;
}

/**
 * Imports a module and resolves to its exports. TypeScript is loaded by Node from 22.18 on, and by the
 * optional package jiti before. Rejects with the error that the module throws.
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
