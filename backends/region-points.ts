/** Every coordinate of a box, row-major. The same array each time, changed in place. */
import { at } from "../ir/types.js";

/**
 * Yields the coordinates of each point of a region in row-major order; nothing if a size is 0. The yielded
 * array is reused and changes in place.
 */
export function* pointsOf(sizes: readonly number[]): Generator<readonly number[]> {
  if (sizes.includes(0)) return;
  const coords = new Array<number>(sizes.length).fill(0);
  for (;;) {
    yield coords;
    let k = sizes.length - 1;
    while (k >= 0 && at(coords, k) + 1 === at(sizes, k)) coords[k--] = 0;
    if (k < 0) return;
    coords[k] = at(coords, k) + 1;
  }
}
