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
 * Part of a search's candidates, so that several processes can share a search. It is number `part` of `parts`
 * disjoint shares; `part` counts from 1.
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
 * Returns the candidates that a search costs within its budget. They are the default, then the most promising
 * tiles on the regular grid of tile shapes, then the most promising tiles off the grid. At most a tenth of
 * the budget goes to tiles off the grid, unless the grid is exhausted. A budget of `"all"` or of milliseconds
 * returns every candidate.
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
