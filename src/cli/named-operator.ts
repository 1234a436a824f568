/** The operator that `--op` and `--dialect` name, or what to type in its place. */
import {
  dialectOf,
  dialectsOf,
  findOp,
  opDefs,
  operatorFor,
  operatorInText,
  operatorNames,
  operatorsMeant,
  type OpDef,
  type Operators,
} from "../../ir/index.js";
import { note } from "./terminal.js";
import { UsageError } from "./usage-error.js";

/** Dialect of `--op` if no dialect is named. */
export const plainDialect = "onnx";

/**
 * Returns the operator that `--op` and `--dialect` (`given`) name: `--op gather --dialect onnx` is `--op
 * onnx.gather`. Throws a UsageError for an unknown or ambiguous operator, or if the two flags name different
 * dialects. `keys`: names of the attributes that the user gave, which select among operators of one name.
 */
export function operatorNamed(
  op: string,
  given: string | undefined,
  operators: Operators = opDefs,
  keys: readonly string[] = [],
): OpDef {
  const [prefix] = op.includes(".") ? op.split(".", 1) : [];
  if (prefix !== undefined && given !== undefined && given !== prefix) {
    throw new UsageError(`--op ${op} and --dialect ${given} disagree`);
  }
  const named = prefix ?? given;
  const dialect = named ?? plainDialect;
  if (prefix === undefined) refuseTwoNames(dialect, op, operators);
  const def =
    prefix === undefined ? operatorFor(dialect, op, keys, operators) : operatorInText(op, keys, operators);
  if (def === undefined) {
    const name = op.slice(op.indexOf(".") + 1);
    const message =
      named === undefined
        ? `${dialect} has no operator ${op}, and --op ${op} names no dialect`
        : `dialect ${dialect} has no operator ${name}`;
    const without = given === undefined ? "" : `, without --dialect ${given}`;
    throw new UsageError(message, operatorHint(`${dialect}.${name}`, operators, without));
  }
  if (named === undefined) {
    const others = operators.filter((def) => !opDefs.includes(def) && def.name.endsWith(`.${op}`));
    for (const { name } of others) note(`--op ${op} is ${def.name}; the config's is --op ${name}`);
  }
  return def;
}

/**
 * Returns a hint for an operator name that does not exist: similar names, or the operators of the dialect, or
 * all dialects. `without`: text after the similar names, for example `, without --dialect onnx`.
 */
function operatorHint(name: string, operators: Operators, without: string): string {
  const meant = operatorsMeant(name, operators);
  if (meant.length > 0) return `--op ${meant.join(" or ")}${without}`;
  const dialect = name.slice(0, name.indexOf("."));
  const names = operatorNames(dialect, operators);
  return names.length === 0
    ? `the dialects are ${dialectsOf(operators).join(", ")}`
    : `${dialect} has ${names.join(", ")}`;
}

/**
 * Throws a UsageError if `op` has two meanings in a dialect: it is the name of one operator, and the name of
 * another operator in the dialect's own tests.
 */
function refuseTwoNames(dialect: string, op: string, operators: Operators): void {
  const def = findOp(`${dialect}.${op}`, operators);
  const tested = operators.find((def) => def.testName === op && dialectOf(def) === dialect);
  if (def === undefined || tested === undefined || def === tested) return;
  throw new UsageError(
    `--op ${op} --dialect ${dialect} is ${def.name}, and ${tested.name} in the names of its tests`,
    `--op ${def.name} or --op ${tested.name}`,
  );
}
