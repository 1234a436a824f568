/**
 * Selection of the candidates that a search costs: those that the budget allows, and of these the part of a
 * shard.
 */
import type { SearchSpace, SpaceEntry } from "./space.js";

/**
 * Limit of a search: the number of candidates to cost or measure, `"all"` candidates, or a time in
 * milliseconds.
 */
export type Budget = number | "all" | { readonly milliseconds: number };

/**
 * Subset of a search's candidates, for one of several processes that share the search. The candidates are
 * divided into `parts` disjoint subsets; `part` is the number of the subset, from 1.
 */
export interface Shard {
  readonly part: number;
  readonly parts: number;
}

/**
 * Share of a budget for tiles with a whole number beside an entry of the best tiles. Their estimates are
 * alike, so that without this limit they would fill the budget alone.
 */
const nearbyShare = 0.1;

/**
 * Returns the candidates that a search costs within the budget: the default schedule first, then the
 * candidates that rank best. If the budget is `"all"` or a time in milliseconds, all candidates are returned.
 */
export function cut(space: SearchSpace, defaultId: string, budget: Budget): readonly SpaceEntry[] {
  const first = space.entries.filter(({ facts }) => facts.id === defaultId);
  const others = space.entries.filter(({ facts }) => facts.id !== defaultId);
  if (typeof budget !== "number" || budget > others.length) return [...first, ...others];
  const nearby = others.filter(({ facts }) => facts.beside);
  const grid = others.filter(({ facts }) => !facts.beside);
  const tried = Math.min(nearby.length, Math.max(Math.floor(budget * nearbyShare), budget - 1 - grid.length));
  return [...first, ...grid.slice(0, Math.max(0, budget - 1 - tried)), ...nearby.slice(0, tried)];
}

/** True if the candidate with this id belongs to the shard, or if `shard` is undefined. */
export const inShard = (id: string, shard: Shard | undefined): boolean =>
  shard === undefined || Number.parseInt(id.slice(0, 8), 16) % shard.parts === shard.part - 1;
