/** Operators and attributes by the names that case files and flags give them. */
import type { AttrSpec, OpDef } from "./op-def.js";
import { findOp, opDefs, type AttributeKey, type Dialect } from "./registry.js";

const unique = <T>(list: readonly T[]): readonly T[] => [...new Set(list)];

/** Whose rules a definition holds. */
export const dialectOf = (def: OpDef): Dialect => def.name.slice(0, def.name.indexOf(".")) as Dialect;
const ownName = (def: OpDef): string => def.name.slice(def.name.indexOf(".") + 1);
/** What case files and flags call an operator beside its dialect. */
export const commonName = (def: OpDef): string => def.kind ?? ownName(def);

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
      return spec === undefined ? [] : [{ ...spec, dialect: dialectOf(def) }];
    });
    const [kind = "word", ...others] = unique(specs.map((spec) => spec.kind));
    return [key as AttributeKey, { kind: others.length === 0 ? kind : "word", help: helpOf(specs) }];
  }),
);

/** What all say, then what some dialects say behind it, with their names. */
function helpOf(specs: readonly (Pick<AttrSpec, "help"> & { readonly dialect: string })[]): string {
  const parts = unique(specs.flatMap(({ help }) => help.split("; ")));
  return parts
    .map((part) => {
      const saying = specs.filter(({ help }) => help.split("; ").includes(part));
      const names = unique(saying.map(({ dialect }) => dialect)).join(", ");
      return saying.length === specs.length ? part : `${part} (${names})`;
    })
    .join("; ");
}

/**
 * The operator that a dialect has under a name: a common one (`gather` is pypto.index_select), else its own
 * (`index_select`). `keys` are those of the attributes given.
 */
export function operatorFor(dialect: string, name: string, keys: readonly string[]): OpDef | undefined {
  const common = opDefs.find((def) => dialectOf(def) === dialect && def.kind === name);
  return knowingMost(common ?? findOp(`${dialect}.${name}`), keys);
}

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
