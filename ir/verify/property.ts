/**
 * Name of a property of a function that the verifier can check. A pass requires properties of its input and
 * ensures properties of its result.
 */
export type Property =
  "source" | "access" | "scheduled" | "full-load" | "fits-ub" | "tile" | "allocated" | "synchronized";
