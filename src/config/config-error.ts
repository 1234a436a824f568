/** A config file that cannot be used. */
import { defined } from "../../ir/defined.js";
import { CompileError, error, type Diagnostic } from "../../ir/diagnostic.js";

/** TC018, each message with the file before it. Exit code 2. */
export class ConfigError extends CompileError {
  constructor(file: string, problems: readonly Pick<Diagnostic, "message" | "hint" | "span">[]) {
    super(
      problems.map(({ message, hint, span }) =>
        error("TC018", `${file}: ${message}`, { span, ...defined({ hint }) }),
      ),
    );
  }
}
