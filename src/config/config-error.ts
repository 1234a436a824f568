/** A config file that cannot be used. */
import { defined } from "../../ir/defined.js";
import { CompileError, error, type Diagnostic } from "../../ir/diagnostic.js";

/**
 * Error for a config file that cannot be used (TC018), after which the process exits with code 2. Each
 * message begins with the file name.
 */
export class ConfigError extends CompileError {
  constructor(file: string, problems: readonly Pick<Diagnostic, "message" | "hint" | "span">[]) {
    super(
      problems.map(({ message, hint, span }) =>
        error("TC018", `${file}: ${message}`, { span, ...defined({ hint }) }),
      ),
    );
  }
}
