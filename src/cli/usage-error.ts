/** A command line that cannot be understood. */
import { defined } from "../../ir/defined.js";
import { CompileError, error } from "../../ir/diagnostic.js";

/** Error for an invalid command line (TC701), after which the process exits with code 2. */
export class UsageError extends CompileError {
  constructor(message: string, hint?: string) {
    super([error("TC701", message, defined({ hint }))]);
  }
}
