/** Lower bound on the elements of an input that a gather reads, whatever tiles its schedule has. */
import { followedDims, inputTile, walked, type AccessMap, type Followed } from "../access.js";
import { at, elementCount, type Shape } from "../types.js";

/**
 * Returns a lower bound on the number of elements of an input that a gather reads under any tiling; 0 for an
 * empty output. Gather dims count in full. `extents`: extents of the output. `shape`: extents of the input.
 */
export function readTogether(map: AccessMap, table: number, extents: Shape, shape: Shape): number {
  const space = walked(map, extents);
  if (elementCount(space) === 0) return 0;
  const visited = new Set<number>();
  const followed = followedDims(map, table);
  return inputTile(map, table, space, shape).reduce((elements, span, k) => {
    const along = followed[k];
    if (along === undefined) return elements * span;
    const dims = along.form.terms.flatMap(({ of }) => (of.kind === "dim" ? [of.dim] : []));
    // Of two coordinates that follow one dim, as of a diagonal, the second may have one value for each of the
    // first.
    const fresh = !dims.some((dim) => visited.has(dim));
    for (const dim of dims) visited.add(dim);
    return fresh ? elements * Math.min(span, at(shape, k), addressesAlong(along, space)) : elements;
  }, 1);
}

/**
 * Returns a lower bound on the number of distinct coordinates at which a map reads along one dim of an input.
 * The first parameter is the dependence of the dim on the output dims. `space`: extents of the output, then
 * of the reduction dim.
 */
function addressesAlong({ form, spread }: Followed, space: Shape): number {
  const steps = form.terms
    .flatMap(({ by, of }) => (of.kind === "dim" ? [{ by: Math.abs(by), extent: at(space, of.dim) }] : []))
    .sort((a, b) => a.by - b.by);
  let [count, together] = [1 + spread, true];
  for (const { by, extent } of steps) {
    if (by === 0 || extent <= 1) continue;
    if (together && by <= count) count += by * (extent - 1);
    else {
      count = together ? count * extent : count + extent - 1;
      together = false;
    }
  }
  return count;
}
