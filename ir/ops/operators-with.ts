/** The built-in operators and a project's own. */
import { checkArgument } from "../argument.js";
import { CompileError, error } from "../diagnostic.js";
import type { Operators } from "./op-def.js";
import { opDefs } from "./registry.js";

/**
 * Returns the built-in operators followed by the operators `added`. Throws a CompileError (TC702) if two
 * operators have the same name.
 */
export function operatorsWith(added: Operators): Operators {
  checkArgument("operatorsWith", "list", added);
  const operators = [...opDefs, ...added];
  added.forEach(({ name }, k) => {
    const first = operators.findIndex((def) => def.name === name);
    if (first === opDefs.length + k) return;
    const other = first < opDefs.length ? "a built-in operator" : `operators[${first - opDefs.length}]`;
    throw new CompileError([error("TC702", `operators[${k}] is named ${name}, the name of ${other}`)]);
  });
  return operators;
}
