/** Which candidates of a space a search costs: what a budget leaves, and of that a shard's part. */
import { seeded } from "./seeded.js";
import type { SearchSpace, SpaceEntry } from "./space.js";

/** Candidates that are costed or measured, or how long. */
export type Budget = number | "all" | { readonly milliseconds: number };

/** The `part`-th of `parts`, from 1. */
export interface Shard {
  readonly part: number;
  readonly parts: number;
}

/** Of a budget, what explores: drawn among those that the estimate puts behind. */
const explored = 0.1;

/** The list that a budget leaves: the default, the most promising, and some that a seed draws from the rest. */
export function cut(space: SearchSpace, own: string, budget: Budget, seed: number): readonly SpaceEntry[] {
  const first = space.entries.filter(({ facts }) => facts.id === own);
  const others = space.entries.filter(({ facts }) => facts.id !== own);
  if (typeof budget !== "number" || budget > others.length) return [...first, ...others];
  const drawn = Math.floor(budget * explored);
  const chosen = others.slice(0, Math.max(0, budget - 1 - drawn));
  const rest = others.slice(chosen.length);
  const draw = seeded(seed);
  for (let k = 0; k < drawn && rest.length > 0; k++) {
    chosen.push(...rest.splice(Math.floor(draw() * rest.length), 1));
  }
  return [...first, ...chosen];
}

/** Whether a candidate is this shard's. */
export const inShard = (id: string, shard: Shard | undefined): boolean =>
  shard === undefined || Number.parseInt(id.slice(0, 8), 16) % shard.parts === shard.part - 1;
