/** The tiles that a schedule may have. */
import { largestThat } from "../intervals/intervals.js";
import { at, type Shape } from "../types.js";
import { leastEntry, limitOf } from "./packed.js";
import { freeDims, isLegal } from "./rules/index.js";
import { replaced, smallestInView } from "./smallest.js";
import type { Tiling } from "./tiling.js";

/**
 * Function that returns true if a search accepts a tile. A function that rejects a tile must also reject
 * every larger tile.
 */
export type TakesTile = (tile: Shape) => boolean;

/**
 * Set of the tiles that a schedule may have while its other choices stay the same. Along a dim whose extent
 * no PyPTO rule prescribes, the extent of a tile is a multiple of a step, or the largest possible extent
 * (`limits`).
 */
export class TileSpace {
  /** Largest extent of a tile along each dim of the output (of the domain, for a scatter), in elements. */
  readonly limits: Shape;
  /** Dims that a tile may cut, outermost first. */
  readonly free: readonly number[];
  private smallest: Tiling | undefined;

  constructor(readonly base: Tiling) {
    this.limits = base.extents.map((_, d) => limitOf(base, d));
    this.free = freeDims(base).filter((d) => at(this.limits, d) > 1);
  }

  /** The smallest tile, with every pinned dim as its rule wants it. */
  get start(): Tiling {
    return (this.smallest ??= smallestInView(this.base));
  }

  /**
   * Returns the number of elements of which extents along dim `d` are multiples, so that tiles start at
   * bytes.
   */
  step(d: number): number {
    return leastEntry(this.base.gather, d);
  }

  /** Returns how many extents a tile may have along dim `d`. */
  count(d: number): number {
    return Math.ceil(at(this.limits, d) / this.step(d));
  }

  /** Returns all extents that a tile may have along dim `d`, ascending. */
  all(d: number): readonly number[] {
    return Array.from({ length: this.count(d) }, (_, k) =>
      Math.min((k + 1) * this.step(d), at(this.limits, d)),
    );
  }

  /** Returns the tile with the largest entry along a dim that is taken, up to `max`; undefined if none is. */
  largest(tile: Shape, d: number, max: number, takes: TakesTile = this.isLegal): Shape | undefined {
    const widest = replaced(tile, d, max);
    if (takes(widest)) return widest;
    const steps = this.stepsTaken(tile, d, max, takes);
    return steps === 0 ? undefined : replaced(tile, d, steps * this.step(d));
  }

  /** Returns how many entries along a dim are taken of those below `max`, found by bisection. */
  stepsTaken(tile: Shape, d: number, max: number, takes: TakesTile): number {
    const step = this.step(d);
    return largestThat(1, Math.ceil(max / step) - 1, (n) => takes(replaced(tile, d, step * n))) ?? 0;
  }

  private readonly isLegal: TakesTile = (tile) => isLegal(this.base.with({ tile }));
}
