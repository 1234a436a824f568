import type { Shape } from "../../ir/types.js";

/** The dim that y lanes share: the innermost one outside the rows that has more than one entry. */
export function rowDim(tile: Shape): number | undefined {
  const d = tile.slice(0, -1).findLastIndex((extent) => extent > 1);
  return d === -1 ? undefined : d;
}
