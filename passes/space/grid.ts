/** The tiles of a grid. */
import { replaced, type TakesTile } from "../../ir/tiling/index.js";
import type { Shape } from "../../ir/types.js";

/**
 * Axis of a grid of tiles: a dim of the output (of the domain, for a scatter), and the ascending tile sizes
 * to try along the dim, in elements.
 */
export interface GridAxis {
  readonly dim: number;
  readonly entries: readonly number[];
}

/**
 * Yields the tiles of a grid that `takes` accepts; the first axis varies slowest. Once an extent is rejected,
 * larger extents of the same axis are skipped. `tile`: extents along the dims that have no axis.
 */
export function* gridOf(
  tile: Shape,
  [axis, ...inner]: readonly GridAxis[],
  takes: TakesTile,
  /** Called with a rejected tile, and the number of tiles that are skipped with it, itself included. */
  onRefused: (tile: Shape, count: number) => void = () => undefined,
): Generator<Shape, void> {
  if (axis === undefined) {
    yield tile;
    return;
  }
  for (const [k, entry] of axis.entries.entries()) {
    const wider = replaced(tile, axis.dim, entry);
    if (!takes(wider)) {
      onRefused(wider, (axis.entries.length - k) * gridSize(inner));
      return;
    }
    yield* gridOf(wider, inner, takes, onRefused);
  }
}

/** Returns the number of tiles in a grid: the product, over all axes, of the number of extents to try. */
export const gridSize = (axes: readonly GridAxis[]): number =>
  axes.reduce((product, { entries }) => product * entries.length, 1);
