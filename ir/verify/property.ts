/** Named, checkable facts about a function. Passes require and ensure them; the pipeline verifies them. */
export type Property =
  "source" | "access" | "scheduled" | "full-load" | "fits-ub" | "tile" | "allocated" | "synchronized";
