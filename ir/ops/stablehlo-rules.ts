/**
 * Rules that StableHLO's gather and scatter share: their types, and constraints on lists of dims, by the
 * numbers of the specification.
 */
import { error } from "../diagnostic.js";
import { at, formatShape, type DType, type Shape } from "../types.js";
import { RuleError, type AttrSpec, type OpInputs, type RuleCode } from "./op-def.js";

/**
 * Element types of data in StableHLO's gather and scatter that tilec supports, all of at least one byte
 * (openxla/stablehlo docs/spec.md, Types, TensorElementType).
 */
export const dataTypes: readonly DType[] = [
  ...(["bool", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32"] as const),
  ...(["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu"] as const),
  ...(["f32", "i64", "u64", "f64", "c64", "c128"] as const),
];

/**
 * Numbered constraint of the StableHLO specification (C1, C2, …), with the diagnostic code for an operation
 * that breaks the constraint. `broken`: returns the end of the error message; undefined if the constraint is
 * satisfied.
 */
export interface Constraint<Operation> {
  readonly number: `C${number}`;
  readonly code: RuleCode;
  readonly broken: (operation: Operation) => string | undefined;
}

/** Returns `message` if `holds` is false; undefined if `holds` is true. */
export const unless = (holds: boolean, message: string): string | undefined => (holds ? undefined : message);

/**
 * Returns an error message if a list contains a dim twice; undefined for a valid list. `name`: name of the
 * list in the message.
 */
export const unique = (name: string, list: readonly number[]): string | undefined =>
  unless(new Set(list).size === list.length, `takes each dim once in ${name}, not ${formatShape(list)}`);

/**
 * Returns an error message if a list of numbers is not in ascending order; undefined for a valid list.
 * `name`: name of the list in the message.
 */
export const sorted = (name: string, list: readonly number[]): string | undefined =>
  unless(
    list.every((entry, k) => k === 0 || at(list, k - 1) <= entry),
    `takes ${name} in rising order, not ${formatShape(list)}`,
  );

/**
 * Returns an error message if a list contains a number outside [0, `rank`); undefined for a valid list.
 * `name`: name of the list in the message.
 */
export const within = (name: string, list: readonly number[], rank: number): string | undefined =>
  unless(
    list.every((entry) => entry >= 0 && entry < rank),
    `takes ${name} in [0, ${rank - 1}], not ${formatShape(list)}`,
  );

/** List of dims of a tensor, with the list's and the tensor's names for messages, and the tensor's shape. */
export interface NamedDims {
  readonly name: string;
  readonly dims: readonly number[];
  readonly tensor: string;
  readonly shape: Shape;
}

/**
 * Returns an error message if `index_vector_dim` is outside [0, rank of the indices]; undefined for a valid
 * value.
 */
export const vectorDim = (indexVectorDim: number, { length }: Shape): string | undefined =>
  unless(
    indexVectorDim >= 0 && indexVectorDim <= length,
    `takes index_vector_dim in [0, ${length}], not ${indexVectorDim}`,
  );

/**
 * Returns an error message if `index_vector_dim` is among the batch dims of the indices; undefined for a
 * valid value.
 */
export const vectorApart = (indexVectorDim: number, { name, dims }: NamedDims): string | undefined =>
  unless(
    !dims.includes(indexVectorDim),
    `takes no index_vector_dim among ${name}, and ${indexVectorDim} is in ${formatShape(dims)}`,
  );

/**
 * Returns an error message if the length of an index map differs from the number of components of an index;
 * undefined for a valid map. `map`: name of the index map in the message.
 */
export function components(
  map: string,
  { length }: readonly number[],
  indices: Shape,
  indexVectorDim: number,
): string | undefined {
  const count = indices[indexVectorDim] ?? 1;
  return unless(
    length === count,
    `takes ${map} of ${count}, one entry for each component of an index, not of ${length}`,
  );
}

/** Returns an error message if two lists of batch dims differ in length; undefined for valid lists. */
export const asMany = (a: NamedDims, b: NamedDims): string | undefined =>
  unless(
    a.dims.length === b.dims.length,
    `takes as many ${a.name} as ${b.name}, not ${a.dims.length} and ${b.dims.length}`,
  );

/**
 * Returns an error message if a pair of batch dims has different extents in the two tensors; undefined for
 * valid pairs. Dims that a tensor does not have are ignored.
 */
export function sameSizes(a: NamedDims, b: NamedDims): string | undefined {
  const [sizes, others] = [a, b].map(({ dims, shape }) => dims.map((d) => shape[d])) as [
    (number | undefined)[],
    (number | undefined)[],
  ];
  const k = sizes.findIndex((size, pair) => others[pair] !== undefined && size !== others[pair]);
  return unless(
    k === -1,
    `takes batching dims of one size, and ${a.tensor} dim ${a.dims[k] ?? 0} is ${sizes[k] ?? 0} ` +
      `and ${b.tensor} dim ${b.dims[k] ?? 0} is ${others[k] ?? 0}`,
  );
}

/**
 * Throws a RuleError with one diagnostic for each constraint that an operation breaks. `who`: the operation's
 * name in messages.
 */
export function checkConstraints<Operation>(
  inputs: OpInputs,
  who: string,
  constraints: readonly Constraint<Operation>[],
  operation: Operation,
): void {
  const broken = constraints.flatMap(({ number, code, broken: judge }) => {
    const message = judge(operation);
    return message === undefined ? [] : [error(code, `${who} (${number}) ${message}`, { span: inputs.span })];
  });
  if (broken.length > 0) throw new RuleError(broken);
}

/**
 * Returns the definition of an attribute that is a list of dims; default empty. `key`: key of the attribute
 * in JSON files of test cases.
 */
export const dims = <Key extends string>(key: Key, help: string) =>
  ({ key, kind: "ints", default: [], help }) as const satisfies AttrSpec;
