/**
 * The access level: one canonical gather, `out[d0, d1, …] = value`, an expression of elements that are read, or one scatter, which
 * writes the value of each point at coordinates that index values name.
 *
 * A map is a flat list of index operands, index values each wrapped by its policy, and a list of reads, each with a coordinate for each
 * dim of its operand, linear in output dims and index operands. A gather that moves elements has one read, and its value is that read. Gather dims, operand tiles, the full-load rule and the footprint all derive from the
 * map, once, for every operator of every dialect.
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

/** `from-end`: an index in [-extent, -1] counts from the end, printed as `from_end(…)`. */
export type NegativeIndex = "from-end" | "illegal";

/** Meanings of an index outside its extent where elements are read. `error` rejects the run; `unchecked` is the caller's promise. */
export const readPolicies = ["error", "clamp", "zero", "wrap", "unchecked"] as const;
/** A meaning of an index outside its extent where elements are read. */
export type ReadPolicy = (typeof readPolicies)[number];
/** Meanings of an index outside its extent. `skip` is of what is written: the point writes nothing. */
export const outOfBoundsPolicies = [...readPolicies, "skip"] as const;
/** What an index outside its extent means. */
export type OutOfBounds = (typeof outOfBoundsPolicies)[number];

/** One element of an operand: its number among the inputs, and its coordinates. */
export interface Read {
  readonly table: number;
  readonly at: readonly Linear[];
}

/**
 * An index value under its policy: a number in [0, below), or none where the policy says so. Under `any` it is the value as it
 * stands, without bounds: a part of a sum that another index operand bounds.
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
  /** What of these numbers the sizes of symbols tell, in a program over symbols: both are then the largest that some sizes give. */
  readonly dynamic?: DynamicBounds;
}

/** Names of the numbers that are told when sizes are bound; one name is one number. */
export interface DynamicBounds {
  readonly extent?: string;
  readonly wrapNegativeBy?: string;
}

/**
 * The terms of an output element. In coordinates, r is the dim behind those of the output: 0, 1, … `max` - 1; in a bag the places
 * from one index value up to another.
 */
export interface Reduced {
  /** Terms at most. */
  readonly max: number;
  /** Numbers of the index operands between which the terms of a bag lie. */
  readonly segment?: { readonly from: number; readonly to: number };
}

/** Ways in which a point's value changes the element that it writes. `set`: the element is the value. */
export const combines = ["set", "add", "mul", "min", "max"] as const;
/** A way in which a point's value changes the element that it writes. */
export type Combine = (typeof combines)[number];

/** Meanings of two points that write one element. `last`: the later point wins. `unique`: the caller promises that there are none. */
export const duplicatePolicies = ["last", "unique", "error"] as const;
/** A meaning of two points that write one element. */
export type Duplicates = (typeof duplicatePolicies)[number];

/** Elements of the output that no point writes: those of the first input, or bits that all have, as an unsigned decimal. */
export type Base = { readonly operand: 0 } | { readonly fill: string };

/** An element that a point writes, and what becomes of it there. */
export interface Write extends Read {
  readonly combine: Combine;
  /** Always of `set`. Of another combination it is absent, or `unique`. */
  readonly duplicates?: Duplicates;
  /** Present in a scatter. A gather writes every element once. */
  readonly base?: Base;
}

/** A computation at each point of a domain: elements are read at coordinates of dims and index values, and one is written. */
export interface AccessMap {
  /** Extents of the points in elements, at most where sizes are open. In a gather they are those of the output. */
  readonly domain: Shape;
  /** Where an element is made from terms. */
  readonly reduced?: Reduced;
  /** Inner first: an index operand reads by those before it alone. */
  readonly indices: readonly IndexOperand[];
  /** Elements that the value is made from, in the order of the text. In a gather, some read is of the data, the input of number 0. */
  readonly reads: readonly Read[];
  /** What an output element is. */
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

/** Index operands, reads and value of a map: what an operator says of one beside its shapes. */
export type MapBody = Omit<AccessMap, "domain" | "write">;

/** Returns the gather over a domain that reads so many inputs: the output comes after them, and each point writes its own element. */
export function gatherOver(domain: Shape, inputs: number, body: MapBody): AccessMap {
  checkArgument("gatherOver", "list", domain);
  checkArgument("gatherOver", "object", body);
  return { domain, ...body, write: identityWrite(domain.length, inputs) };
}

/** True if a map is a scatter: its points write some elements of the output, and the others are those of its base. */
export const isScatter = ({ write }: Pick<AccessMap, "write">): boolean => write.base !== undefined;

/** Returns the bits of the elements that no point writes; undefined where an operand has them. */
export const baseFill = ({ base }: Write): string | undefined =>
  base !== undefined && "fill" in base ? base.fill : undefined;

/** True if the order of a map's points cannot be seen in the output: no element has two, or all orders give the same bits. */
export const isOrderFree = ({ combine, duplicates }: Write, output: DType): boolean =>
  duplicates === "unique" ||
  combine === "min" ||
  combine === "max" ||
  (combine !== "set" && isInteger(output));

/** Index operands that the written coordinates need, directly or through others, by number. */
export const writtenIndices = (map: AccessMap): ReadonlySet<number> => factsOf(map).writtenIndices;

/** True if each point writes the element of its own coordinates. */
export const isIdentity = ({ at: coords }: Write, rank: number): boolean =>
  coords.length === rank && coords.every(isDim);

/** The reads and the value of a map that moves elements of the data: those at `coords`. */
export const readData = (coords: readonly Linear[]): Pick<AccessMap, "reads" | "value"> => ({
  reads: [{ table: gatheredTable, at: coords }],
  value: { kind: "read", read: 0 },
});

/** Whether elements of the data move as they are: the value is one read. */
export const isMove = ({ value }: Pick<AccessMap, "value">): boolean => value.kind === "read";

/** The coordinates of the first element of the data that a map reads; none where it reads no data. */
export const dataCoords = ({ reads }: Pick<AccessMap, "reads">): readonly Linear[] =>
  reads.find(({ table }) => table === gatheredTable)?.at ?? [];

/** The dim that r is in coordinates: the one behind those of the output. */
export const reductionDim = ({ domain }: Pick<AccessMap, "domain">): number => domain.length;

/** The extents of all that a map is walked over: of an output tile, and behind them the number of terms. */
export const walked = (
  { reduced }: Pick<AccessMap, "reduced">,
  tile: Shape,
  reductionLength: number = reduced?.max ?? 0,
): Shape => (reduced === undefined ? tile : [...tile, reductionLength]);

/** Whether the number of an element's terms hangs on index values, and matters. */
export const countsElements = (map: AccessMap): boolean =>
  map.reduced !== undefined &&
  reductionsIn(map.value).some(({ how }) => countsItsElements(how)) &&
  (map.reduced.segment !== undefined ||
    map.indices.some(
      (index, s) =>
        isInReduction(map, s) &&
        (index.outOfRange === "zero" || index.extent === 0 || index.excluded !== undefined),
    ));

/** What of a map has coordinates; at the text, bounds are open. */
export interface Forms {
  readonly indices: readonly Pick<IndexOperand, "value">[];
  readonly reads: readonly Read[];
  /** Absent: nothing is said of what is written. */
  readonly write?: Read;
}

/** Returns every coordinate and sum of a map, those of what is written before those of what the value reads. */
export const formsOf = ({ indices, reads, write }: Forms): readonly Linear[] => [
  ...indices.flatMap(coordsOf),
  ...(write?.at ?? []),
  ...reads.flatMap((read) => read.at),
];

/** Returns the map with another form in the place of each. `within` gives the coordinates of a read, and of what is written. */
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

/** True if two reads are of one element. */
export const sameRead = (a: Read, b: Read): boolean =>
  a.table === b.table &&
  a.at.length === b.at.length &&
  a.at.every((form, k) => equalLinear(form, at(b.at, k)));

/** True if an index operand reads a table; false if it is a sum. */
export const isRead = (value: Read | Linear): value is Read => "table" in value;

/** The coordinates that an index operand's value is made from: those of its read, or the sum itself. */
export const coordsOf = ({ value }: Pick<IndexOperand, "value">): readonly Linear[] =>
  isRead(value) ? value.at : [value];

/** Whether negative values count from the bound, where they count. */
export const countsFromBound = ({
  wrapNegativeBy,
  extent,
  dynamic,
}: Pick<IndexOperand, "wrapNegativeBy" | "extent" | "dynamic">): boolean =>
  wrapNegativeBy === undefined || (wrapNegativeBy === extent && dynamic?.wrapNegativeBy === dynamic?.extent);

/** The number of the data among the inputs. */
export const gatheredTable = 0;

/** The bytes of an element that has none, little-endian. */
export function fillBytes({ fill = "0" }: Pick<AccessMap, "fill">, dtype: DType): Uint8Array {
  let bits = BigInt(fill);
  return Uint8Array.from({ length: bytesOf(byteAligned(dtype)) }, () => {
    const byte = Number(bits & 0xffn);
    bits >>= 8n;
    return byte;
  });
}

/** What a map says by itself, derived once: schedules are weighed by the hundred. */
interface MapFacts {
  readonly reads: readonly (readonly (readonly Linear[])[])[];
  readonly dependsOn: readonly ReadonlySet<number>[];
  readonly indexed: ReadonlySet<number>;
  /** Output dims, and that of terms, that each index operand depends on, through those before it too. */
  readonly dependencies: readonly ReadonlySet<number>[];
  readonly outputDims: ReadonlySet<number>;
  readonly writtenIndices: ReadonlySet<number>;
  readonly gatherDims: readonly number[];
  /** For each data dim after the last gather dim, the output dim that it is, where no index follows that one. */
  readonly rowDims: readonly (number | undefined)[];
  /** By input and by its dims. */
  readonly followed: readonly (readonly (Followed | undefined)[])[];
}

const factsOf = derivedOnce(deriveFacts);

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

/** Returns the index operands that coordinates need, directly or through others. */
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

/** How a dim of an input follows the output: the coordinates that read it are this sum of dims and sizes, and up to `spread` more. */
export interface Followed {
  readonly form: Linear;
  readonly spread: number;
}

/**
 * Undefined where index operands, the places of a bag, div or mod have a part in a coordinate, where coordinates differ by more than a constant,
 * or stand still.
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

/** How each dim of an input follows the output; undefined for one that is read anywhere. */
export const followedDims = (map: AccessMap, table: number): readonly (Followed | undefined)[] =>
  factsOf(map).followed[table] ?? [];

/** Output dims that cut an input to tiles: what its coordinates divide by, or pick, is whole in each of its tiles. */
export const cutBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  new Set(followedDims(map, table).flatMap((along) => (along === undefined ? [] : dimsOf(along.form))));

/** The coordinates that an input is read at, one list for each place that reads it. */
export const readsOf = (map: AccessMap, table: number): readonly (readonly Linear[])[] =>
  factsOf(map).reads[table] ?? [];

/** Data dims whose coordinate an index picks, in order. */
export const gatherDims = (map: AccessMap): readonly number[] => factsOf(map).gatherDims;

/** Returns the dims of the output that index values name: a tile in UB stores them whole. */
export const storedDims = ({ write }: Pick<AccessMap, "write">): readonly number[] =>
  write.at.flatMap((coord, k) => (indicesOf(coord).length > 0 ? [k] : []));

/** Output dims that an input follows: its elements change with them, whatever the indices say. */
export const followedBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  factsOf(map).dependsOn[table] ?? new Set();

/** Every output dim: what the output follows. */
export const outputDims = (map: AccessMap): ReadonlySet<number> => factsOf(map).outputDims;

/** Output dims that some index value follows. */
export const indexed = (map: AccessMap): ReadonlySet<number> => factsOf(map).indexed;

/**
 * Returns the extents of the points at which index values are looked up, in output dims. They are the
 * output's own where it has elements. An empty output has index values all the same where only dims that no
 * index follows are empty: those dims count as one.
 */
export const indexPoints = (map: AccessMap): Shape => pointsAlong(indexed(map), map.domain);

/** Returns those points by the output dims that some index value follows. */
export const pointsAlong = (dims: ReadonlySet<number>, output: Shape): Shape =>
  output.includes(0) ? output.map((extent, d) => (dims.has(d) ? extent : 1)) : output;

/**
 * The first output dim of the box that an index names: behind it, data follows the output, each dim in one coordinate, and no
 * index does.
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

/** Returns the dims that an index operand depends on, through those before it too: those of the domain, and that of terms. */
export const indexDims = (map: AccessMap, index: number): ReadonlySet<number> =>
  at(factsOf(map).dependencies, index);

/** True if an index operand is one of a term: it depends on r. */
export const isInReduction = (map: AccessMap, index: number): boolean =>
  map.reduced !== undefined && indexDims(map, index).has(reductionDim(map));

/** The policy of the gather, which its bare reads take: that of the last index operand that has one. */
export const policyOf = (map: {
  readonly indices: readonly Pick<IndexOperand, "outOfRange">[];
}): OutOfBounds =>
  map.indices.reduce<OutOfBounds>(
    (last, { outOfRange }) => (outOfRange === "any" ? last : outOfRange),
    "error",
  );

/** The map with another policy where it has that of the gather. */
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
 * Extents of an input's tile for an output tile, behind whose extents the number of terms stands: the span of every coordinate that reads it. A dim that an index operand picks, or
 * that is read at fixed places alone, is whole (full load).
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
 * Elements of an input that a tile reads at most: those of its own tile, or fewer where index values name places in it one by
 * one. A tile without elements reads none.
 */
export function elementsRead(map: AccessMap, table: number, tile: Shape, shape: Shape): number {
  const elements = elementCount(inputTile(map, table, tile, shape));
  const named = readsOf(map, table).reduce((sum, coords) => {
    const dims = dimsAfter(coords, factsOf(map).dependencies);
    return sum + [...dims].reduce((product, d) => product * at(tile, d), 1);
  }, 0);
  return elementCount(tile) === 0 ? 0 : Math.min(elements, named);
}

/** Output dims that the coordinates of a read depend on, through index values too: `dependencies` has those of each. */
const dimsAfter = (coords: readonly Linear[], dependencies: readonly ReadonlySet<number>[]): Set<number> =>
  new Set(
    coords.flatMap((coord) => [
      ...dimsOf(coord),
      ...indicesOf(coord).flatMap((s) => [...at(dependencies, s)]),
    ]),
  );

/** Elements from the first to the last that a dim is read at in a tile of some sizes, none of them 0. */
export const spanOver = ({ form, spread }: Followed, sizes: readonly Linear[]): Linear =>
  sumOf([
    constant(1 + spread),
    ...dimsOf(form).map((d) => scale(sub(at(sizes, d), constant(1)), Math.abs(stepAlong(form, "dim", d)))),
  ]);

/** The same of numbers; 0 for a tile without elements. */
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
 * Elements of a tile that one index fetches together: the data dims after the last gather dim, as far as they follow
 * output dims that no index does.
 */
export function rowElements(map: AccessMap, tile: Shape, data: Shape): number {
  const sizes = factsOf(map).rowDims.map((d) => (d === undefined ? 1 : at(tile, d)));
  return Math.max(1, contiguousRun(sizes, data));
}
