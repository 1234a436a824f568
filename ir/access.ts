/**
 * The access level: one canonical gather, `out[d0, d1, …] = data[results[0], results[1], …]`.
 *
 * A map is a flat list of sites, index values each wrapped by its policy, and a coordinate for each dim of the data,
 * linear in output dims and sites. Gather dims, operand tiles, the full-load rule and the footprint all derive from the
 * map, once, for every operator of every dialect.
 */
import { dimsOf, sitesOf, soleAtom, stepAlong, type Linear } from "./linear.js";
import { at, contiguousRun, type Shape } from "./types.js";

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

/** An index value under its policy: a number in [0, below), or none where the policy says so. */
export interface Site {
  readonly value: Read;
  /** Negative values count from this number. */
  readonly fromEnd?: number;
  readonly keep: OutOfBounds;
  readonly below: number;
}

/** Where each coordinate of an element comes from: output dims and index values. */
export interface AccessMap {
  readonly outRank: number;
  /** Inner first. */
  readonly sites: readonly Site[];
  /** A coordinate for each dim of the data, the input of number 0. */
  readonly results: readonly Linear[];
}

/** The input that `results` address. */
export const gatheredTable = 0;

/** What a map says by itself, derived once: schedules are weighed by the hundred. */
interface MapFacts {
  readonly reads: readonly (readonly (readonly Linear[])[])[];
  readonly followed: readonly ReadonlySet<number>[];
  readonly indexed: ReadonlySet<number>;
  readonly gatherDims: readonly number[];
  /** For each input and each of its dims, the output dim that it follows step by step; -1: it is whole. Absent: neither. */
  readonly simple: readonly (readonly number[] | undefined)[];
}

const known = new WeakMap<AccessMap, MapFacts>();

function factsOf(map: AccessMap): MapFacts {
  const found = known.get(map);
  if (found !== undefined) return found;
  const tables = Math.max(gatheredTable, ...map.sites.map((site) => site.value.table)) + 1;
  const reads = Array.from({ length: tables }, (_, table) => [
    ...(table === gatheredTable ? [map.results] : []),
    ...map.sites.flatMap((site) => (site.value.table === table ? [site.value.at] : [])),
  ]);
  const facts: MapFacts = {
    reads,
    followed: reads.map((lists) => new Set(lists.flatMap((coords) => coords.flatMap(dimsOf)))),
    indexed: new Set(map.sites.flatMap((site) => site.value.at.flatMap(dimsOf))),
    gatherDims: map.results.flatMap((result, k) => (sitesOf(result).length > 0 ? [k] : [])),
    simple: reads.map(followedStepwise),
  };
  known.set(map, facts);
  return facts;
}

function followedStepwise(lists: readonly (readonly Linear[])[]): readonly number[] | undefined {
  const [first = []] = lists;
  const along = first.map((_, k) => {
    // Reads of other ranks are for the verifier to tell.
    const [dim, ...others] = new Set(lists.map((coords) => stepwise(coords[k])));
    return others.length === 0 ? dim : undefined;
  });
  return lists.length > 0 && along.every((dim) => dim !== undefined) ? along : undefined;
}

function stepwise(coord: Linear | undefined): number | undefined {
  if (coord === undefined) return undefined;
  const [only, ...others] = coord.terms;
  if (only === undefined || coord.terms.some(({ of }) => of.kind !== "dim")) return -1;
  const { by, of } = only;
  return others.length === 0 && of.kind === "dim" && Math.abs(by) === 1 ? of.dim : undefined;
}

/** The coordinates that an input is read at, one list for each place that reads it. */
export const readsOf = (map: AccessMap, table: number): readonly (readonly Linear[])[] =>
  factsOf(map).reads[table] ?? [];

/** Data dims whose coordinate an index picks, in order. */
export const gatherDims = (map: AccessMap): readonly number[] => factsOf(map).gatherDims;

/** Output dims that an input follows: its elements change with them, whatever the indices say. */
export const followedBy = (map: AccessMap, table: number): ReadonlySet<number> =>
  factsOf(map).followed[table] ?? new Set();

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

/** The policy of the gather: what its bare reads take. */
export const policyOf = (map: AccessMap): OutOfBounds => map.sites[0]?.keep ?? "error";

/** The map with another policy for its reads. */
export const withPolicy = (map: AccessMap, keep: OutOfBounds): AccessMap => ({
  ...map,
  sites: map.sites.map((site) => ({ ...site, keep })),
});

/**
 * Extents of an input's tile for an output tile: the span of every coordinate that reads it. A dim that a site picks, or
 * that is read at fixed places alone, is whole (full load).
 */
export function inputTile(map: AccessMap, table: number, tile: Shape, shape: Shape): number[] {
  const simple = factsOf(map).simple[table];
  if (simple !== undefined) {
    return shape.map((extent, k) => {
      const dim = at(simple, k);
      return dim === -1 ? extent : Math.min(extent, at(tile, dim));
    });
  }
  const reads = readsOf(map, table);
  if (reads.length === 0) return [...shape];
  return shape.map((extent, k) => {
    let widest = 0;
    for (const coords of reads) widest = Math.max(widest, spanOf(at(coords, k), tile, extent));
    return Math.min(extent, widest);
  });
}

/** Elements from the first to the last that a coordinate names in a tile. */
function spanOf({ terms }: Linear, tile: Shape, extent: number): number {
  if (terms.length === 0) return extent;
  let span = 1;
  for (const { by, of } of terms) {
    if (of.kind !== "dim") return extent;
    if (at(tile, of.dim) === 0) return 0;
    span += Math.abs(by) * (at(tile, of.dim) - 1);
  }
  return span;
}

/**
 * Elements of a tile that one index fetches together: the data dims after the last gather dim, as far as they follow
 * output dims that no index does.
 */
export function rowElements(map: AccessMap, tile: Shape, data: Shape): number {
  const follows = indexed(map);
  const last = Math.max(-1, ...gatherDims(map));
  const sizes = map.results.slice(last + 1).map((coord) => {
    const [d, ...others] = dimsOf(coord);
    const along = d !== undefined && others.length === 0 && stepAlong(coord, "dim", d) === 1;
    return along && !follows.has(d) ? at(tile, d) : 1;
  });
  return Math.max(1, contiguousRun(sizes, data.slice(last + 1)));
}
