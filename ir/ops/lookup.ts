/** Operators and attributes by the names that case files and flags give them. */
import { camelCase, keyOfAttr } from "./attributes.js";
import type { AttrSpec, OpDef, Operators } from "./op-def.js";
import { dialectOf, unqualifiedName } from "./operator-names.js";
import { findOp, opDefs, type AttributeKey, type Dialect } from "./registry.js";

export { dialectOf, operatorsMeant } from "./operator-names.js";

/** DirectML's `BatchDimensionCount` in camel case. */
const lowerFirst = (word: string): string => word.charAt(0).toLowerCase() + word.slice(1);
const unique = <T>(list: readonly T[]): readonly T[] => [...new Set(list)];

/** What case files and flags call an operator beside its dialect: its kind, where that is no other operator's own name. */
export function commonName(def: OpDef, operators: Operators = opDefs): string {
  const { kind } = def;
  const taken = kind === undefined || operatorNamed(dialectOf(def), kind, operators)?.kind !== kind;
  return taken ? unqualifiedName(def) : kind;
}

/** What its framework's tests call so, else the operator of this name, else the dialect's first of this kind. */
function operatorNamed(dialect: string, name: string, operators: Operators): OpDef | undefined {
  const inDialect = operators.filter((def) => dialectOf(def) === dialect);
  const tested = inDialect.find((def) => def.testName === name);
  return tested ?? findOp(`${dialect}.${name}`, operators) ?? inDialect.find((def) => def.kind === name);
}

/** The dialects of operators, in their order. */
export const dialectsOf = (operators: Operators): readonly string[] => unique(operators.map(dialectOf));
/** Every built-in dialect, in the order of the registry. */
export const dialects = dialectsOf(opDefs) as readonly Dialect[];

/** What may stand beside a dialect: common names, and each operator's own. */
export function operatorNames(dialect: string, operators: Operators = opDefs): readonly string[] {
  const inDialect = operators.filter((def) => dialectOf(def) === dialect);
  return unique([...inDialect.map((def) => commonName(def, operators)), ...inDialect.map(unqualifiedName)]);
}

/** An attribute with its names in text and in descriptions. */
export interface NamedAttr {
  /** In text. */
  readonly name: string;
  readonly spec: AttrSpec;
}

/** An operator's attributes by key, without `oob`. */
export const attributesOf = (def: OpDef): ReadonlyMap<string, NamedAttr> =>
  new Map(
    Object.entries(def.attrs).flatMap(([name, spec]) =>
      name === "oob" ? [] : [[keyOfAttr(name, spec), { name, spec }] as const],
    ),
  );

/** What a flag for an attribute says. */
export type AttributeFlagText = Pick<AttrSpec, "kind" | "help">;

/** What a flag for each attribute key of these operators says. */
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

/** Those of the built-in operators. */
export const attributeFlags = attributeFlagsOf(opDefs) as ReadonlyMap<AttributeKey, AttributeFlagText>;

/** What frameworks call an attribute where its flag has another name: PyPTO's `dim` is the flag `axis`. */
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

/** What all say, then what some say behind it: dialects, or operators where others of their dialect do not say it. */
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
 * The operator that a dialect has under a name: its own (`gather` is torch.gather), else the common one (`gather_elements` is, too).
 * `keys` are those of the attributes given.
 */
export const operatorFor = (
  dialect: string,
  name: string,
  keys: readonly string[],
  operators: Operators = opDefs,
): OpDef | undefined => bestMatch(operatorNamed(dialect, name, operators), keys, operators);

/** The operator that a dialect has in place of another dialect's: one of its kind, if there is one. */
export const counterpartOf = ({ kind }: OpDef, dialect: string, keys: readonly string[]): OpDef | undefined =>
  bestMatch(
    opDefs.find((def) => dialectOf(def) === dialect && kind !== undefined && def.kind === kind),
    keys,
    opDefs,
  );

/** The operator of a name as in text (`pypto.gather`), or of a dialect and a common name (`pypto.gather_elements`). */
export function operatorInText(
  text: string,
  keys: readonly string[],
  operators: Operators = opDefs,
): OpDef | undefined {
  const split = text.indexOf(".");
  const [dialect, name] = [text.slice(0, split), text.slice(split + 1)];
  return bestMatch(findOp(text, operators), keys, operators) ?? operatorFor(dialect, name, keys, operators);
}

/** The dialect's operators of the same kind, itself among them. */
export const operatorKin = (named: OpDef, operators: Operators = opDefs): readonly OpDef[] =>
  operators.filter(
    (def) =>
      def === named ||
      (def.kind !== undefined && def.kind === named.kind && dialectOf(def) === dialectOf(named)),
  );

/** Where a dialect has several operators of one kind, the first that knows the most of the attributes given. */
function bestMatch(
  named: OpDef | undefined,
  keys: readonly string[],
  operators: Operators,
): OpDef | undefined {
  if (named === undefined) return undefined;
  const count = (def: OpDef): number => keys.filter((key) => attributesOf(def).has(key)).length;
  return operatorKin(named, operators).reduce((best, def) => (count(def) > count(best) ? def : best), named);
}
