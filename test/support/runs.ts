/** How often a property is tried: in full by `npm run test:all` and by a file alone, a fifth as often by `npm test`. */
import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether this is `npm test`. */
    readonly quick: boolean;
  }
}

/** The runs of a property, and what is expected of a number of runs. */
export const runs = (all: number): number => (inject("quick") ? Math.ceil(all / 5) : all);
