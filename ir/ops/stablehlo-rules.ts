/**
 * Rules that StableHLO's gather and scatter share: their types, and constraints on lists of dims, by the
 * numbers of the specification.
 */
import { error } from "../diagnostic.js";
import { at, formatShape, type DType, type Shape } from "../types.js";
import { RuleError, type AttrSpec, type OpInputs, type RuleCode } from "./op-def.js";

/**
 * StableHLO's booleans, integers, floats and complex numbers of a byte and more, as far as tilec has them.
 * Source: openxla/stablehlo docs/spec.md, Types, TensorElementType.
 */
export const dataTypes: readonly DType[] = [
  ...(["bool", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32"] as const),
  ...(["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu"] as const),
  ...(["f32", "i64", "u64", "f64", "c64", "c128"] as const),
];

/** A sentence of the specification: what it takes instead, where an operation breaks it. */
export interface Constraint<Operation> {
  readonly number: `C${number}`;
  readonly code: RuleCode;
  readonly broken: (operation: Operation) => string | undefined;
}

/** Returns a message unless something holds. */
export const unless = (holds: boolean, message: string): string | undefined => (holds ? undefined : message);

/** Returns the message of a list with a dim twice. */
export const unique = (name: string, list: readonly number[]): string | undefined =>
  unless(new Set(list).size === list.length, `takes each dim once in ${name}, not ${formatShape(list)}`);

/** Returns the message of a list that does not rise. */
export const sorted = (name: string, list: readonly number[]): string | undefined =>
  unless(
    list.every((entry, k) => k === 0 || at(list, k - 1) <= entry),
    `takes ${name} in rising order, not ${formatShape(list)}`,
  );

/** Returns the message of a list with a dim that a rank lacks. */
export const within = (name: string, list: readonly number[], rank: number): string | undefined =>
  unless(
    list.every((entry) => entry >= 0 && entry < rank),
    `takes ${name} in [0, ${rank - 1}], not ${formatShape(list)}`,
  );

/** A list of dims with the name that an operation gives it, and the tensor whose dims they are. */
export interface NamedDims {
  readonly name: string;
  readonly dims: readonly number[];
  readonly tensor: string;
  readonly shape: Shape;
}

/** Returns the message of an index_vector_dim that is neither a dim of the indices nor their rank. */
export const vectorDim = (indexVectorDim: number, { length }: Shape): string | undefined =>
  unless(
    indexVectorDim >= 0 && indexVectorDim <= length,
    `takes index_vector_dim in [0, ${length}], not ${indexVectorDim}`,
  );

/** Returns the message of an index_vector_dim that is a batch dim of the indices. */
export const vectorApart = (indexVectorDim: number, { name, dims }: NamedDims): string | undefined =>
  unless(
    !dims.includes(indexVectorDim),
    `takes no index_vector_dim among ${name}, and ${indexVectorDim} is in ${formatShape(dims)}`,
  );

/**
 * Returns the message of an index map without one entry for each component of an index. `map`: its name in
 * the sentence.
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

/** Returns the message of batch dims that are not as many in both tensors. */
export const asMany = (a: NamedDims, b: NamedDims): string | undefined =>
  unless(
    a.dims.length === b.dims.length,
    `takes as many ${a.name} as ${b.name}, not ${a.dims.length} and ${b.dims.length}`,
  );

/**
 * Returns the message of batch dims of which a pair has two sizes; dims that no tensor has are left to {@link
 * within}.
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

/** Refuses an operation with every constraint that it breaks. `who`: its name. */
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

/** Returns the attribute of a list of dims. */
export const dims = <Key extends string>(key: Key, help: string) =>
  ({ key, kind: "ints", default: [], help }) as const satisfies AttrSpec;
