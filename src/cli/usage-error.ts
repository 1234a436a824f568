/** A command line that cannot be understood. */
import { defined } from "../../ir/defined.js";
import { CompileError, error } from "../../ir/diagnostic.js";

/** Exit code 2. */
export class UsageError extends CompileError {
  constructor(message: string, hint?: string) {
    super([error("TC701", message, defined({ hint }))]);
  }
}
