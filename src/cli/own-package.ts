/** tilec's own package, from its sources and its build alike. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

export const { version } = require("tilec/package.json") as { readonly version: string };

/** The path of one of its files. */
export const ownFile = (path: string): string => join(dirname(require.resolve("tilec/package.json")), path);
