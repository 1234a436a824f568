/** The tiles of a grid. */
import { replaced, type TakesTile } from "../../ir/tiling/index.js";
import type { Shape } from "../../ir/types.js";

/** Output dim of a grid of tiles, with the tile entries to try along it, ascending. */
export interface GridAxis {
  readonly dim: number;
  readonly entries: readonly number[];
}

/**
 * Yields the tiles of a grid that `takes` accepts; the first axis varies slowest. Entries of an axis after
 * the first refused one are skipped.
 */
export function* gridOf(
  tile: Shape,
  [axis, ...inner]: readonly GridAxis[],
  takes: TakesTile,
  /** Told of a tile that is not taken, with the number of tiles that are not either, itself among them. */
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

/** Returns the number of tiles of a grid. */
export const gridSize = (axes: readonly GridAxis[]): number =>
  axes.reduce((product, { entries }) => product * entries.length, 1);
