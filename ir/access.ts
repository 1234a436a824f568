/**
 * The access level: one canonical gather, `out[d0, d1, …] = data[results[0], results[1], …]`.
 *
 * A map is a flat list of sites, index values each wrapped by its policy, and a coordinate for each dim of the data,
 * linear in output dims and sites. Gather dims, operand tiles, the full-load rule and the footprint all derive from the
 * map, once, for every operator of every dialect.
 */
import {
  add,
  constant,
  dimsOf,
  isConstant,
  isFixed,
  scale,
  sitesOf,
  soleAtom,
  stepAlong,
  sub,
  sumOf,
  withoutDims,
  type Linear,
} from "./linear.js";
import { at, contiguousRun, bytesOf, elementCount, type DType, type Shape } from "./types.js";

/** `from-end`: an index in [-extent, -1] counts from the end, printed as `from_end(…)`. */
export type NegativeIndex = "from-end" | "illegal";

/** What an index outside its extent means. `error` rejects the run; `unchecked` is the caller's promise. */
export const outOfBoundsPolicies = ["error", "clamp", "zero", "wrap", "unchecked"] as const;
/** What an index outside its extent means. */
export type OutOfBounds = (typeof outOfBoundsPolicies)[number];

/** One element of an operand: its number among the inputs, and its coordinates. */
export interface Read {
  readonly table: number;
  readonly at: readonly Linear[];
}

/**
 * An index value under its policy: a number in [0, below), or none where the policy says so. Under `any` it is the value as it
 * stands, without bounds: a part of a sum that another site bounds.
 */
export interface Site {
  /** An element of an input, or a sum of dims and sites before this one. */
  readonly value: Read | Linear;
  /** Negative values count from this number. */
  readonly fromEnd?: number;
  readonly keep: OutOfBounds | "any";
  /** Absent under `any`. */
  readonly below?: number;
  /** What of these numbers the sizes of symbols tell, in a program over symbols: both are then the largest that some sizes give. */
  readonly open?: OpenBounds;
}

/** Names of the numbers that are told when sizes are bound; one name is one number. */
export interface OpenBounds {
  readonly below?: string;
  readonly fromEnd?: string;
}

/** Where each coordinate of an element comes from: output dims and index values. */
export interface AccessMap {
  readonly outRank: number;
  /** Inner first: a site reads by those before it alone. */
  readonly sites: readonly Site[];
  /** A coordinate for each dim of the data, the input of number 0. */
  readonly results: readonly Linear[];
  /** The bits of an element that has none under `zero`, as an unsigned decimal. Absent: 0. */
  readonly fill?: string;
}

/** Whether a site reads a table, or is a sum. */
export const isRead = (value: Read | Linear): value is Read => "table" in value;

/** The coordinates that a site's value is made from: those of its read, or the sum itself. */
export const coordsOf = ({ value }: Pick<Site, "value">): readonly Linear[] =>
  isRead(value) ? value.at : [value];

/** Whether negative values count from the bound, where they count. */
export const countsFromBound = ({
  fromEnd,
  below,
  open,
}: Pick<Site, "fromEnd" | "below" | "open">): boolean =>
  fromEnd === undefined || (fromEnd === below && open?.fromEnd === open?.below);

/** The input that `results` address. */
export const gatheredTable = 0;

/** The bytes of an element that has none, little-endian. */
export function fillBytes({ fill = "0" }: AccessMap, dtype: DType): Uint8Array {
  let bits = BigInt(fill);
  return Uint8Array.from({ length: bytesOf(dtype) }, () => {
    const byte = Number(bits & 0xffn);
    bits >>= 8n;
    return byte;
  });
}

/** What a map says by itself, derived once: schedules are weighed by the hundred. */
interface MapFacts {
  readonly reads: readonly (readonly (readonly Linear[])[])[];
  readonly follows: readonly ReadonlySet<number>[];
  readonly indexed: ReadonlySet<number>;
  /** Output dims that each site depends on, through those before it too. */
  readonly behind: readonly ReadonlySet<number>[];
  readonly outputDims: ReadonlySet<number>;
  readonly gatherDims: readonly number[];
  /** For each data dim after the last gather dim, the output dim that it is, where no index follows that one. */
  readonly rowDims: readonly (number | undefined)[];
  /** By input and by its dims. */
  readonly followed: readonly (readonly (Followed | undefined)[])[];
}

const known = new WeakMap<AccessMap, MapFacts>();

function factsOf(map: AccessMap): MapFacts {
  const found = known.get(map);
  if (found !== undefined) return found;
  const read = map.sites.flatMap(({ value }) => (isRead(value) ? [value] : []));
  const tables = Math.max(gatheredTable, ...read.map(({ table }) => table)) + 1;
  const reads = Array.from({ length: tables }, (_, table) => [
    ...(table === gatheredTable ? [map.results] : []),
    ...read.flatMap((value) => (value.table === table ? [value.at] : [])),
  ]);
  const indexed = new Set(map.sites.flatMap((site) => coordsOf(site).flatMap(dimsOf)));
  const gatherDims = map.results.flatMap((result, k) => (sitesOf(result).length > 0 ? [k] : []));
  const behind: ReadonlySet<number>[] = [];
  for (const site of map.sites) behind.push(dimsBehind(coordsOf(site), behind));
  const facts: MapFacts = {
    reads,
    follows: reads.map((lists) => new Set(lists.flatMap((coords) => coords.flatMap(dimsOf)))),
    indexed,
    behind,
    outputDims: new Set(Array.from({ length: map.outRank }, (_, d) => d)),
    gatherDims,
    rowDims: map.results.slice((gatherDims.at(-1) ?? -1) + 1).map((coord) => {
      const [d, ...others] = dimsOf(coord);
      const along = d !== undefined && others.length === 0 && stepAlong(coord, "dim", d) === 1;
      return along && !indexed.has(d) ? d : undefined;
    }),
    followed: reads.map((lists) => Array.from(lists[0] ?? [], (_, k) => followedAlong(lists, k))),
  };
  known.set(map, facts);
  return facts;
}

/** How a dim of an input follows the output: the coordinates that read it are this sum of dims and sizes, and up to `spread` more. */
export interface Followed {
  readonly form: Linear;
  readonly spread: number;
}

/** Undefined where sites, div or mod have a part in a coordinate, where coordinates differ by more than a constant, or stand still. */
function followedAlong(lists: readonly (readonly Linear[])[], k: number): Followed | undefined {
  const coords = lists.flatMap((list) => list[k] ?? []);
  const [first] = coords;
  // Reads of other ranks are for the verifier to tell.
  if (first === undefined || coords.length < lists.length || dimsOf(first).length === 0) return undefined;
  const places = coords.map((coord) => sub(coord, first));
  if (!isFixed(withoutDims(first)) || !places.every(isConstant)) return undefined;
  const shifts = places.map((place) => place.at);
  const least = Math.min(...shifts);
  return { form: add(first, constant(least)), spread: Math.max(...shifts) - least };
}

/** How each dim of an input follows the output; undefined for one that is read anywhere. */
export const followedDims = (map: AccessMap, table: number): readonly (Followed | undefined)[] =>
  factsOf(map).followed[table] ?? [];

/** The coordinates that an input is read at, one list for each place that reads it. */
export const readsOf = (map: AccessMap, table: number): readonly (readonly Linear[])[] =>
  factsOf(map).reads[table] ?? [];

/** Data dims whose coordinate an index picks, in order. */
export const gatherDims = (map: AccessMap): readonly number[] => factsOf(map).gatherDims;

/** Output dims that an input follows: its elements change with them, whatever the indices say. */
export const followedBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  factsOf(map).follows[table] ?? new Set();

/** Every output dim: what the output follows. */
export const outputDims = (map: AccessMap): ReadonlySet<number> => factsOf(map).outputDims;

/** Output dims that some index value follows. */
export const indexed = (map: AccessMap): ReadonlySet<number> => factsOf(map).indexed;

/** The first output dim of the box that an index names: behind it, data follows the output and no index does. */
export function pickedFrom(map: AccessMap): number {
  const { outRank, results } = map;
  const followed = indexed(map);
  let first = outRank;
  while (first > 0) {
    const coord = results[results.length - 1 - (outRank - first)];
    const only = coord === undefined ? undefined : soleAtom(coord);
    if (only?.kind !== "dim" || only.dim !== first - 1 || followed.has(only.dim)) break;
    first--;
  }
  return first;
}

/** The policy of the gather, which its bare reads take: that of the last site that has one. */
export const policyOf = (map: { readonly sites: readonly Pick<Site, "keep">[] }): OutOfBounds =>
  map.sites.reduce<OutOfBounds>((last, { keep }) => (keep === "any" ? last : keep), "error");

/** The map with another policy where it has that of the gather. */
export function withPolicy<M extends { readonly sites: readonly Pick<Site, "keep">[] }>(
  map: M,
  keep: OutOfBounds,
): M {
  const own = policyOf(map);
  return { ...map, sites: map.sites.map((site) => (site.keep === own ? { ...site, keep } : site)) };
}

/**
 * Extents of an input's tile for an output tile: the span of every coordinate that reads it. A dim that a site picks, or
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
  const whole = elementCount(inputTile(map, table, tile, shape));
  const named = readsOf(map, table).reduce((sum, coords) => {
    const dims = dimsBehind(coords, factsOf(map).behind);
    return sum + [...dims].reduce((product, d) => product * at(tile, d), 1);
  }, 0);
  return elementCount(tile) === 0 ? 0 : Math.min(whole, named);
}

/** Output dims that coordinates depend on, through the index values in them too; `behind` has those of each index value. */
const dimsBehind = (coords: readonly Linear[], behind: readonly ReadonlySet<number>[]): Set<number> =>
  new Set(
    coords.flatMap((coord) => [...dimsOf(coord), ...sitesOf(coord).flatMap((s) => [...at(behind, s)])]),
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
