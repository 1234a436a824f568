/** How much a test tries: all by `npm run test:all` and where a file is run alone, a fifth of that by `npm test`. */
import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether this is `npm test`. */
    readonly quick: boolean;
  }
}

/** The runs of a property, and what is expected of a number of runs. */
export const runs = (all: number): number => (inject("quick") ? Math.ceil(all / 5) : all);

/** The elements of a list that are tried. */
export const tried = <T>(all: readonly T[]): readonly T[] =>
  inject("quick") ? all.filter((_, k) => k % 5 === 0) : all;
