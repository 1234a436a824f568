/** Lower bound on the elements of an input that a gather reads, whatever tiles its schedule has. */
import { followedDims, inputTile, walked, type AccessMap, type Followed } from "../access.js";
import { at, elementCount, type Shape } from "../types.js";

/**
 * Returns the minimum number of elements of an input that all tiles of an output read together; 0 for an
 * empty output. `extents`: extents of the output. `shape`: extents of the input. A dim that index values
 * select, or that is read only at fixed positions, counts in full. In other dims, elements that no coordinate
 * reaches do not count.
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
 * Returns a lower bound on the number of positions in an input dim at which a map reads. Positions between
 * several reads of one element count too. In ascending order of stride, a stride up to the length of the
 * contiguous range so far extends the range. The first longer stride repeats the range. Two sets of m and n
 * integers have at least m + n - 1 different sums, so each further dim adds extent - 1.
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
