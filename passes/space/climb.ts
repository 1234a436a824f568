/**
 * A hill climb over the tiles of a space by a cost: first those of few entries along each dim, filled from
 * each end; then the tiles beside the best of all so far, along one dim and along two; then other orders of
 * loops around the best. The number of tiles that are looked at grows with the logarithm of the extents.
 */
import { followedBy, gatheredTable } from "../../ir/access.js";
import { largestThat } from "../../ir/intervals/intervals.js";
import { replaced, type Tiling } from "../../ir/tiling/index.js";
import { at, isPowerOfTwo, type Shape } from "../../ir/types.js";
import { gridOf } from "./grid.js";
import type { ScheduleSpace } from "./schedule-space.js";
import { reordered } from "./variants.js";

/** Best tiles that are searched around, and tiles that are looked at in all before that ends. */
const leading = 6;
const tried = 160;
/**
 * Best tiles that are searched around in other orders of loops, how far over the best these may be, and tiles
 * that are looked at for that.
 */
const reordering = 3;
const promising = 1.1;
const triedReordered = 100;
/**
 * Factor that limits the candidates of a search: only schedules whose estimated cost is at most the lowest
 * estimate times this factor get exact cycles.
 */
export const margin = 1.02;
/** Entries on either side of a tile's own that are tried along a dim. */
const reach = 2;
/** Entries of a dim that are tried at first, by the number of dims that a tile may cut. */
const few: readonly number[] = [6, 6, 3, 2];

/** Cost that a hill climb over tiles minimizes: a lower bound for each tile, and the cost of one schedule. */
export interface TileCost {
  /** Returns a cost that no schedule with the tile goes below. */
  readonly lowerBound: (tile: Shape) => number;
  /** Returns a function that computes the cost of a schedule of one tile. */
  readonly ofTile: () => (tiling: Tiling) => number;
}

/** Tiling with a cost that {@link TileCost} computed. */
export interface Weighed {
  readonly tiling: Tiling;
  readonly cost: number;
  /** Number of its tile: tiles of one search have different numbers. */
  readonly key: number;
}

/**
 * Returns schedules in ascending order of cost: the two cheapest for each tile that a hill climb evaluates.
 * `against`: cost of a schedule that the caller already has. Loop orders whose cost is more than 10 % above the
 * lowest known cost, `against` included, are not tried with further tiles.
 */
export function climb(space: ScheduleSpace, cost: TileCost, against: number): readonly Weighed[] {
  return new Climb(space, cost, against).ranked();
}

class Climb {
  /**
   * The best two schedules so far of each tile, by its number; none where they cannot be worth their while,
   * undefined where it does not fit.
   */
  private readonly weighed = new Map<number, readonly Weighed[] | undefined>();
  /** The best tiles so far, each in its best schedule, the best first. */
  private leaders: readonly Weighed[] = [];
  /** The entries of each dim that are tried at first. */
  private readonly few: ReadonlyMap<number, readonly number[]>;

  constructor(
    private readonly space: ScheduleSpace,
    private readonly cost: TileCost,
    private readonly against: number,
  ) {
    this.few = new Map(space.free.map((d) => [d, this.fewOf(d)]));
  }

  ranked(): readonly Weighed[] {
    this.weigh(this.filledUp());
    this.weigh(this.space.start.schedule.tile);
    this.coarse();
    this.refine();
    this.reorder();
    return [...this.weighed.values()].flatMap((weighed) => weighed ?? []).sort(byCost);
  }

  private weigh(tile: Shape): readonly Weighed[] | undefined {
    const key = this.numberOf(tile);
    if (this.weighed.has(key)) return this.weighed.get(key);
    const weighed = this.weighedOf(tile, key);
    this.remember(key, weighed);
    return weighed;
  }

  private remember(key: number, weighed: readonly Weighed[] | undefined): void {
    this.weighed.set(key, weighed);
    const [best] = weighed ?? [];
    if (best === undefined || best.cost > (this.leaders[leading - 1]?.cost ?? Infinity)) return;
    const others = this.leaders.filter((leader) => leader.key !== key);
    this.leaders = [...others, best].sort(byCost).slice(0, leading);
  }

  /** Returns the key of a tile. Tiles differ only along the free dims. */
  private numberOf(tile: Shape): number {
    const { free, limits } = this.space;
    let number = 0;
    for (const d of free) number = number * (at(limits, d) + 1) + at(tile, d);
    return number;
  }

  private weighedOf(tile: Shape, key: number): readonly Weighed[] | undefined {
    const lowerBound = this.cost.lowerBound(tile);
    if (lowerBound > this.worthwhile()) return [];
    const tiling = this.space.start.with({ tile });
    if (!this.space.mayFit(tiling)) return undefined;
    return this.bestTwo(this.space.schedules(tiling), key, lowerBound);
  }

  /**
   * Returns a tile whose lower bound exceeds this is neither weighed nor searched around. Skipping it cannot
   * change the result, because no cost is below its lower bound.
   */
  private worthwhile(): number {
    const best = this.leaders[0]?.cost ?? Infinity;
    return Math.max(best * margin, this.leaders[leading - 1]?.cost ?? Infinity);
  }

  /**
   * Returns a tile that takes as much as fits of each dim, from the last. It is so close to the best tile
   * that most others need no estimate.
   */
  private filledUp(): Shape {
    const { space } = this;
    const fits = (tile: Shape): boolean => space.fits(space.start.with({ tile }));
    let { tile } = space.start.schedule;
    const largest = tile.map((entry, d) => space.entries(d).at(-1) ?? entry);
    if (fits(largest)) return largest;
    for (const d of [...space.free].reverse()) {
      const entries = space.entries(d);
      const max = largestThat(0, entries.length - 1, (k) => fits(replaced(tile, d, at(entries, k))));
      if (max !== undefined) tile = replaced(tile, d, at(entries, max));
    }
    return tile;
  }

  /**
   * Tries the best few tiles in every other order of loops. Where an order is about as good, it also tries
   * the tiles around them.
   */
  private reorder(): void {
    // What is known may be exact among estimates: `promising` leaves room for how far the two differ.
    const least = Math.min(this.leaders[0]?.cost ?? Infinity, this.against);
    const orders = new Map<string, readonly number[]>();
    for (const { tiling } of this.leaders.slice(0, reordering)) {
      for (const { schedule } of reordered(tiling).slice(1)) {
        const cost = this.weighIn([schedule.order], schedule.tile);
        if (cost <= least * promising) orders.set(schedule.order.join(), schedule.order);
      }
    }
    if (orders.size === 0) return;
    const [around, visited] = [new Set<number>(), new Set<number>()];
    const next = (): readonly Shape[] | undefined => {
      const leader = this.leaders.slice(0, reordering).find(({ key }) => !around.has(key));
      if (leader === undefined) return undefined;
      around.add(leader.key);
      return [...this.along(leader), ...this.space.traded(leader.tiling.schedule.tile)];
    };
    lookAround(next, (tile) => {
      const key = this.numberOf(tile);
      if (visited.has(key)) return true;
      if (visited.size >= triedReordered) return false;
      visited.add(key);
      this.weighIn([...orders.values()], tile);
      return true;
    });
  }

  /**
   * Returns the least cost of a tile in these orders. Its best schedules are stored with those already known
   * for the tile.
   */
  private weighIn(orders: readonly (readonly number[])[], tile: Shape): number {
    const lowerBound = this.cost.lowerBound(tile);
    if (lowerBound > this.worthwhile()) return Infinity;
    const nests = orders.map((order) => this.space.start.with({ tile, order }));
    const fitting = nests.filter((nest) => this.space.fits(nest));
    const key = this.numberOf(tile);
    const weighed = this.bestTwo(
      fitting.flatMap((nest) => this.space.schedules(nest)),
      key,
      lowerBound,
    );
    this.remember(key, firstTwo([...(this.weighed.get(key) ?? []), ...weighed]));
    return weighed[0]?.cost ?? Infinity;
  }

  /** Returns the best two of the schedules of one tile. */
  private bestTwo(schedules: readonly Tiling[], key: number, lowerBound: number): readonly Weighed[] {
    const costOf = this.cost.ofTile();
    return firstTwo(schedules.map((tiling) => ({ tiling, cost: Math.max(lowerBound, costOf(tiling)), key })));
  }

  /**
   * Estimates tiles that are whole along some dims, cut along two, and 1 along the others. Dims are filled
   * from the last, or by the operands that depend on them.
   */
  private coarse(): void {
    const { start, limits } = this.space;
    const fits = (tile: Shape): boolean => this.weigh(tile) !== undefined;
    for (const order of fillingOrders(this.space)) {
      let base = start.schedule.tile;
      order.forEach((first, k) => {
        const axes = order.slice(k, k + 2).map((dim) => ({ dim, entries: this.few.get(dim) ?? [] }));
        for (const tile of gridOf(base, axes, fits)) this.weigh(tile);
        base = replaced(base, first, at(limits, first));
      });
    }
  }

  /** Returns a few powers of two, evenly spread, and the whole extent. */
  private fewOf(d: number): readonly number[] {
    const entries = this.space.entries(d);
    const powers = entries.filter((n) => isPowerOfTwo(n));
    const every = Math.ceil(powers.length / at(few, Math.min(this.space.free.length, few.length - 1)));
    return [...new Set([...powers.filter((_, k) => k % every === 0), ...entries.slice(-1)])];
  }

  /**
   * Tries tiles around the best tiles, the best first: along each dim alone, then along two dims if that
   * finds nothing better.
   */
  private refine(): void {
    const [alone, several] = [new Set<Weighed>(), new Set<Weighed>()];
    const next = (): readonly Shape[] | undefined => {
      const single = this.leaders.find((leader) => !alone.has(leader));
      const leader = single ?? this.leaders.find((other) => !several.has(other));
      if (leader === undefined) return undefined;
      (single === undefined ? several : alone).add(leader);
      return single === undefined ? this.space.traded(leader.tiling.schedule.tile) : this.along(leader);
    };
    lookAround(next, (tile) => {
      if (this.weighed.size >= tried) return false;
      this.weigh(tile);
      return true;
    });
  }

  /**
   * Returns the tiles next to a tile along each dim: entries near its own, and those that give every core
   * equally many tasks.
   */
  private along({ tiling }: Weighed): readonly Shape[] {
    const { space } = this;
    const { schedule, tile, loops } = tiling;
    return space.along(schedule.tile, (d, current) => {
      const entries = space.entries(d);
      const place = entries.findIndex((n) => n >= current);
      const near = entries.slice(Math.max(0, place - reach), place + reach + 1);
      let others = 1;
      for (const { dim, mode } of loops)
        if (mode === "parallel" && dim !== d) others *= Math.ceil(at(space.limits, dim) / at(tile, dim));
      const even = [1, 2, 3, 4].map((times) => Math.max(1, Math.round((times * schedule.cores) / others)));
      return [...near, ...even.map((count) => space.share(d, count))];
    });
  }
}

/** Looks at the tiles that `next` gives, in turn, until it gives none or a look ends the search. */
function lookAround(next: () => readonly Shape[] | undefined, look: (tile: Shape) => boolean): void {
  for (let tiles = next(); tiles !== undefined; tiles = next())
    for (const tile of tiles) if (!look(tile)) return;
}

const byCost = (a: Weighed, b: Weighed): number => a.cost - b.cost;

const firstTwo = (weighed: readonly Weighed[]): readonly Weighed[] =>
  weighed.length === 1 ? weighed : weighed.toSorted(byCost).slice(0, 2);

/**
 * Returns up to three different orders of the free dims (dims that a tile may split), in which a search
 * enlarges a tile dim by dim. The first order goes from the innermost dim to the outermost. The second begins
 * with the dims that appear in no coordinate of the data outside index values; the third begins with the
 * other dims.
 */
function fillingOrders({ start, free }: ScheduleSpace): readonly (readonly number[])[] {
  const dims = followedBy(start.gather.map, gatheredTable);
  const outwards = [...free].reverse();
  const [data, indices] = [outwards.filter((d) => dims.has(d)), outwards.filter((d) => !dims.has(d))];
  const orders = [outwards, [...indices, ...data], [...data, ...indices]];
  return orders.filter((order, k) => orders.findIndex((other) => other.join() === order.join()) === k);
}
