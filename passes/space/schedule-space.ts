/**
 * The schedules worth weighing for a gather: along each output dim a number of tile entries that grows with
 * the logarithm of its extent, and for each tile the views, orders and buffers that the user left open.
 */
import { replaced, TileSpace, type Tiling } from "../../ir/tiling/index.js";
import { at, type Shape } from "../../ir/types.js";
import { entriesOf, laneMultiple, shareOf } from "./entries.js";
import { availableUbOf, fits, fitsUb } from "./fits.js";
import type { GridAxis } from "./grid.js";
import { variants, variantsInEveryOrder } from "./variants.js";

/** Larger entries of a dim that are tried for less of another one. */
const trades = 5;

/**
 * Search space of the schedules of a program. Each schedule keeps the choices that the user has set, and
 * takes at most `availableUb` bytes of unified buffer (UB).
 */
export class ScheduleSpace extends TileSpace {
  /** Bytes of UB that a schedule may take. */
  readonly availableUb: number;
  private readonly entriesAlong: ReadonlyMap<number, readonly number[]>;

  /**
   * `availableUb`: in bytes; by default the target's safe size if the smallest tile fits it, else the budget.
   */
  constructor(base: Tiling, availableUb?: number) {
    super(base);
    this.availableUb = availableUb ?? availableUbOf(this.start);
    this.entriesAlong = new Map(this.free.map((d) => [d, entriesOf(d, at(this.limits, d), base)]));
  }

  /**
   * Returns the tile extents worth trying along a dim of the output (of the domain, for a scatter),
   * ascending. The last extent is the whole view. The list is empty for a dim that is not free.
   */
  entries(d: number): readonly number[] {
    return this.entriesAlong.get(d) ?? [];
  }

  /**
   * Returns the number of elements of which tile extents along a dim are multiples, except for the last
   * extent.
   */
  multiple(d: number): number {
    return laneMultiple(d, this.base);
  }

  /** Returns the tile extent that splits a dim into at most `count` tiles. */
  share(d: number, count: number): number {
    const limit = at(this.limits, d);
    return shareOf(d, limit, Math.min(count, limit), this.base);
  }

  /** Returns the axes of a grid of tiles. */
  axes(entries: (d: number) => readonly number[] = (d) => this.entries(d)): readonly GridAxis[] {
    return this.free.map((dim) => ({ dim, entries: entries(dim) }));
  }

  /** Returns the tiles beside one, with other entries along one dim. */
  along(tile: Shape, entries: (d: number, entry: number) => readonly number[]): readonly Shape[] {
    return this.free.flatMap((d) => entries(d, at(tile, d)).map((n) => replaced(tile, d, n)));
  }

  /**
   * Returns the tiles beside one with more along one dim for less along another, as many elements or a few
   * more: free UB and balance stop what goes along one dim.
   */
  traded(tile: Shape): readonly Shape[] {
    const tiles: Shape[] = [];
    const sides = this.free.map((dim) => {
      const entry = at(tile, dim);
      const entries = this.entries(dim);
      const larger = entries.filter((n) => n > entry).slice(0, trades);
      return { dim, entry, larger, smaller: entries.filter((n) => n < entry) };
    });
    for (const more of sides) {
      for (const less of sides) {
        if (less === more) continue;
        for (const n of more.larger) {
          const same = less.smaller.filter((m) => m * n <= more.entry * less.entry).length;
          for (const m of less.smaller.slice(Math.max(0, same - 1), same + 1))
            tiles.push(replaced(replaced(tile, more.dim, n), less.dim, m));
        }
      }
    }
    return tiles;
  }

  /**
   * True if a schedule is within the bytes of UB that it may take, and its tile no longer than a task should
   * be.
   */
  fits(tiling: Tiling): boolean {
    return fits(tiling, this.availableUb);
  }

  /** True if that is so but for the order of a scatter's points, which tiles with larger entries may keep. */
  mayFit(tiling: Tiling): boolean {
    return fitsUb(tiling, this.availableUb);
  }

  /** Returns the schedules of a tile that fit, in its own order of loops. */
  schedules(tiling: Tiling): readonly Tiling[] {
    return variants(tiling, this.availableUb);
  }

  /**
   * Returns the schedules of a tile that fit, in every order of loops that makes a nest of its own;
   * `bothDirections`: also for a cache.
   */
  schedulesInEveryOrder(tiling: Tiling, bothDirections = false): readonly Tiling[] {
    return variantsInEveryOrder(tiling, this.availableUb, bothDirections);
  }
}
