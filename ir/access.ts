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
 * Meaning of a negative index. `from-end`: an index in [-extent, -1] counts from the end, printed as
 * `from_end(…)`. `illegal`: a negative index is out of range.
 */
export type NegativeIndex = "from-end" | "illegal";

/**
 * Out-of-range policies of reads: the meanings of an index outside its extent. `error` rejects the run.
 * `unchecked` relies on the caller's promise that no index is outside.
 */
export const readPolicies = ["error", "clamp", "zero", "wrap", "unchecked"] as const;
/** Out-of-range policy of a read: the meaning of an index outside its extent. */
export type ReadPolicy = (typeof readPolicies)[number];
/**
 * Out-of-range policies of reads and writes. `skip` is for writes only: a point whose index is out of range
 * writes nothing.
 */
export const outOfBoundsPolicies = [...readPolicies, "skip"] as const;
/** Out-of-range policy: the treatment of an index value outside its extent. */
export type OutOfBounds = (typeof outOfBoundsPolicies)[number];

/**
 * One element of an operand: `table` is the operand's number among the inputs, `at` has one coordinate for
 * each of its dims.
 */
export interface Read {
  readonly table: number;
  readonly at: readonly Linear[];
}

/**
 * Index value under its out-of-range policy: a number in [0, `extent`), or no element where the policy allows
 * that. Under `any` the value has no bounds: it is a summand of another index operand, which bounds the sum.
 */
export interface IndexOperand {
  /** An element of an input, or a sum of dims and index operands before this one. */
  readonly value: Read | Linear;
  /** Negative values count from this number. */
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
 * Names of the numbers of an index operand that are runtime parameters: their values are known when sizes are
 * bound. The same name always means the same number.
 */
export interface DynamicBounds {
  readonly extent?: string;
  readonly wrapNegativeBy?: string;
}

/**
 * Reduction elements of an output element: the elements that are combined into the output element. In
 * coordinates, the reduction dim r comes after the output dims. Without a segment r counts 0, 1, … `max` - 1.
 * In a segment r counts the positions from one index value up to another.
 */
export interface Reduced {
  /** Terms at most. */
  readonly max: number;
  /** Numbers of the index operands between which the terms of a bag lie. */
  readonly segment?: { readonly from: number; readonly to: number };
}

/** Combinations of a point's value with the element that it writes. `set`: the value replaces the element. */
export const combines = ["set", "add", "mul", "min", "max"] as const;
/** Combination of a point's value with the element that it writes. */
export type Combine = (typeof combines)[number];

/**
 * Meanings of two points that write the same element. `last`: the later point wins. `unique`: the caller
 * promises that no two points do. `error`: the run is rejected.
 */
export const duplicatePolicies = ["last", "unique", "error"] as const;
/** Meaning of two points that write the same element. */
export type Duplicates = (typeof duplicatePolicies)[number];

/**
 * Source of the output elements that no point writes. `operand`: the elements of the first input. `fill`:
 * bits that each of them gets, as an unsigned decimal.
 */
export type Base = { readonly operand: 0 } | { readonly fill: string };

/** Element that a point writes, and how the point's value changes that element. */
export interface Write extends Read {
  readonly combine: Combine;
  /** Always of `set`. Of another combination it is absent, or `unique`. */
  readonly duplicates?: Duplicates;
  /** Present in a scatter. A gather writes every element once. */
  readonly base?: Base;
}

/**
 * Computation at each point of a domain. A point reads elements at coordinates made of dims and index values,
 * and writes one element.
 */
export interface AccessMap {
  /**
   * Extents of the points in elements, at most where sizes are open. In a gather they are those of the
   * output.
   */
  readonly domain: Shape;
  /** Reduction that makes an output element; absent in a map that does not reduce. */
  readonly reduced?: Reduced;
  /** Inner first: an index operand reads by those before it alone. */
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
 * Index operands, reads, value, reduction and fill of a map: the parts that an operator defines, without
 * domain and write.
 */
export type MapBody = Omit<AccessMap, "domain" | "write">;

/**
 * Returns the gather over a domain with this number of inputs. The output is the operand after the inputs.
 * Each point writes the output element at its coordinates.
 */
export function gatherOver(domain: Shape, inputs: number, body: MapBody): AccessMap {
  checkArgument("gatherOver", "list", domain);
  checkArgument("gatherOver", "object", body);
  return { domain, ...body, write: identityWrite(domain.length, inputs) };
}

/**
 * True if a map is a scatter: its points write some elements of the output. The other elements come from the
 * base of the write.
 */
export const isScatter = ({ write }: Pick<AccessMap, "write">): boolean => write.base !== undefined;

/**
 * Returns the bits of the output elements that no point writes, as an unsigned decimal. Undefined if an
 * operand holds those elements, or the write has no base.
 */
export const baseFill = ({ base }: Write): string | undefined =>
  base !== undefined && "fill" in base ? base.fill : undefined;

/**
 * True if the order in which points write cannot change the output. Either no two points write the same
 * element, or every order gives the same bits.
 */
export const isOrderFree = ({ combine, duplicates }: Write, output: DType): boolean =>
  duplicates === "unique" ||
  combine === "min" ||
  combine === "max" ||
  (combine !== "set" && isInteger(output));

/**
 * Returns the numbers of the index operands that the written coordinates need, directly or through other
 * index operands.
 */
export const writtenIndices = (map: AccessMap): ReadonlySet<number> => factsOf(map).writtenIndices;

/** True if each point writes the output element at the point's coordinates. */
export const isIdentity = ({ at: coords }: Write, rank: number): boolean =>
  coords.length === rank && coords.every(isDim);

/**
 * Returns the reads and the value of a map that copies data unchanged. The only read is the data element at
 * `coords`.
 */
export const readData = (coords: readonly Linear[]): Pick<AccessMap, "reads" | "value"> => ({
  reads: [{ table: gatheredTable, at: coords }],
  value: { kind: "read", read: 0 },
});

/** True if the map moves elements of the data without change: the value is one read. */
export const isMove = ({ value }: Pick<AccessMap, "value">): boolean => value.kind === "read";

/** Returns the coordinates of the first data element that a map reads; an empty list if it reads no data. */
export const dataCoords = ({ reads }: Pick<AccessMap, "reads">): readonly Linear[] =>
  reads.find(({ table }) => table === gatheredTable)?.at ?? [];

/** Returns the number of the reduction dim r in coordinates: r comes after the output dims. */
export const reductionDim = ({ domain }: Pick<AccessMap, "domain">): number => domain.length;

/**
 * Returns the extents over which a map is evaluated. They are the extents of an output tile and, for a
 * reduction, the number of reduction elements as the last dim.
 */
export const walked = (
  { reduced }: Pick<AccessMap, "reduced">,
  tile: Shape,
  reductionLength: number = reduced?.max ?? 0,
): Shape => (reduced === undefined ? tile : [...tile, reductionLength]);

/** True if the number of reduction elements depends on index values and affects the result. */
export const countsElements = (map: AccessMap): boolean =>
  map.reduced !== undefined &&
  reductionsIn(map.value).some(({ how }) => countsItsElements(how)) &&
  (map.reduced.segment !== undefined ||
    map.indices.some(
      (index, s) =>
        isInReduction(map, s) &&
        (index.outOfRange === "zero" || index.extent === 0 || index.excluded !== undefined),
    ));

/** Parts of a map that contain coordinates. Bounds are left out, because they are dynamic in parsed text. */
export interface Forms {
  readonly indices: readonly Pick<IndexOperand, "value">[];
  readonly reads: readonly Read[];
  /** Absent: nothing is said of what is written. */
  readonly write?: Read;
}

/**
 * Returns every coordinate and sum of a map: first of the index operands, then of the write, then of the
 * reads.
 */
export const formsOf = ({ indices, reads, write }: Forms): readonly Linear[] => [
  ...indices.flatMap(coordsOf),
  ...(write?.at ?? []),
  ...reads.flatMap((read) => read.at),
];

/**
 * Returns the map with each of its forms replaced. `form` replaces the sums of index operands. `within` gives
 * the new coordinates of reads and of the write; by default it applies `form` to each.
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

/** True if two reads are of the same element: the same input and equal coordinates. */
export const sameRead = (a: Read, b: Read): boolean =>
  a.table === b.table &&
  a.at.length === b.at.length &&
  a.at.every((form, k) => equalLinear(form, at(b.at, k)));

/** True if the value of an index operand is a read of an input; false if it is a sum. */
export const isRead = (value: Read | Linear): value is Read => "table" in value;

/**
 * Returns the forms that an index operand's value is made of: the coordinates of its read, or else the sum as
 * the only form.
 */
export const coordsOf = ({ value }: Pick<IndexOperand, "value">): readonly Linear[] =>
  isRead(value) ? value.at : [value];

/** True if negative index values count from the extent, or do not count from the end at all. */
export const countsFromBound = ({
  wrapNegativeBy,
  extent,
  dynamic,
}: Pick<IndexOperand, "wrapNegativeBy" | "extent" | "dynamic">): boolean =>
  wrapNegativeBy === undefined || (wrapNegativeBy === extent && dynamic?.wrapNegativeBy === dynamic?.extent);

/** Number of the data among the inputs. */
export const gatheredTable = 0;

/**
 * Returns the bytes of the fill element, little-endian: the element that is read where an index selects none.
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
 * Returns the facts that follow from a map alone: the reads of each input, the dims on which inputs and index
 * operands depend, and the gather dims.
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
 * Returns the numbers of the index operands that coordinates need, directly or through other index operands.
 */
function indicesNeeded({ indices }: Pick<AccessMap, "indices">, coords: readonly Linear[]): Set<number> {
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
 * Linear dependence of an input dim on the output. Each coordinate that reads the dim is `form`, a sum of
 * dims and sizes, plus 0 to `spread`.
 */
export interface Followed {
  readonly form: Linear;
  readonly spread: number;
}

/**
 * Returns how dim `k` of an input depends on the output. Undefined if its coordinates have index operands,
 * addresses of a segment, div or mod. Undefined too if the coordinates are constant, or differ by more than a
 * constant.
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
 * Returns the linear dependence of each dim of an input on the output. The entry is undefined for a dim that
 * is read anywhere.
 */
export const followedDims = (map: AccessMap, table: number): readonly (Followed | undefined)[] =>
  factsOf(map).followed[table] ?? [];

/**
 * Returns the output dims whose tiling also tiles an input. An input dim whose coordinate is divided, or
 * picked by an index, is whole in every tile.
 */
export const cutBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  new Set(followedDims(map, table).flatMap((along) => (along === undefined ? [] : dimsOf(along.form))));

/**
 * Returns the coordinates at which a map reads an input, one list for each read; an empty list if the map
 * does not read the input.
 */
export const readsOf = (map: AccessMap, table: number): readonly (readonly Linear[])[] =>
  factsOf(map).reads[table] ?? [];

/** Returns the data dims whose coordinate an index picks, in order. */
export const gatherDims = (map: AccessMap): readonly number[] => factsOf(map).gatherDims;

/**
 * Returns the output dims whose written coordinate depends on an index value. A tile in UB holds these dims
 * whole.
 */
export const storedDims = ({ write }: Pick<AccessMap, "write">): readonly number[] =>
  write.at.flatMap((coord, k) => (indicesOf(coord).length > 0 ? [k] : []));

/**
 * Returns the output dims that an input depends on directly: its elements change with them, whatever the
 * index values are.
 */
export const followedBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  factsOf(map).dependsOn[table] ?? new Set();

/** Returns all output dims: the output's elements change with each of them. */
export const outputDims = (map: AccessMap): ReadonlySet<number> => factsOf(map).outputDims;

/** Returns the output dims that some index value depends on. */
export const indexed = (map: AccessMap): ReadonlySet<number> => factsOf(map).indexed;

/**
 * Returns the extents of the points at which index values are read, one for each output dim. For an output
 * with elements they are the output's extents. For an empty output, each dim on which no index value depends
 * counts as 1. So index values are still read where only those dims are empty.
 */
export const indexPoints = (map: AccessMap): Shape => pointsAlong(indexed(map), map.domain);

/**
 * Returns the extents of the points at which index values are read. `dims`: the output dims on which some
 * index value depends. In an empty output, the other dims count as 1.
 */
export const pointsAlong = (dims: ReadonlySet<number>, output: Shape): Shape =>
  output.includes(0) ? output.map((extent, d) => (dims.has(d) ? extent : 1)) : output;

/**
 * Returns the first output dim of the row that an index selects, or the rank if there is none. From this dim
 * on, each data coordinate is just the output dim, and no index value depends on the dim.
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
 * Returns the dims on which an index operand depends, directly or through earlier index operands. They are
 * dims of the domain, and the reduction dim.
 */
export const indexDims = (map: AccessMap, index: number): ReadonlySet<number> =>
  at(factsOf(map).dependencies, index);

/** True if an index operand belongs to a reduction element: its value depends on the reduction dim r. */
export const isInReduction = (map: AccessMap, index: number): boolean =>
  map.reduced !== undefined && indexDims(map, index).has(reductionDim(map));

/**
 * Returns the out-of-range policy of a gather, which applies to reads of index tables that the text form
 * writes without a policy. It is the policy of the last index operand whose policy is not `any`; `error` if
 * there is none.
 */
export const policyOf = (map: {
  readonly indices: readonly Pick<IndexOperand, "outOfRange">[];
}): OutOfBounds =>
  map.indices.reduce<OutOfBounds>(
    (last, { outOfRange }) => (outOfRange === "any" ? last : outOfRange),
    "error",
  );

/**
 * Returns the map with another out-of-range policy on every index operand that has the policy of the gather.
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
 * Returns the extents of an input's tile for an output tile. Each extent spans the coordinates that read the
 * dim. A dim that an index operand selects, or that is read only at fixed positions, is whole (full load). In
 * a reduction, the number of reduction elements follows the extents of `tile`.
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
 * Returns the maximum number of elements of an input that a tile reads. It is that of the input's tile, or
 * less if index values pick its elements one by one. An empty tile reads none.
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
 * Returns the number of elements from the first to the last that a tile reads along a dim. `sizes`: extents
 * of the tile, none of them 0.
 */
export const spanOver = ({ form, spread }: Followed, sizes: readonly Linear[]): Linear =>
  sumOf([
    constant(1 + spread),
    ...dimsOf(form).map((d) => scale(sub(at(sizes, d), constant(1)), Math.abs(stepAlong(form, "dim", d)))),
  ]);

/**
 * Returns the number of elements from the first to the last at which a dim is read in a tile; 0 if the tile
 * has no elements.
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
 * Returns the number of elements of a tile that one index fetches together. They span the data dims after the
 * last gather dim that depend on output dims without an index.
 */
export function rowElements(map: AccessMap, tile: Shape, data: Shape): number {
  const sizes = factsOf(map).rowDims.map((d) => (d === undefined ? 1 : at(tile, d)));
  return Math.max(1, contiguousRun(sizes, data));
}
