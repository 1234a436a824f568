/** Builders of operators whose arguments are their inputs and attributes, as the framework names them. */
import { attrsFrom, invariant, type ArgumentsOf, type OpDef, type SourceFunc } from "../../ir/index.js";
import { camelCase } from "../../ir/ops/attributes.js";
import type { Field } from "../../backends/index.js";
import { attributeFields, checkArguments, pairField } from "../api/check-options.js";
import { program, tensorTypeOf, type TypePair } from "../api/program.js";

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type InputNames<D extends OpDef> = D extends { readonly inputs: readonly (infer Name extends string)[] }
  ? Name
  : "data" | "indices";

type OptionalNames<D extends OpDef> = D extends { readonly optional: readonly (infer Name extends string)[] }
  ? Name
  : never;

type Tensors<D extends OpDef> = {
  readonly [Name in Exclude<InputNames<D>, OptionalNames<D>> as CamelCase<Name>]: TypePair;
} & { readonly [Name in OptionalNames<D> as CamelCase<Name>]?: TypePair };

/**
 * Arguments of an operator's builder function: the type of each input, and the attributes. `Needs`: names of
 * attributes that this builder requires although the operator does not.
 */
export type BuilderArguments<D extends OpDef, Needs extends keyof ArgumentsOf<D> = never> = Tensors<D> &
  ArgumentsOf<D> &
  Required<Pick<ArgumentsOf<D>, Needs>>;

/**
 * Returns the builder of an operator: a function from input types and attributes to a source program. The
 * builder throws a CompileError (TC1xx) for arguments that break a rule. `needs`: attributes that the builder
 * requires although the operator does not.
 */
export function builder<D extends OpDef, Needs extends keyof ArgumentsOf<D> & string = never>(
  def: D,
  ...needs: readonly Needs[]
): (args: BuilderArguments<D, Needs>) => SourceFunc {
  const { inputs = ["data", "indices"], optional = [] } = def;
  const names = inputs.map(camelCase);
  const required = names.filter((_, k) => !optional.some((name) => name === inputs[k]));
  const fields: Readonly<Record<string, Field>> = {
    ...Object.fromEntries(names.map((name) => [name, pairField])),
    ...attributeFields(def),
  };
  return (args) => {
    checkArguments(def.name, args, fields, [...required, ...needs]);
    const given = args as Readonly<Record<string, TypePair | undefined>>;
    const [data, indices, ...others] = names.flatMap((name) => {
      const pair = given[name];
      return pair === undefined ? [] : [tensorTypeOf(pair)];
    });
    invariant(data !== undefined && indices !== undefined, "an operator has data and indices");
    return program({ op: def.name, attrs: attrsFrom(def, args), data, indices, others });
  };
}
