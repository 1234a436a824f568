/**
 * The access level: one canonical gather, `out[d0, d1, …] = value`, an expression of elements that are read,
 * or one scatter, which writes the value of each point at coordinates that index values name.
 *
 * A map is a flat list of index operands, index values each wrapped by its policy, and a list of reads, each
 * with a coordinate for each dim of its operand, linear in output dims and index operands. A gather that
 * moves elements has one read, and its value is that read. Gather dims, operand tiles, the full-load rule and
 * the footprint all derive from the map, once, for every operator of every dialect.
 */
import { derivedOnce } from "./derived-once.js";
import { checkArgument } from "./argument.js";
import {
  add,
  constant,
  dim,
  dimsOf,
  equalLinear,
  isConstant,
  isFixed,
  scale,
  indicesOf,
  isDim,
  soleAtom,
  stepAlong,
  sub,
  sumOf,
  withoutDims,
  type Linear,
} from "./linear.js";
import {
  at,
  contiguousRun,
  bytesOf,
  elementCount,
  byteAligned,
  isInteger,
  type DType,
  type Shape,
} from "./types.js";
import { countsItsElements, reductionsIn, type Expression } from "./values/expression.js";

/**
 * Treatment of negative index values. `from-end`: a value in [-extent, -1] counts from the end of the dim.
 * `illegal`: a negative value is out of range.
 */
export type NegativeIndex = "from-end" | "illegal";

/**
 * Names of the policies for reading with an index value outside [0, extent). `error`: execution fails.
 * `clamp`: the first or last element is read. `zero`: the fill element is read. `wrap`: the index value
 * modulo the extent is used. `unchecked`: the caller guarantees that no index value is out of range.
 */
export const readPolicies = ["error", "clamp", "zero", "wrap", "unchecked"] as const;
/** Policy for an index value outside [0, extent) when an element is read; see {@link readPolicies}. */
export type ReadPolicy = (typeof readPolicies)[number];
/**
 * Names of the policies for an index value outside [0, extent): the {@link readPolicies} and, for writes
 * only, `skip`. Under `skip`, an out-of-range index value writes nothing.
 */
export const outOfBoundsPolicies = [...readPolicies, "skip"] as const;
/** Policy for an index value outside [0, extent); see {@link outOfBoundsPolicies}. */
export type OutOfBounds = (typeof outOfBoundsPolicies)[number];

/**
 * Reference to one element of an operand. `table`: position of the operand among the inputs, from 0. `at`:
 * coordinate of the element along each dim of the operand.
 */
export interface Read {
  readonly table: number;
  readonly at: readonly Linear[];
}

/**
 * Index operand of an access map: the expression of an index value, and the policy for index values outside
 * [0, `extent`). An index operand with policy `any` is unbounded and may only be a summand of another index
 * operand.
 */
export interface IndexOperand {
  /** An element of an input, or a sum of dims and index operands before this one. */
  readonly value: Read | Linear;
  /** Number that is added to a negative value. Absent: no value counts from the end. */
  readonly wrapNegativeBy?: number;
  readonly outOfRange: OutOfBounds | "any";
  /** Absent under `any`. */
  readonly extent?: number;
  /** The value that names no element, though it is in range: as `padding_idx` does. */
  readonly excluded?: number;
  /**
   * Names of the bounds that depend on symbol sizes, in a program over symbols. `extent` and `wrapNegativeBy`
   * are then the largest values that any sizes give.
   */
  readonly dynamic?: DynamicBounds;
}

/**
 * Names of the runtime parameters that give the bounds of an index operand whose bounds depend on symbols.
 * Equal names mean equal values.
 */
export interface DynamicBounds {
  readonly extent?: string;
  readonly wrapNegativeBy?: string;
}

/**
 * Reduction of an access map: the elements that are combined into one output element. The reduction dim r
 * follows the output dims, and counts from 0 to `max` - 1. With `segment`, r goes from the value of one index
 * operand up to, but not including, the value of another.
 */
export interface Reduced {
  /** Maximum number of elements that are combined. */
  readonly max: number;
  /**
   * Positions of the index operands whose values are the first r and the exclusive end of r. Absent: r goes
   * from 0 to `max` - 1.
   */
  readonly segment?: { readonly from: number; readonly to: number };
}

/**
 * Operations that combine the value of a point with the element that the point writes. `set`: the value
 * replaces the element.
 */
export const combines = ["set", "add", "mul", "min", "max"] as const;
/**
 * Operation that combines the value of a point with the element that the point writes; see {@link combines}.
 */
export type Combine = (typeof combines)[number];

/**
 * Names of the policies for two points that write the same element. `last`: the later point wins. `unique`:
 * the caller guarantees that no element is written twice. `error`: execution fails.
 */
export const duplicatePolicies = ["last", "unique", "error"] as const;
/** Policy for two points that write the same element; see {@link duplicatePolicies}. */
export type Duplicates = (typeof duplicatePolicies)[number];

/**
 * Source of the output elements that a scatter does not write. `operand`: elements of the first input.
 * `fill`: fill bits of one element, as an unsigned decimal.
 */
export type Base = { readonly operand: 0 } | { readonly fill: string };

/**
 * Write access of an access map: the element that a point writes, and the operation that combines the point's
 * value with the element.
 */
export interface Write extends Read {
  readonly combine: Combine;
  /** Always present for `set`. For any other operation: absent, or `unique`. */
  readonly duplicates?: Duplicates;
  /** Present in a scatter. A gather writes every element once. */
  readonly base?: Base;
}

/**
 * Access map: one gather or scatter, as a computation for each point of a domain. A point reads elements at
 * coordinates made of dims and index values, and writes at most one element.
 */
export interface AccessMap {
  /**
   * Extents of the domain, in elements; for a gather, the output's extents. Dynamic sizes have their maximum.
   */
  readonly domain: Shape;
  /** Reduction that makes an output element; absent in a map that does not reduce. */
  readonly reduced?: Reduced;
  /** Index operands. Each uses only index operands before it in the list. */
  readonly indices: readonly IndexOperand[];
  /**
   * Elements that the value is made from, in the order of the text. In a gather, some read is of the data,
   * the input of number 0.
   */
  readonly reads: readonly Read[];
  /** Expression of the value that a point writes. In a gather, this is the output element. */
  readonly value: Expression;
  /** The bits of an element that has none under `zero`, as an unsigned decimal. Absent: 0. */
  readonly fill?: string;
  /** Element that the value goes to. In a gather it is that of the output at the point's coordinates. */
  readonly write: Write;
}

/** Returns a write of each point's own element. `operand`: the number of the output among all operands. */
const identityWrite = (rank: number, operand: number): Write => ({
  table: operand,
  at: Array.from({ length: rank }, (_, d) => dim(d)),
  combine: "set",
  duplicates: "unique",
});

/**
 * Part of an access map that an operator defines: index operands, reads, value, reduction and fill. The
 * domain and the write are omitted.
 */
export type MapBody = Omit<AccessMap, "domain" | "write">;

/**
 * Returns the access map of a gather, in which each point writes the output element at the point's own
 * coordinates. `inputs`: number of inputs; the output is the operand after the inputs.
 */
export function gatherOver(domain: Shape, inputs: number, body: MapBody): AccessMap {
  checkArgument("gatherOver", "list", domain);
  checkArgument("gatherOver", "object", body);
  return { domain, ...body, write: identityWrite(domain.length, inputs) };
}

/**
 * True if an access map is a scatter, which may leave output elements unwritten. Unwritten elements get their
 * values from the base of the write.
 */
export const isScatter = ({ write }: Pick<AccessMap, "write">): boolean => write.base !== undefined;

/**
 * Returns the bits, as an unsigned decimal, of the output elements that a scatter does not write. Undefined
 * if an input supplies the unwritten elements, or if the map is a gather.
 */
export const baseFill = ({ base }: Write): string | undefined =>
  base !== undefined && "fill" in base ? base.fill : undefined;

/** True if the order of the writes cannot change the output. `output`: element type of the output. */
export const isOrderFree = ({ combine, duplicates }: Write, output: DType): boolean =>
  duplicates === "unique" ||
  combine === "min" ||
  combine === "max" ||
  (combine !== "set" && isInteger(output));

/**
 * Returns the positions of the index operands on which the written coordinates depend, directly or through
 * other index operands.
 */
export const writtenIndices = (map: AccessMap): ReadonlySet<number> => factsOf(map).writtenIndices;

/**
 * True if each point writes the output element at the point's own coordinates. `rank`: number of output dims.
 */
export const isIdentity = ({ at: coords }: Write, rank: number): boolean =>
  coords.length === rank && coords.every(isDim);

/**
 * Returns the reads and the value of an access map that copies data unchanged. The only read is the data
 * element at `coords`.
 */
export const readData = (coords: readonly Linear[]): Pick<AccessMap, "reads" | "value"> => ({
  reads: [{ table: gatheredTable, at: coords }],
  value: { kind: "read", read: 0 },
});

/** True if an access map copies data elements unchanged: the map's value is a single read. */
export const isMove = ({ value }: Pick<AccessMap, "value">): boolean => value.kind === "read";

/**
 * Returns the coordinates of the first data element that an access map reads, one for each dim of the data.
 * An empty list if the map reads no data.
 */
export const dataCoords = ({ reads }: Pick<AccessMap, "reads">): readonly Linear[] =>
  reads.find(({ table }) => table === gatheredTable)?.at ?? [];

/**
 * Returns the position of the reduction dim r in coordinates, which equals the number of dims of the domain.
 */
export const reductionDim = ({ domain }: Pick<AccessMap, "domain">): number => domain.length;

/**
 * Returns the extents over which an output tile is computed: the extents of `tile`, followed by
 * `reductionLength` if the map has a reduction. `reductionLength`: number of elements combined into one
 * output element; by default the reduction's maximum.
 */
export const walked = (
  { reduced }: Pick<AccessMap, "reduced">,
  tile: Shape,
  reductionLength: number = reduced?.max ?? 0,
): Shape => (reduced === undefined ? tile : [...tile, reductionLength]);

/**
 * True if the map has a `mean`, `max` or `min` whose number of combined elements depends on index values.
 * That is so if the elements are a segment, or if an index value of the reduction may select no element.
 */
export const countsElements = (map: AccessMap): boolean =>
  map.reduced !== undefined &&
  reductionsIn(map.value).some(({ how }) => countsItsElements(how)) &&
  (map.reduced.segment !== undefined ||
    map.indices.some(
      (index, s) =>
        isInReduction(map, s) &&
        (index.outOfRange === "zero" || index.extent === 0 || index.excluded !== undefined),
    ));

/**
 * Parts of an access map that contain linear expressions: index operands, reads and write. Bounds of index
 * operands are not included.
 */
export interface Forms {
  readonly indices: readonly Pick<IndexOperand, "value">[];
  readonly reads: readonly Read[];
  /** Absent: the written coordinates are left out. */
  readonly write?: Read;
}

/** Returns all linear expressions of an access map. The order is: index operands, write, reads. */
export const formsOf = ({ indices, reads, write }: Forms): readonly Linear[] => [
  ...indices.flatMap(coordsOf),
  ...(write?.at ?? []),
  ...reads.flatMap((read) => read.at),
];

/**
 * Returns the map with all linear expressions replaced. `form`: returns the replacement for an index operand
 * that is a sum. `within`: returns the new coordinates of a read or of the write; by default, `form` replaces
 * each coordinate.
 */
export function mapForms<M extends Forms>(
  map: M,
  form: (form: Linear) => Linear,
  within: (access: Read) => readonly Linear[] = (access) => access.at.map(form),
): M {
  const { write } = map;
  return {
    ...map,
    ...(write === undefined ? {} : { write: { ...write, at: within(write) } }),
    indices: map.indices.map((index) => {
      const { value } = index;
      return { ...index, value: isRead(value) ? { ...value, at: within(value) } : form(value) };
    }),
    reads: map.reads.map((read) => ({ ...read, at: within(read) })),
  };
}

/** True if two reads have the same input and equal coordinates. */
export const sameRead = (a: Read, b: Read): boolean =>
  a.table === b.table &&
  a.at.length === b.at.length &&
  a.at.every((form, k) => equalLinear(form, at(b.at, k)));

/** True if the value of an index operand is read from an input; false for a sum. */
export const isRead = (value: Read | Linear): value is Read => "table" in value;

/**
 * Returns the linear expressions in the value of an index operand. For a read: the coordinates. For a sum: a
 * list of that one sum.
 */
export const coordsOf = ({ value }: Pick<IndexOperand, "value">): readonly Linear[] =>
  isRead(value) ? value.at : [value];

/**
 * True unless negative values of an index operand count from the end of a length other than the operand's
 * extent. Also true if negative values do not count from the end. Lengths are compared as numbers and as
 * runtime parameters.
 */
export const countsFromBound = ({
  wrapNegativeBy,
  extent,
  dynamic,
}: Pick<IndexOperand, "wrapNegativeBy" | "extent" | "dynamic">): boolean =>
  wrapNegativeBy === undefined || (wrapNegativeBy === extent && dynamic?.wrapNegativeBy === dynamic?.extent);

/** Position of the data tensor among the inputs of a gather. */
export const gatheredTable = 0;

/**
 * Returns the bytes of the fill element, little-endian. The fill element is read if an index value selects no
 * element.
 */
export function fillBytes({ fill = "0" }: Pick<AccessMap, "fill">, dtype: DType): Uint8Array {
  let bits = BigInt(fill);
  return Uint8Array.from({ length: bytesOf(byteAligned(dtype)) }, () => {
    const byte = Number(bits & 0xffn);
    bits >>= 8n;
    return byte;
  });
}

/**
 * Facts that are derived from a map alone. They are cached, because a search evaluates hundreds of schedules.
 */
interface MapFacts {
  readonly reads: readonly (readonly (readonly Linear[])[])[];
  readonly dependsOn: readonly ReadonlySet<number>[];
  readonly indexed: ReadonlySet<number>;
  /** Output dims, and that of terms, that each index operand depends on, through those before it too. */
  readonly dependencies: readonly ReadonlySet<number>[];
  readonly outputDims: ReadonlySet<number>;
  readonly writtenIndices: ReadonlySet<number>;
  readonly gatherDims: readonly number[];
  /**
   * For each data dim after the last gather dim, the output dim that it is, where no index follows that one.
   */
  readonly rowDims: readonly (number | undefined)[];
  /** By input and by its dims. */
  readonly followed: readonly (readonly (Followed | undefined)[])[];
}

const factsOf = derivedOnce(deriveFacts);

/**
 * Returns facts derived from an access map: the reads of inputs, the dims on which inputs and index operands
 * depend, and the gather dims.
 */
function deriveFacts(map: AccessMap): MapFacts {
  const read = [...map.reads, ...map.indices.flatMap(({ value }) => (isRead(value) ? [value] : []))];
  const tables = Math.max(gatheredTable, ...read.map(({ table }) => table)) + 1;
  const reads = Array.from({ length: tables }, (_, table) =>
    read.flatMap((value) => (value.table === table ? [value.at] : [])),
  );
  const coords = dataCoords(map);
  const indexed = new Set(map.indices.flatMap((index) => coordsOf(index).flatMap(dimsOf)));
  const gatherDims = coords.flatMap((result, k) => (indicesOf(result).length > 0 ? [k] : []));
  const dependencies: ReadonlySet<number>[] = [];
  for (const index of map.indices) dependencies.push(dimsAfter(coordsOf(index), dependencies));
  const facts: MapFacts = {
    reads,
    dependsOn: reads.map((lists) => new Set(lists.flatMap((coords) => coords.flatMap(dimsOf)))),
    indexed,
    dependencies,
    outputDims: new Set(map.domain.keys()),
    writtenIndices: indicesNeeded(map, map.write.at),
    gatherDims,
    rowDims: coords.slice((gatherDims.at(-1) ?? -1) + 1).map((coord) => {
      const [d, ...others] = dimsOf(coord);
      const along =
        d !== undefined && d < map.domain.length && others.length === 0 && stepAlong(coord, "dim", d) === 1;
      return along && !indexed.has(d) ? d : undefined;
    }),
    followed: reads.map((lists) => Array.from(lists[0] ?? [], (_, k) => followedAlong(map, lists, k))),
  };
  return facts;
}

/**
 * Returns the positions of the index operands on which `coords` depend, directly or through other index
 * operands.
 */
export function indicesNeeded({ indices }: Pick<Forms, "indices">, coords: readonly Linear[]): Set<number> {
  const needed = new Set(coords.flatMap(indicesOf));
  // An index operand names those before it alone.
  for (let s = indices.length - 1; s >= 0; s--) {
    const operand = indices[s];
    if (needed.has(s) && operand !== undefined)
      for (const inner of coordsOf(operand).flatMap(indicesOf)) needed.add(inner);
  }
  return needed;
}

/**
 * Linear dependence of an input dim on the output dims. Each coordinate at which a map reads the dim is
 * `form` plus a constant from 0 to `spread`, in elements.
 */
export interface Followed {
  readonly form: Linear;
  readonly spread: number;
}

/**
 * Returns the linear dependence of dim `k` of an input on the output dims. Undefined if a coordinate is not
 * linear, or if two reads differ by more than a constant. `lists`: coordinates of each read of the input.
 */
function followedAlong(
  map: Pick<AccessMap, "domain" | "reduced">,
  lists: readonly (readonly Linear[])[],
  k: number,
): Followed | undefined {
  const coords = lists.flatMap((list) => list[k] ?? []);
  const [first] = coords;
  // Reads of other ranks are for the verifier to tell.
  if (first === undefined || coords.length < lists.length || dimsOf(first).length === 0) return undefined;
  if (map.reduced?.segment !== undefined && dimsOf(first).includes(reductionDim(map))) return undefined;
  const offsets = coords.map((coord) => sub(coord, first));
  if (!isFixed(withoutDims(first)) || !offsets.every(isConstant)) return undefined;
  const shifts = offsets.map((place) => place.at);
  const least = Math.min(...shifts);
  return { form: add(first, constant(least)), spread: Math.max(...shifts) - least };
}

/**
 * Returns the linear dependence of each dim of an input on the output dims; undefined for a dim without
 * linear dependence. The list is empty if the map does not read the input.
 */
export const followedDims = (map: AccessMap, table: number): readonly (Followed | undefined)[] =>
  factsOf(map).followed[table] ?? [];

/**
 * Returns the output dims whose tiling also splits an input into tiles. An input dim is not split if the
 * dim's coordinate contains div or mod, or depends on an index value.
 */
export const cutBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  new Set(followedDims(map, table).flatMap((along) => (along === undefined ? [] : dimsOf(along.form))));

/**
 * Returns the coordinates at which a map reads an input, one list of coordinates for each read. The result is
 * empty if the map does not read the input.
 */
export const readsOf = (map: AccessMap, table: number): readonly (readonly Linear[])[] =>
  factsOf(map).reads[table] ?? [];

/**
 * Returns the gather dims: the dims of the data whose coordinate depends on an index value, in ascending
 * order.
 */
export const gatherDims = (map: AccessMap): readonly number[] => factsOf(map).gatherDims;

/** Returns the output dims whose written coordinate depends on an index value. */
export const storedDims = ({ write }: Pick<AccessMap, "write">): readonly number[] =>
  write.at.flatMap((coord, k) => (indicesOf(coord).length > 0 ? [k] : []));

/**
 * Returns the positions of the dims that the coordinates of an input contain directly, outside index values.
 * The dims are those of the domain, from 0, and the dim over the reduction elements, at position {@link
 * reductionDim}. `table`: number of the input; the set is empty if the map does not read the input.
 */
export const followedBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  factsOf(map).dependsOn[table] ?? new Set();

/** Returns the set of all output dims of a map, as positions from 0. */
export const outputDims = (map: AccessMap): ReadonlySet<number> => factsOf(map).outputDims;

/**
 * Returns the dims on which some index value depends directly: output dims, and the reduction dim if there is
 * one.
 */
export const indexed = (map: AccessMap): ReadonlySet<number> => factsOf(map).indexed;

/**
 * Returns the extents over which index values are read and checked: the extents of the domain, if it has
 * points. For an empty domain, dims on which no index value depends have extent 1.
 */
export const indexPoints = (map: AccessMap): Shape => pointsAlong(indexed(map), map.domain);

/**
 * Returns the extents over which index values are read and checked: `output`, if the output has elements. For
 * an empty output, dims that are not in `dims` have extent 1. `dims`: output dims on which some index value
 * depends.
 */
export const pointsAlong = (dims: ReadonlySet<number>, output: Shape): Shape =>
  output.includes(0) ? output.map((extent, d) => (dims.has(d) ? extent : 1)) : output;

/**
 * Returns the first dim of an output row. A row is the range of trailing output dims along which a gather
 * copies elements unchanged. Returns the rank of the output if there is no such dim.
 */
export function rowDim(map: AccessMap): number {
  const rank = map.domain.length;
  const coords = dataCoords(map);
  const followed = indexed(map);
  let first = rank;
  while (first > 0) {
    const coord = coords[coords.length - 1 - (rank - first)];
    const only = coord === undefined ? undefined : soleAtom(coord);
    if (only?.kind !== "dim" || only.dim !== first - 1 || followed.has(only.dim)) break;
    // A diagonal, and a row that depends on the place inside it.
    const row = only.dim;
    if (coords.filter((other) => dimsOf(other).includes(row)).length > 1) break;
    first--;
  }
  return first;
}

/**
 * Returns the domain dims, and the reduction dim, on which an index operand depends, directly or through
 * earlier index operands. `index`: position of the index operand in the map.
 */
export const indexDims = (map: AccessMap, index: number): ReadonlySet<number> =>
  at(factsOf(map).dependencies, index);

/**
 * True if the value of an index operand depends on the reduction dim r. `index`: position of the index
 * operand in the map.
 */
export const isInReduction = (map: AccessMap, index: number): boolean =>
  map.reduced !== undefined && indexDims(map, index).has(reductionDim(map));

/**
 * Returns the out-of-range policy of a gather: the policy of the last index operand whose policy is not
 * `any`. Returns `error` if all policies are `any`.
 */
export const policyOf = (map: {
  readonly indices: readonly Pick<IndexOperand, "outOfRange">[];
}): OutOfBounds =>
  map.indices.reduce<OutOfBounds>(
    (last, { outOfRange }) => (outOfRange === "any" ? last : outOfRange),
    "error",
  );

/**
 * Returns the map with a new out-of-range policy. Index operands whose policy is the gather's policy ({@link
 * policyOf}) get `outOfRange`.
 */
export function withPolicy<M extends { readonly indices: readonly Pick<IndexOperand, "outOfRange">[] }>(
  map: M,
  outOfRange: OutOfBounds,
): M {
  const previous = policyOf(map);
  return {
    ...map,
    indices: map.indices.map((index) => (index.outOfRange === previous ? { ...index, outOfRange } : index)),
  };
}

/**
 * Returns the extents, in elements, of the part of an input that one output tile reads. An input dim whose
 * coordinate does not depend linearly on output dims is read in full. `tile`: extents of the output tile; in
 * a reduction, followed by the number of combined elements. `shape`: extents of the input.
 */
export function inputTile(map: AccessMap, table: number, tile: Shape, shape: Shape): number[] {
  const followed = followedDims(map, table);
  const result = [...shape];
  for (let k = 0; k < result.length; k++) {
    const along = followed[k];
    if (along !== undefined) result[k] = Math.min(at(shape, k), spanOf(along, tile));
  }
  return result;
}

/**
 * Returns the maximum number of elements of an input that one output tile reads; 0 for an empty tile. `tile`:
 * extents of the output tile. `shape`: extents of the input.
 */
export function elementsRead(map: AccessMap, table: number, tile: Shape, shape: Shape): number {
  const elements = elementCount(inputTile(map, table, tile, shape));
  const named = readsOf(map, table).reduce((sum, coords) => {
    const dims = dimsAfter(coords, factsOf(map).dependencies);
    return sum + [...dims].reduce((product, d) => product * at(tile, d), 1);
  }, 0);
  return elementCount(tile) === 0 ? 0 : Math.min(elements, named);
}

/**
 * Returns the output dims that the coordinates of a read depend on, through index values too. `dependencies`
 * has the dims of each index operand.
 */
const dimsAfter = (coords: readonly Linear[], dependencies: readonly ReadonlySet<number>[]): Set<number> =>
  new Set(
    coords.flatMap((coord) => [
      ...dimsOf(coord),
      ...indicesOf(coord).flatMap((s) => [...at(dependencies, s)]),
    ]),
  );

/**
 * Returns the length, in elements, of the coordinate range that a tile reads along one dim of an input; 0 for
 * a tile that is empty along a dim. The first parameter is the dependence of the dim on the output dims.
 * `sizes`: extents of the tile; one that is not a constant is at least 1.
 */
export function spanOver({ form, spread }: Followed, sizes: readonly Linear[]): Linear {
  const dims = dimsOf(form);
  if (dims.some((d) => equalLinear(at(sizes, d), constant(0)))) return constant(0);
  return sumOf([
    constant(1 + spread),
    ...dims.map((d) => scale(sub(at(sizes, d), constant(1)), Math.abs(stepAlong(form, "dim", d)))),
  ]);
}

/**
 * Returns the length, in elements, of the coordinate range that a tile reads along one dim of an input; 0 for
 * an empty tile. The first parameter is the dependence of the dim on the output dims.
 */
function spanOf({ form, spread }: Followed, tile: Shape): number {
  let span = 1 + spread;
  for (const { by, of } of form.terms) {
    if (of.kind !== "dim") continue;
    const extent = at(tile, of.dim);
    if (extent === 0) return 0;
    span += Math.abs(by) * (extent - 1);
  }
  return span;
}

/**
 * Returns the number of contiguous data elements that one index value selects within a tile; at least 1.
 * `tile`: extents of the output tile. `data`: extents of the data.
 */
export function rowElements(map: AccessMap, tile: Shape, data: Shape): number {
  const sizes = factsOf(map).rowDims.map((d) => (d === undefined ? 1 : at(tile, d)));
  return Math.max(1, contiguousRun(sizes, data));
}
