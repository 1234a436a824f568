/** Operators and attributes by the names that case files and flags give them. */
import { camelCase, keyOfAttr } from "./attributes.js";
import type { AttrSpec, OpDef, Operators } from "./op-def.js";
import { dialectOf, unqualifiedName } from "./operator-names.js";
import { findOp, opDefs, type AttributeKey, type Dialect } from "./registry.js";

export { dialectOf, operatorsMeant } from "./operator-names.js";

/** Returns a word with its first letter in lower case: DirectML's `BatchDimensionCount` in camel case. */
const lowerFirst = (word: string): string => word.charAt(0).toLowerCase() + word.slice(1);
const unique = <T>(list: readonly T[]): readonly T[] => [...new Set(list)];

/**
 * Returns the name of an operator in flags and JSON files of test cases, without the dialect. The name is the
 * operator's kind, such as `gather_elements`. If the kind is missing or ambiguous, the name is as in the text
 * form (`.tir`).
 */
export function commonName(def: OpDef, operators: Operators = opDefs): string {
  const { kind } = def;
  const taken = kind === undefined || operatorNamed(dialectOf(def), kind, operators)?.kind !== kind;
  return taken ? unqualifiedName(def) : kind;
}

/**
 * Returns the operator of a dialect that has a name; undefined if there is none. The name in the framework's
 * tests comes first, then the operator's own name, then the dialect's first operator of this kind.
 */
function operatorNamed(dialect: string, name: string, operators: Operators): OpDef | undefined {
  const inDialect = operators.filter((def) => dialectOf(def) === dialect);
  const tested = inDialect.find((def) => def.testName === name);
  return tested ?? findOp(`${dialect}.${name}`, operators) ?? inDialect.find((def) => def.kind === name);
}

/** Returns the names of the dialects of `operators`, without duplicates, in order of first occurrence. */
export const dialectsOf = (operators: Operators): readonly string[] => unique(operators.map(dialectOf));
/** Names of the built-in dialects, in the order of the registry. */
export const dialects = dialectsOf(opDefs) as readonly Dialect[];

/**
 * Returns all names of a dialect's operators in flags and JSON files of test cases, without duplicates. The
 * names from {@link commonName} precede the names in the text form (`.tir`).
 */
export function operatorNames(dialect: string, operators: Operators = opDefs): readonly string[] {
  const inDialect = operators.filter((def) => dialectOf(def) === dialect);
  return unique([...inDialect.map((def) => commonName(def, operators)), ...inDialect.map(unqualifiedName)]);
}

/** Attribute of an operator: the name in the text form (`.tir`) and the definition. */
export interface NamedAttr {
  /** Name in the text form (`.tir`). */
  readonly name: string;
  readonly spec: AttrSpec;
}

/** Returns an operator's attributes, without `oob`, keyed as in JSON files of test cases. */
export const attributesOf = (def: OpDef): ReadonlyMap<string, NamedAttr> =>
  new Map(
    Object.entries(def.attrs).flatMap(([name, spec]) =>
      name === "oob" ? [] : [[keyOfAttr(name, spec), { name, spec }] as const],
    ),
  );

/** Kind and help text of the command-line flag for an attribute. */
export type AttributeFlagText = Pick<AttrSpec, "kind" | "help">;

/**
 * Returns the kind and help text of the command-line flag for each attribute of `operators`. Keys are as in
 * JSON files of test cases.
 */
export const attributeFlagsOf = (operators: Operators): ReadonlyMap<string, AttributeFlagText> =>
  new Map(
    unique(operators.flatMap((def) => [...attributesOf(def).keys()])).map((key) => {
      const specs = operators.flatMap((def) => {
        const spec = attributesOf(def).get(key)?.spec;
        return spec === undefined ? [] : [{ ...spec, def }];
      });
      const [kind = "word", ...others] = unique(specs.map((spec) => spec.kind));
      return [key, { kind: others.length === 0 ? kind : "word", help: helpOf(specs) }];
    }),
  );

/**
 * Kind and help text of the command-line flag for each attribute of the built-in operators. Keys are as in
 * JSON files of test cases.
 */
export const attributeFlags = attributeFlagsOf(opDefs) as ReadonlyMap<AttributeKey, AttributeFlagText>;

/**
 * Map from the camel-case framework name of an attribute to the key of the attribute's flag. PyPTO's `dim`,
 * for example, maps to `axis`. Names that are flags themselves are omitted.
 */
export const attributeAliases: ReadonlyMap<string, AttributeKey> = new Map(
  opDefs
    .flatMap((def) => [...attributesOf(def)])
    .flatMap(([key, { name, spec }]) =>
      [name, spec.argument ?? name].map(
        (word) => [camelCase(lowerFirst(word)), key as AttributeKey] as const,
      ),
    )
    .filter(([alias]) => ![...attributeFlags.keys()].some((key) => camelCase(key) === alias)),
);

/**
 * Returns the help text of the flag for an attribute: the distinct help sentences of all operators with the
 * attribute. A sentence that only some operators have is followed by the names of the dialects or operators
 * in parentheses.
 */
function helpOf(specs: readonly (Pick<AttrSpec, "help"> & { readonly def: OpDef })[]): string {
  const sentences = unique(specs.flatMap(({ help }) => help.split("; ")));
  return sentences
    .map((sentence) => {
      const says = ({ help }: Pick<AttrSpec, "help">): boolean => help.split("; ").includes(sentence);
      const saying = specs.filter(says);
      const names = saying.map(({ def }) => {
        const dialect = dialectOf(def);
        return specs.every((spec) => dialectOf(spec.def) !== dialect || says(spec)) ? dialect : def.name;
      });
      return saying.length === specs.length ? sentence : `${sentence} (${unique(names).join(", ")})`;
    })
    .join("; ");
}

/**
 * Returns the operator of a dialect with a given name or kind (dialect-free operator); undefined if there is
 * none. If several operators have the kind, returns the operator that accepts the most attributes of the list
 * `keys`.
 */
export const operatorFor = (
  dialect: string,
  name: string,
  keys: readonly string[],
  operators: Operators = opDefs,
): OpDef | undefined => bestMatch(operatorNamed(dialect, name, operators), keys, operators);

/**
 * Returns the operator of `dialect` with the same kind (dialect-free operator) as the given operator;
 * undefined if there is none. If several operators have the kind, returns the operator that accepts the most
 * attributes of the list `keys`.
 */
export const counterpartOf = ({ kind }: OpDef, dialect: string, keys: readonly string[]): OpDef | undefined =>
  bestMatch(
    opDefs.find((def) => dialectOf(def) === dialect && kind !== undefined && def.kind === kind),
    keys,
    opDefs,
  );

/**
 * Returns the operator that a text names; undefined if there is none. `text`: a name in the text form
 * (`.tir`), or a dialect and a kind, such as `pypto.gather_elements`. If several operators have the kind,
 * returns the operator that accepts the most attributes of the list `keys`.
 */
export function operatorInText(
  text: string,
  keys: readonly string[],
  operators: Operators = opDefs,
): OpDef | undefined {
  const split = text.indexOf(".");
  const [dialect, name] = [text.slice(0, split), text.slice(split + 1)];
  return bestMatch(findOp(text, operators), keys, operators) ?? operatorFor(dialect, name, keys, operators);
}

/** Returns the operators that have the dialect and kind of `named`, including `named`. */
export const operatorKin = (named: OpDef, operators: Operators = opDefs): readonly OpDef[] =>
  operators.filter(
    (def) =>
      def === named ||
      (def.kind !== undefined && def.kind === named.kind && dialectOf(def) === dialectOf(named)),
  );

/**
 * Returns the operator, of the kind and dialect of `named`, that accepts the most attributes of the list
 * `keys`. In a tie, `named` is preferred. Undefined if `named` is undefined.
 */
function bestMatch(
  named: OpDef | undefined,
  keys: readonly string[],
  operators: Operators,
): OpDef | undefined {
  if (named === undefined) return undefined;
  const count = (def: OpDef): number => keys.filter((key) => attributesOf(def).has(key)).length;
  return operatorKin(named, operators).reduce((best, def) => (count(def) > count(best) ? def : best), named);
}
