/** Attributes that several dialects have, and what an operator's attributes are to a builder. */
import { readPolicies, type OutOfBounds } from "../access.js";
import type { Attrs, AttrValue } from "../attrs.js";
import { wordAttr, type AttrSpec, type OpDef, type OpInputs } from "./op-def.js";

/** Definition of the attribute `axis`: the axis along which indices select; default 0. */
export const axis = {
  key: "axis",
  kind: "int",
  default: 0,
  help: "axis or dim that the indices choose along",
} as const satisfies AttrSpec;

/** Definition of the attribute `axis` under the name `dim`, as torch and PyPTO have it; default 0. */
export const dimAxis = { ...axis, argument: "dim" } as const satisfies AttrSpec;

/** Definition of the attribute `axis` of operators that take the data as flat without an axis. */
export const flatAxis = {
  key: "axis",
  kind: "int",
  help: `${axis.help}; absent, the array counts as flat`,
} as const satisfies AttrSpec;

/**
 * Definition of the attribute `mode`: an operator's out-of-range policy in the framework's own words.
 * `fallback`: default word.
 */
export const modeSpec = <const Words extends readonly string[]>(words: Words, fallback: Words[number]) =>
  ({
    key: "mode",
    kind: "word",
    words,
    default: fallback,
    help: "what an index out of range means, in the framework's word",
  }) as const satisfies AttrSpec;

/**
 * Definition of the attribute `batchDims`: the number of leading dims that data and indices of gather_nd have
 * in common; default 0.
 */
export const batchDims = {
  key: "batchDims",
  kind: "int",
  default: 0,
  help: "leading dims that data and indices of gather_nd share",
} as const satisfies AttrSpec;

/**
 * Returns the definition of the attribute `oob`, an operator's out-of-range policy for reads. `fallback`:
 * default policy.
 */
export const oobSpec = (fallback: OutOfBounds) =>
  ({
    key: "oob",
    kind: "word",
    words: readPolicies,
    default: fallback,
    help: "what an index out of range means",
  }) as const satisfies AttrSpec;

/** Returns an operator's out-of-range policy, the value of the attribute `oob`. */
export const oobOf = (inputs: OpInputs): OutOfBounds => wordAttr(inputs.attrs, "oob") as OutOfBounds;

/**
 * Returns the key of an attribute in JSON files of test cases. `name`: name of the attribute in the text form
 * (`.tir`).
 */
export const keyOfAttr = (name: string, { key }: AttrSpec): string => key ?? camelCase(name);

/** Returns a name in camel case: `block_size` gives `blockSize`. */
export const camelCase = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

type ArgumentOf<S extends AttrSpec> = S extends { readonly argument: infer A extends string }
  ? A
  : S extends { readonly key: infer K extends string }
    ? K
    : never;
type ValueOf<S extends AttrSpec> = S extends { readonly later: true; readonly words: readonly (infer W)[] }
  ? W | (string & Record<never, never>)
  : S extends { readonly words: readonly (infer W)[] }
    ? W
    : S extends { readonly kind: "ints" }
      ? readonly number[]
      : S extends { readonly kind: "text" }
        ? string
        : number;

/** Arguments of an operator's builder function: one optional argument for each attribute. */
export type ArgumentsOf<D extends OpDef> = {
  readonly [Name in keyof D["attrs"] as ArgumentOf<D["attrs"][Name]>]?: ValueOf<D["attrs"][Name]>;
};

/**
 * Returns an operator's attributes, by name in the text form (`.tir`), from the arguments of the operator's
 * builder function. Absent arguments are omitted.
 */
export function attrsFrom<D extends OpDef>(def: D, args: ArgumentsOf<D>): Attrs {
  const given = new Map<string, AttrValue | undefined>(Object.entries(args));
  return Object.fromEntries(
    Object.entries(def.attrs).flatMap(([name, spec]) => {
      const value = given.get(spec.argument ?? keyOfAttr(name, spec));
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
