/** A map over symbols to one of numbers. */
import { isRead, type AccessMap } from "./access.js";
import { withBounds, type OpenSite } from "./bounds.js";
import { bindSymbols, evaluate, type Linear } from "./linear.js";
import type { Sizes, SymbolicMap } from "./symbolic.js";
import type { Shape, TensorType } from "./types.js";

/**
 * Symbols replaced by sizes, and open bounds closed for them. A bound that comes out below 0 leaves nothing to name, as 0 does.
 * `output`: absent at the tile level.
 */
export function bindMap(
  map: SymbolicMap,
  sizes: Sizes,
  inputs: readonly TensorType[],
  output: Shape | undefined,
): AccessMap {
  const env = new Map(Object.entries(sizes));
  const put = (form: Linear): Linear => bindSymbols(form, env);
  const size = (form: Linear): number =>
    form.terms.length === 0 ? form.at : Math.max(0, evaluate(form, env));
  const sites = map.sites.map(({ value, below, fromEnd, ...site }): OpenSite => ({
    ...site,
    value: isRead(value) ? { table: value.table, at: value.at.map(put) } : put(value),
    ...(below === undefined ? {} : { below: size(below) }),
    ...(fromEnd === undefined ? {} : { fromEnd: fromEnd === "below" ? fromEnd : size(fromEnd) }),
  }));
  return withBounds({ ...map, sites, results: map.results.map(put) }, inputs, output);
}
