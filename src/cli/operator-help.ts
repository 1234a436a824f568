/** Help on operators: their names by dialect, and the inputs and attributes of one. */
import type { Command } from "commander";
import {
  attributeAliases,
  attributesOf,
  dialectsOf,
  inputName,
  opDefs,
  operatorNames,
  type NamedAttr,
  type OpDef,
  type Operators,
} from "../../ir/index.js";
import { camelCase } from "../../ir/ops/attributes.js";
import { table } from "../report/table.js";
import { argumentOf, dashed } from "./flag-values.js";
import { helpWidth } from "./help-layout.js";
import { operatorNamed, plainDialect } from "./named-operator.js";

/**
 * Returns a text table of all operators, with one row for each dialect, followed by an explanation of `--op`.
 */
export function listOperators(operators: Operators = opDefs): string {
  const rows = dialectsOf(operators).map((dialect) => [
    dialect,
    operatorNames(dialect, operators).join(", "),
  ]);
  const named = `--op NAME is an operator of ${plainDialect}, and --op DIALECT.NAME one of another dialect.`;
  return `${table(["Dialect", "Operators"], rows, helpWidth)}\n\n${named}\nInputs and attributes of one: tilec help op DIALECT.NAME`;
}

/**
 * Returns the help text of one operator: the inputs and the attributes, with the command-line flag for every
 * input and attribute.
 */
export function describeOperator(def: OpDef): string {
  const count = def.inputs?.length ?? 2;
  const inputs = Array.from({ length: count }, (_, k) => {
    const name = inputName(def, k);
    const again = k > 1 ? ", repeated" : "";
    const optional = def.optional?.includes(name) === true ? " (may be left out)" : "";
    return [name, `--${k === 0 ? "data" : `indices${again}`}${optional}`];
  });
  const further = def.variadic === true ? [["…", "--indices, repeated"]] : [];
  const attributes = [...attributesOf(def)].map(([key, attribute]) => attributeRow(key, attribute));
  const { oob } = def.attrs;
  const policy = oob === undefined ? [] : [attributeRow("oob", { name: "oob", spec: oob })];
  return [
    def.name,
    table(["Input", "Flag"], [...inputs, ...further], helpWidth),
    table(["Attribute", "Meaning"], [...attributes, ...policy], helpWidth),
  ].join("\n\n");
}

/**
 * Returns the row of one attribute in the help of an operator: first the command-line flag, then the meaning,
 * allowed words, default value and other names of the flag.
 */
function attributeRow(key: string, { name, spec }: NamedAttr): readonly string[] {
  const names = [spec.argument ?? name, name].map((word) =>
    camelCase(word.charAt(0).toLowerCase() + word.slice(1)),
  );
  const [flag = key, ...others] = new Set(
    [...names.filter((word) => attributeAliases.has(word)), camelCase(key)].map(dashed),
  );
  const words = spec.kind === "word" ? `: ${spec.words.join(", ")}` : "";
  const given = spec.default === undefined ? "" : ` (default ${String(spec.default)})`;
  const also = others.map((other) => `; or --${other}`).join("");
  return [`--${flag} <${argumentOf(spec.kind)}>`, `${spec.help}${words}${given}${also}`];
}

/**
 * Makes `--help` of a command also list the inputs and attributes of the operator that `--op` names. For an
 * unknown operator, printing the help throws a UsageError.
 */
export const addOperatorHelp = (command: Command, operators: Operators | undefined): Command =>
  command.addHelpText("after", () => {
    const { op, dialect } = command.opts<{ readonly op?: string; readonly dialect?: string }>();
    if (op === undefined) return "";
    return `\n${describeOperator(operatorNamed(op, dialect, operators))}`;
  });
