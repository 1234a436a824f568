/** tilec's own package, from its sources and its build alike: a module of the build is in a file of another name. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

interface Manifest {
  readonly version: string;
  readonly bin: { readonly tilec: string };
}

const manifest = require("tilec/package.json") as Manifest;

export const { version } = manifest;

/** The path of one of its files. */
export const packageFile = (path: string): string =>
  join(dirname(require.resolve("tilec/package.json")), path);

/** The built command's path, for processes that run it. */
export const packageCommand = packageFile(manifest.bin.tilec);
