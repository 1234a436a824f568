/**
 * Name of a property of a function that the pipeline can verify. Passes require properties of their input and
 * ensure properties of their result.
 */
export type Property =
  "source" | "access" | "scheduled" | "full-load" | "fits-ub" | "tile" | "allocated" | "synchronized";
