/** Which candidates of a space a search costs: what a budget leaves, and of that a shard's part. */
import type { SearchSpace, SpaceEntry } from "./space.js";

/** Candidates that are costed or measured, or how long. */
export type Budget = number | "all" | { readonly milliseconds: number };

/** The `part`-th of `parts`, from 1. */
export interface Shard {
  readonly part: number;
  readonly parts: number;
}

/** Of a budget, what goes to the whole numbers beside the best tiles, which would fill it alone: their estimates are alike. */
const nearbyShare = 0.1;

/** The list that a budget leaves: the default, the most promising, and the most promising of those beside the grid. */
export function cut(space: SearchSpace, defaultId: string, budget: Budget): readonly SpaceEntry[] {
  const first = space.entries.filter(({ facts }) => facts.id === defaultId);
  const others = space.entries.filter(({ facts }) => facts.id !== defaultId);
  if (typeof budget !== "number" || budget > others.length) return [...first, ...others];
  const nearby = others.filter(({ facts }) => facts.beside);
  const grid = others.filter(({ facts }) => !facts.beside);
  const tried = Math.min(nearby.length, Math.max(Math.floor(budget * nearbyShare), budget - 1 - grid.length));
  return [...first, ...grid.slice(0, Math.max(0, budget - 1 - tried)), ...nearby.slice(0, tried)];
}

/** Whether a candidate is this shard's. */
export const inShard = (id: string, shard: Shard | undefined): boolean =>
  shard === undefined || Number.parseInt(id.slice(0, 8), 16) % shard.parts === shard.part - 1;
