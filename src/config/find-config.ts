/** Where a config file lies. Imports little: every command looks for one. */
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ConfigError } from "./config-error.js";

const names = ["tilec.config.ts", "tilec.config.js", "tilec.config.mjs", "tilec.config.json"];

/** The config in a folder, or in the nearest one above that has one. Throws a ConfigError for a folder with two. */
export function findConfig(folder: string): string | undefined {
  const here = resolve(folder);
  const [file, other] = names.map((name) => join(here, name)).filter((file) => existsSync(file));
  if (file !== undefined && other !== undefined) {
    const message = `${shownPath(other)} lies beside it, and a folder has one config`;
    throw new ConfigError(shownPath(file), [{ message, hint: `--config ${shownPath(file)}` }]);
  }
  const above = dirname(here);
  return file ?? (above === here ? undefined : findConfig(above));
}

/** As somebody in the working directory writes it. */
export const shownPath = (file: string): string => relative(process.cwd(), file);
