/** Search for a config file. Imports little, because every command does this search. */
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { ConfigError } from "./config-error.js";

const names = ["tilec.config.ts", "tilec.config.js", "tilec.config.mjs", "tilec.config.json"];

/**
 * Returns the path of the config file in a folder or in the nearest parent folder with a config file.
 * Undefined if there is none. Throws a ConfigError if a folder has two config files.
 */
export function findConfig(folder: string): string | undefined {
  const here = resolve(folder);
  const [file, other] = names.map((name) => join(here, name)).filter((file) => existsSync(file));
  if (file !== undefined && other !== undefined) {
    const message = `the folder also has ${shownPath(other)}; a folder may have one config`;
    throw new ConfigError(shownPath(file), [{ message, hint: `--config ${shownPath(file)}` }]);
  }
  const above = dirname(here);
  return file ?? (above === here ? undefined : findConfig(above));
}

/** Returns the path of a file relative to the working directory, for messages. */
export const shownPath = (file: string): string => relative(process.cwd(), file);
