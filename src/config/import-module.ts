/** A user's JavaScript or TypeScript module, loaded. */
import { statSync } from "node:fs";
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Thrown for TypeScript where neither Node nor a loader reads it. */
export class NoTypeScript extends Error {}

/** Returns the URL to import a module by. Throws an Error for a device, pipe or folder, which Node would read for ever or not at all. */
export function moduleUrl(file: string): string {
  const path = resolve(file);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new Error("it is no regular file");
  return pathToFileURL(path).href;
}

/** Its exports. TypeScript is Node's own from 22.18 on; before, jiti's, which nobody has to have. Rejects with what the module throws. */
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

/** Node says so in `process.features`, of which the types of Node 20 know nothing. */
const readsTypeScript = (): boolean => Boolean(Reflect.get(process.features, "typescript"));
