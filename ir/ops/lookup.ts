/** Operators and attributes by the names that case files and flags give them. */
import type { AttrSpec, OpDef } from "./op-def.js";
import { findOp, opDefs, type AttributeKey, type Dialect } from "./registry.js";

const unique = <T>(list: readonly T[]): readonly T[] => [...new Set(list)];

/** Whose rules a definition holds. */
export const dialectOf = (def: OpDef): Dialect => def.name.slice(0, def.name.indexOf(".")) as Dialect;
const ownName = (def: OpDef): string => def.name.slice(def.name.indexOf(".") + 1);
/** What case files and flags call an operator beside its dialect: its kind, where that is no other operator's own name. */
export function commonName(def: OpDef): string {
  const { kind } = def;
  const taken = kind === undefined || operatorNamed(dialectOf(def), kind)?.kind !== kind;
  return taken ? ownName(def) : kind;
}

/** What its framework's tests call so, else the operator of this name, else the dialect's first of this kind. */
function operatorNamed(dialect: string, name: string): OpDef | undefined {
  const own = opDefs.filter((def) => dialectOf(def) === dialect);
  const tested = own.find((def) => def.testName === name);
  return tested ?? findOp(`${dialect}.${name}`) ?? own.find((def) => def.kind === name);
}

/** Every dialect, in the order of the registry. */
export const dialects: readonly Dialect[] = unique(opDefs.map(dialectOf));
/** Common names of operators, whatever the dialect. */
export const operatorKinds: readonly string[] = unique(opDefs.map(commonName));

/** What may stand beside a dialect: common names, and each operator's own. */
export function operatorNames(dialect: string): readonly string[] {
  const own = opDefs.filter((def) => dialectOf(def) === dialect);
  return unique([...own.map(commonName), ...own.map(ownName)]);
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
      name === "oob" ? [] : [[spec.key, { name, spec }] as const],
    ),
  );

/** What a flag for each attribute key says. */
export const attributeFlags: ReadonlyMap<AttributeKey, Pick<AttrSpec, "kind" | "help">> = new Map(
  unique(opDefs.flatMap((def) => [...attributesOf(def).keys()])).map((key) => {
    const specs = opDefs.flatMap((def) => {
      const spec = attributesOf(def).get(key)?.spec;
      return spec === undefined ? [] : [{ ...spec, def }];
    });
    const [kind = "word", ...others] = unique(specs.map((spec) => spec.kind));
    return [key as AttributeKey, { kind: others.length === 0 ? kind : "word", help: helpOf(specs) }];
  }),
);

/** What all say, then what some say behind it: dialects, or operators where others of their dialect do not say it. */
function helpOf(specs: readonly (Pick<AttrSpec, "help"> & { readonly def: OpDef })[]): string {
  const parts = unique(specs.flatMap(({ help }) => help.split("; ")));
  return parts
    .map((part) => {
      const says = ({ help }: Pick<AttrSpec, "help">): boolean => help.split("; ").includes(part);
      const saying = specs.filter(says);
      const names = saying.map(({ def }) => {
        const dialect = dialectOf(def);
        return specs.every((spec) => dialectOf(spec.def) !== dialect || says(spec)) ? dialect : def.name;
      });
      return saying.length === specs.length ? part : `${part} (${unique(names).join(", ")})`;
    })
    .join("; ");
}

/**
 * The operator that a dialect has under a name: its own (`gather` is torch.gather), else the common one (`gather_elements` is, too).
 * `keys` are those of the attributes given.
 */
export const operatorFor = (dialect: string, name: string, keys: readonly string[]): OpDef | undefined =>
  knowingMost(operatorNamed(dialect, name), keys);

/** The operator that a dialect has in place of another dialect's: one of its kind, if there is one. */
export const counterpartOf = ({ kind }: OpDef, dialect: string, keys: readonly string[]): OpDef | undefined =>
  knowingMost(
    opDefs.find((def) => dialectOf(def) === dialect && kind !== undefined && def.kind === kind),
    keys,
  );

/** The operator of a name as in text (`pypto.gather`), or of a dialect and a common name (`pypto.gather_elements`). */
export function operatorInText(text: string, keys: readonly string[]): OpDef | undefined {
  const split = text.indexOf(".");
  return knowingMost(findOp(text), keys) ?? operatorFor(text.slice(0, split), text.slice(split + 1), keys);
}

/** The dialect's operators of the same kind, itself among them. */
export const operatorKin = (named: OpDef): readonly OpDef[] =>
  opDefs.filter(
    (def) =>
      def === named ||
      (def.kind !== undefined && def.kind === named.kind && dialectOf(def) === dialectOf(named)),
  );

/** Where a dialect has several operators of one kind, the first that knows the most of the attributes given. */
function knowingMost(named: OpDef | undefined, keys: readonly string[]): OpDef | undefined {
  if (named === undefined) return undefined;
  const known = (def: OpDef): number => keys.filter((key) => attributesOf(def).has(key)).length;
  return operatorKin(named).reduce((best, def) => (known(def) > known(best) ? def : best), named);
}
