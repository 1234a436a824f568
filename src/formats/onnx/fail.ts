/** Everything wrong with a model is TC014, and says which file and what in it. */
import { defined, CompileError, error, type Diagnostic } from "../../../ir/index.js";

/**
 * Returns an error (TC014) about a model. The message begins with `where`, which names the file and the node.
 */
export const problem = (where: string, message: string, hint?: string): Diagnostic =>
  error("TC014", `${where}: ${message}`, defined({ hint }));

/**
 * Returns a CompileError (TC014) about a model. The message begins with `where`, which names the file and the
 * node.
 */
export const modelError = (where: string, message: string, hint?: string): CompileError =>
  new CompileError([problem(where, message, hint)]);

const longestName = 80;

/** Returns a name from a model in quotes, escaped and cut to `longestName` characters. */
export const quoted = (name: string): string =>
  JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
