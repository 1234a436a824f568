/** A command line that cannot be understood. */
import type { CommanderError } from "commander";
import { defined } from "../../ir/defined.js";
import { CompileError, error } from "../../ir/diagnostic.js";

/** Error for an invalid command line (TC701), after which the process exits with code 2. */
export class UsageError extends CompileError {
  constructor(message: string, hint?: string) {
    super([error("TC701", message, defined({ hint }))]);
  }
}

/**
 * Returns the message of an error of commander, the library that parses flags. The wording is that of tilec's
 * own usage errors.
 */
export const commanderText = ({ message }: CommanderError): string =>
  message
    .replace(/^error: /, "")
    .replace(
      /^option '(--[\w-]+).*' cannot be used with option '(--[\w-]+).*'$/,
      "$1 cannot be used with $2",
    );
