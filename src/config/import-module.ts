/** A user's JavaScript or TypeScript module, loaded. */
import { extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Thrown for TypeScript where neither Node nor a loader reads it. */
export class NoTypeScript extends Error {}

/** Its exports. TypeScript is Node's own from 22.18 on; before, jiti's, which nobody has to have. Rejects with what the module throws. */
export async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(file);
  if (!/^\.[cm]?ts$/.test(extname(path)) || readsTypeScript())
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  const loader = await import("jiti").catch(() => undefined);
  if (loader === undefined)
    throw new NoTypeScript(`Node ${process.versions.node} does not load TypeScript by itself`);
  const jiti = loader.createJiti(import.meta.url, { fsCache: false, interopDefault: false });
  return jiti.import(path);
}

/** Node says so in `process.features`, of which the types of Node 20 know nothing. */
const readsTypeScript = (): boolean => Boolean(Reflect.get(process.features, "typescript"));
