/**
 * The access level: one canonical gather, `out[d0, d1, …] = data[results[0], results[1], …]`.
 *
 * Gather dims, operand tiles, the full-load rule and the footprint all derive from the access map, once, for
 * every operator of every dialect.
 */
import { at, contiguousRun, type Shape } from "./types.js";

/** `from-end`: an index in [-extent, -1] counts from the end, printed as `from_end(…)`. */
export type NegativeIndex = "from-end" | "illegal";

/** What an index outside its extent means. `error` rejects the run; `unchecked` is the caller's promise. */
export type OutOfBounds = "error" | "clamp" | "zero" | "wrap" | "unchecked";
export const outOfBoundsPolicies: readonly OutOfBounds[] = ["error", "clamp", "zero", "wrap", "unchecked"];

/** One coordinate of the index tensor: an output dim, or a fixed component of gather_nd's tuple. */
export type IndexCoord =
  { readonly kind: "dim"; readonly dim: number } | { readonly kind: "component"; readonly value: number };

/** Where one data coordinate comes from. */
export type DimAccess =
  | { readonly kind: "direct"; readonly dim: number }
  | { readonly kind: "indirect"; readonly at: readonly IndexCoord[]; readonly negative: NegativeIndex };

export interface AccessMap {
  readonly outRank: number;
  readonly results: readonly DimAccess[];
}

export type IndirectAccess = Extract<DimAccess, { readonly kind: "indirect" }>;

/** Data dims read through an index component, in order, with how they are read. */
export const gatherAccesses = (map: AccessMap): { readonly dim: number; readonly access: IndirectAccess }[] =>
  map.results.flatMap((access, dim) => (access.kind === "indirect" ? [{ dim, access }] : []));

export const gatherDims = (map: AccessMap): number[] => gatherAccesses(map).map(({ dim }) => dim);

/** Output dims that data dims follow. */
export const dataFollows = (map: AccessMap): ReadonlySet<number> =>
  new Set(map.results.flatMap((access) => (access.kind === "direct" ? [access.dim] : [])));

/** Output dims that the index tensor follows. */
export const indicesFollow = (map: AccessMap): ReadonlySet<number> =>
  new Set(
    gatherAccesses(map).flatMap(({ access }) => access.at.flatMap((c) => (c.kind === "dim" ? [c.dim] : []))),
  );

/**
 * Which output dim each dim of the index tensor follows; `undefined` for the tuple dim of gather_nd.
 * Every indirect result reads the same dims, so the first one tells.
 */
export function indexDims(map: AccessMap): readonly (number | undefined)[] {
  const [first] = gatherAccesses(map);
  return first?.access.at.map((coord) => (coord.kind === "dim" ? coord.dim : undefined)) ?? [];
}

/** Extents of the data tile for an output tile: direct dims follow it, gather dims are whole (full load). */
export const dataTile = (map: AccessMap, tile: Shape, data: Shape): number[] =>
  map.results.map((access, k) =>
    access.kind === "direct" ? Math.min(at(tile, access.dim), at(data, k)) : at(data, k),
  );

/** Extents of the index tile for an output tile: the tuple dim of gather_nd is whole. */
export const indicesTile = (map: AccessMap, tile: Shape, indices: Shape): number[] =>
  indexDims(map).map((dim, k) => (dim === undefined ? at(indices, k) : at(tile, dim)));

/**
 * Elements of a tile that one index fetches together: the data dims after the last gather dim, as far as they follow
 * output dims that the index does not.
 */
export function rowElements(map: AccessMap, tile: Shape, data: Shape): number {
  const follows = indicesFollow(map);
  const last = Math.max(-1, ...gatherDims(map));
  const sizes = map.results
    .slice(last + 1)
    .map((access) => (access.kind === "direct" && !follows.has(access.dim) ? at(tile, access.dim) : 1));
  return Math.max(1, contiguousRun(sizes, data.slice(last + 1)));
}
