/** What every schedule of a gather reads of an input, however it is cut to tiles. */
import { followedDims, inputTile, walked, type AccessMap, type Followed } from "../access.js";
import { at, elementCount, type Shape } from "../types.js";

/**
 * Elements of an input that the tiles of an output of these extents read together at least. Dims that index values pick, or that are
 * read at fixed places, count whole: every tile holds all of them. Along another dim, tiles that step over elements leave out
 * what no coordinate reaches.
 */
export function readTogether(map: AccessMap, table: number, extents: Shape, shape: Shape): number {
  const space = walked(map, extents);
  if (elementCount(space) === 0) return 0;
  const seen = new Set<number>();
  const followed = followedDims(map, table);
  return inputTile(map, table, space, shape).reduce((elements, span, k) => {
    const along = followed[k];
    if (along === undefined) return elements * span;
    const dims = along.form.terms.flatMap(({ of }) => (of.kind === "dim" ? [of.dim] : []));
    // Of two coordinates that follow one dim, as of a diagonal, the second may have one value for each of the first.
    const fresh = !dims.some((dim) => seen.has(dim));
    for (const dim of dims) seen.add(dim);
    return fresh ? elements * Math.min(span, at(shape, k), placesAlong(along, space)) : elements;
  }, 1);
}

/**
 * Places that coordinates of one form reach, and what lies between the reads of one element. Steps no longer than a run of places
 * make it longer; others repeat it. Two sets of whole numbers have as many sums as both have numbers, less one, at least.
 */
function placesAlong({ form, spread }: Followed, space: Shape): number {
  const steps = form.terms
    .flatMap(({ by, of }) => (of.kind === "dim" ? [{ by: Math.abs(by), extent: at(space, of.dim) }] : []))
    .sort((a, b) => a.by - b.by);
  let [places, together] = [1 + spread, true];
  for (const { by, extent } of steps) {
    if (by === 0 || extent <= 1) continue;
    if (together && by <= places) places += by * (extent - 1);
    else {
      places = together ? places * extent : places + extent - 1;
      together = false;
    }
  }
  return places;
}
