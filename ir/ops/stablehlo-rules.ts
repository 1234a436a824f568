/**
 * Types of StableHLO's gather and scatter, and the windows of an operand that indices name, with the
 * constraints on lists of dims that both operations have.
 */
import { defined } from "../defined.js";
import { error } from "../diagnostic.js";
import { add, constant, dim, type Linear } from "../linear.js";
import { at, formatShape, type DType, type Shape } from "../types.js";
import { intAttr, intsAttr, RuleError, type AttrSpec, type OpInputs, type RuleCode } from "./op-def.js";

/**
 * Element types of data in StableHLO's gather and scatter that tilec supports, all of at least one byte
 * (openxla/stablehlo docs/spec.md, Types, TensorElementType).
 */
export const dataTypes: readonly DType[] = [
  ...(["bool", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32"] as const),
  ...(["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "f8e8m0fnu"] as const),
  ...(["f32", "i64", "u64", "f64", "c64", "c128"] as const),
];

/** List of dims, with the name of the attribute that states it. */
export interface NamedDims {
  readonly name: string;
  readonly dims: readonly number[];
}

/**
 * Names of the attributes that are the lists of {@link Windows}. `window`: dims of the tensor of all windows
 * that lie inside a window. `left`: dims of the operand that windows leave out. `batch`, `indexBatch`: batch
 * dims of the operand and of the indices, in step. `indexMap`: dim of the operand that each component of an
 * index is for.
 */
export type WindowAttrs = Readonly<Record<"window" | "left" | "batch" | "indexBatch" | "indexMap", string>>;

/** Windows of the operand that indices name: shapes, and lists of dims. */
export interface Windows extends Readonly<Record<keyof WindowAttrs, NamedDims>> {
  /** Shape of the tensor that windows are taken from or written to. */
  readonly operand: Shape;
  readonly indices: Shape;
  /** Dim of the indices along which the components of an index lie. */
  readonly indexVectorDim: number;
  /** Rank of the tensor of all windows. */
  readonly rank: number;
}

/** Returns the windows of an operation. `rank`: absent where the tensor of windows is the result. */
export function windowsOf({ data, indices, attrs }: OpInputs, names: WindowAttrs, rank?: number): Windows {
  const list = (which: keyof WindowAttrs): NamedDims => ({
    name: names[which],
    dims: intsAttr(attrs, names[which]),
  });
  const indexVectorDim = intAttr(attrs, "index_vector_dim") ?? 0;
  const window = list("window");
  const outer = outerOfIndices({ indices: indices.shape, indexVectorDim });
  return {
    operand: data.shape,
    indices: indices.shape,
    indexVectorDim,
    rank: rank ?? outer.length + window.dims.length,
    window,
    left: list("left"),
    batch: list("batch"),
    indexBatch: list("indexBatch"),
    indexMap: list("indexMap"),
  };
}

/** Returns the dims of the indices that are dims of the tensor of windows. */
export const outerOfIndices = ({
  indices,
  indexVectorDim,
}: Pick<Windows, "indices" | "indexVectorDim">): readonly number[] =>
  indices.flatMap((_, d) => (d === indexVectorDim ? [] : [d]));

/** Returns the dims of the tensor of windows that lie outside of them, in order: those of the indices. */
export const outerOfWindows = ({ rank, window }: Pick<Windows, "rank" | "window">): readonly number[] =>
  Array.from({ length: rank }, (_, d) => d).filter((d) => !window.dims.includes(d));

/** Returns the dims of the operand that are dims of a window. */
export const windowOfOperand = ({ operand, left, batch }: Windows): readonly number[] =>
  operand.flatMap((_, d) => (left.dims.includes(d) || batch.dims.includes(d) ? [] : [d]));

/** Coordinates by which the tensor of windows and its dims name elements of the other tensors. */
export interface WindowCoords {
  /** Returns the coordinates at which a component of an index is read. */
  readonly component: (component: number) => readonly Linear[];
  /** Returns the coordinate along a dim of the operand, without the start of the window. */
  readonly offset: (d: number) => Linear;
  /** Dim of the tensor of windows that a dim of a window is, by dim of the operand. */
  readonly ofOperand: ReadonlyMap<number, number>;
  /** Dim of the tensor of windows that lies outside of a window, by dim of the indices. */
  readonly ofIndices: ReadonlyMap<number, number>;
}

/** Returns the coordinates of an operation that keeps its constraints. */
export function windowCoords(windows: Windows): WindowCoords {
  const { indices, indexVectorDim, window, batch, indexBatch } = windows;
  const outer = outerOfWindows(windows);
  const ofOperand = new Map(windowOfOperand(windows).map((d, k) => [d, at(window.dims, k)]));
  const ofIndices = new Map(outerOfIndices(windows).map((d, k) => [d, at(outer, k)]));
  const along = (place: number | undefined): Linear => (place === undefined ? constant(0) : dim(place));
  return {
    component: (component) =>
      indices.map((_, k) => (k === indexVectorDim ? constant(component) : along(ofIndices.get(k)))),
    offset(d) {
      const batching = batch.dims.indexOf(d);
      const place = batching === -1 ? undefined : ofIndices.get(at(indexBatch.dims, batching));
      return add(along(ofOperand.get(d)), along(place));
    },
    ofOperand,
    ofIndices,
  };
}

/**
 * Constraint of the StableHLO specification, with the diagnostic code for an operation that breaks it.
 * `broken`: returns the end of the error message; undefined if the constraint is satisfied.
 */
export interface Constraint<Operation> {
  readonly code: RuleCode;
  readonly broken: (operation: Operation) => string | undefined;
  /** Returns the hint of the error. */
  readonly hint?: (operation: Operation) => string;
}

/** Returns `message` if `holds` is false; undefined if `holds` is true. */
export const unless = (holds: boolean, message: string): string | undefined => (holds ? undefined : message);

/** Returns an error message if lists contain a dim twice; undefined for valid lists. */
const unique = (...lists: readonly NamedDims[]): string | undefined => {
  const dims = lists.flatMap((list) => list.dims);
  const names = lists.map(({ name }) => name).join(" and ");
  return unless(
    new Set(dims).size === dims.length,
    `takes each dim once in ${names}, not ${formatShape(dims)}`,
  );
};

/** Returns an error message if a list is not in ascending order; undefined for a valid list. */
const sorted = ({ name, dims }: NamedDims): string | undefined =>
  unless(
    dims.every((entry, k) => k === 0 || at(dims, k - 1) <= entry),
    `takes ${name} in rising order, not ${formatShape(dims)}`,
  );

/** Returns an error message if a list contains a dim outside [0, `rank`); undefined for a valid list. */
const within = ({ name, dims }: NamedDims, rank: number): string | undefined =>
  unless(
    dims.every((entry) => entry >= 0 && entry < rank),
    `takes ${name} in [0, ${rank - 1}], not ${formatShape(dims)}`,
  );

/** Returns the constraint on the number of the operand's dims. `lists`: names of its lists in the message. */
export const dimCount = (lists: string, tensor: string): Constraint<Windows> => ({
  code: "TC103",
  broken({ operand, window, left, batch }) {
    const counts = [window, left, batch].map(({ dims }) => dims.length);
    return unless(
      operand.length === counts.reduce((sum, count) => sum + count, 0),
      `takes as many ${lists} dims as the ${tensor} has, ${operand.length}, not ${counts.join(" + ")}`,
    );
  },
});

/** Returns the constraint on the length of the index map. `map`: the map in the message. */
export const entryOfEachComponent = (map: string): Constraint<Windows> => ({
  code: "TC103",
  broken({ indices, indexVectorDim, indexMap: { dims } }) {
    const count = indices[indexVectorDim] ?? 1;
    return unless(
      dims.length === count,
      `takes ${map} of ${count}, one entry for each component of an index, not of ${dims.length}`,
    );
  },
});

const constraint = (code: RuleCode, broken: Constraint<Windows>["broken"]): Constraint<Windows> => ({
  code,
  broken,
});

/** Constraints on the lists of dims of both operations. */
const windowRules = {
  vectorDimInRange: constraint("TC101", ({ indexVectorDim, indices: { length } }) =>
    unless(
      indexVectorDim >= 0 && indexVectorDim <= length,
      `takes index_vector_dim in [0, ${length}], not ${indexVectorDim}`,
    ),
  ),
  windowOrder: constraint("TC101", ({ window }) => unique(window) ?? sorted(window)),
  windowInRange: constraint("TC101", ({ window, rank }) => within(window, rank)),
  leftAndBatchOnce: constraint("TC101", ({ left, batch }) => unique(left, batch)),
  leftOrder: constraint("TC101", ({ left }) => sorted(left)),
  leftInRange: constraint("TC101", ({ left, operand }) => within(left, operand.length)),
  batchOrder: constraint("TC101", ({ batch }) => sorted(batch)),
  batchInRange: constraint("TC101", ({ batch, operand }) => within(batch, operand.length)),
  indexBatchOnce: constraint("TC101", ({ indexBatch }) => unique(indexBatch)),
  indexBatchInRange: constraint("TC101", ({ indexBatch, indices }) => within(indexBatch, indices.length)),
  vectorDimApart: constraint("TC101", ({ indexVectorDim, indexBatch: { name, dims } }) =>
    unless(
      !dims.includes(indexVectorDim),
      `takes no index_vector_dim among ${name}, and ${indexVectorDim} is in ${formatShape(dims)}`,
    ),
  ),
  asManyBatchDims: constraint("TC103", ({ batch, indexBatch }) =>
    unless(
      batch.dims.length === indexBatch.dims.length,
      `takes as many ${batch.name} as ${indexBatch.name}, ` +
        `not ${batch.dims.length} and ${indexBatch.dims.length}`,
    ),
  ),
  sameBatchExtents: constraint("TC103", sameBatchExtents),
  indexMapAndBatchOnce: constraint("TC101", ({ indexMap, batch }) => unique(indexMap, batch)),
  indexMapInRange: constraint("TC101", ({ indexMap, operand }) => within(indexMap, operand.length)),
};

/**
 * Returns an error message if a pair of batch dims has different extents in the two tensors; undefined for
 * valid pairs. Dims that a tensor does not have are ignored.
 */
function sameBatchExtents({ operand, indices, batch, indexBatch }: Windows): string | undefined {
  const sizes = batch.dims.map((d) => operand[d]);
  const others = indexBatch.dims.map((d) => indices[d]);
  const k = sizes.findIndex((size, pair) => others[pair] !== undefined && size !== others[pair]);
  // The attribute has its name from the tensor.
  const extentAt = ({ name, dims }: NamedDims, extents: readonly (number | undefined)[]): string =>
    `${name.replace("_batching_dims", "")} dim ${dims[k] ?? 0} is ${extents[k] ?? 0}`;
  return unless(
    k === -1,
    `takes batching dims of one size, and ${extentAt(batch, sizes)} and ${extentAt(indexBatch, others)}`,
  );
}

/**
 * Constraints by their numbers in the specification, in the order of their messages. A word names a
 * constraint that both operations have.
 */
export type Constraints<Operation> = Readonly<
  Record<`C${number}`, keyof typeof windowRules | Constraint<Operation>>
>;

/**
 * Throws a RuleError with one diagnostic for each constraint that an operation breaks. `who`: the operation's
 * name in messages.
 */
export function checkConstraints<Operation extends Windows>(
  inputs: OpInputs,
  who: string,
  constraints: Constraints<Operation>,
  operation: Operation,
): void {
  const broken = Object.entries<Constraints<Operation>[`C${number}`]>(constraints).flatMap(
    ([number, rule]) => {
      const { code, broken: judge, hint } = typeof rule === "string" ? windowRules[rule] : rule;
      const message = judge(operation);
      return message === undefined
        ? []
        : [
            error(code, `${who} (${number}) ${message}`, {
              span: inputs.span,
              ...defined({ hint: hint?.(operation) }),
            }),
          ];
    },
  );
  if (broken.length > 0) throw new RuleError(broken);
}

/**
 * Returns the definition of an attribute that is a list of dims; default empty. `key`: key of the attribute
 * in JSON files of test cases.
 */
export const dims = <Key extends string>(key: Key, help: string) =>
  ({ key, kind: "ints", default: [], help }) as const satisfies AttrSpec;

/** Returns the definition of the attribute `index_vector_dim`. `indices`: name of the indices. */
export const indexVectorDim = <Name extends string>(indices: Name) =>
  ({
    key: "indexVectorDim",
    kind: "int",
    default: 0,
    help: `the dim of ${indices} that holds an index's components`,
  }) as const satisfies AttrSpec;
