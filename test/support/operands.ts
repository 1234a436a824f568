/** The operand of a function that has a role. */
import type { Func, Operand, Role } from "../../ir/index.js";

export const operandOf = (func: Pick<Func, "operands">, role: Role): Operand =>
  func.operands.find((operand) => operand.role === role)!;
