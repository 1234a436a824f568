/**
 * tilec's own package, from its sources and its build alike: a module of the build is in a file of another
 * name.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

interface Manifest {
  readonly version: string;
  readonly bin: { readonly tilec: string };
}

const manifest = require("tilec/package.json") as Manifest;

/** Version of the tilec package. */
export const { version } = manifest;

/** Returns the absolute path of a file in the tilec package. `path`: path relative to the package folder. */
export const packageFile = (path: string): string =>
  join(dirname(require.resolve("tilec/package.json")), path);

/** Absolute path of the built `tilec` command. */
export const packageCommand = packageFile(manifest.bin.tilec);
