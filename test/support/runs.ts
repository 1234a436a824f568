/** Share of its trials that a test does: all of them by `npm run test:all` or in a run of one file, a fifth by `npm test`. */
import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether this is `npm test`. */
    readonly quick: boolean;
  }
}

/** Returns the number of runs of a property out of `all`; also scales a count that is expected of these runs. */
export const runs = (all: number): number => (inject("quick") ? Math.ceil(all / 5) : all);

/** Returns the elements of a list that a test tries: all of them, or each fifth by `npm test`. */
export const tried = <T>(all: readonly T[]): readonly T[] =>
  inject("quick") ? all.filter((_, k) => k % 5 === 0) : all;
