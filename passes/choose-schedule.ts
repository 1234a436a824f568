/**
 * The fastest schedule of a gather under the clock, among the candidates.
 *
 * Tiles are weighed by the estimate: first those of few entries along each dim, filled from each end; then what lies around the
 * best of all so far, along one dim and along two; then other orders of loops around the best. The clock of the few best decides. The cost grows with the logarithm of the
 * extents.
 */
import { followedBy, gatheredTable } from "../ir/access.js";
import { estimatesOfTile, lowerBoundsOf, type LowerBounds } from "../ir/clock/index.js";
import { targetFacts, type Target } from "../ir/target.js";
import { largestThat } from "../ir/intervals/intervals.js";
import { isLegal, replaced, ubCapacity, type Tiling } from "../ir/tiling/index.js";
import { at, elementCount, isPowerOfTwo, type Shape } from "../ir/types.js";
import {
  candidates,
  fits,
  reordered,
  availableUbOf,
  shareOf,
  variants,
  type Candidates,
} from "./candidates.js";
import { clockOf, decided } from "./lowered.js";

/** Best tiles that are searched around, tiles that are looked at in all before that ends, and schedules whose clock is read at most. */
const leading = 6;
const tried = 160;
const clocked = 4;
/** Best tiles that are searched around in other orders of loops, how far over the best these may be, and tiles that are looked at for that. */
const reordering = 3;
const promising = 1.1;
const triedReordered = 100;
/** How far over the best estimate a schedule may be the fastest. */
const margin = 1.02;
/** Schedules within this factor of the fewest cycles count as as fast (npm run bench:sweep). */
export const asFast = ({ kind }: Target): number => (targetFacts[kind].fittedClock ? 1.01 : 1);
/** Entries on either side of a tile's own that are tried along a dim, and above it for less of another dim. */
const reach = 2;
const trades = 5;
/** Entries of a dim that are tried at first, by the number of dims that a tile may cut. */
const few: readonly number[] = [6, 6, 3, 2];

/**
 * Undefined when no tile is legal. `against`: cycles of a schedule that is known already; orders of loops that take over a tenth more
 * are not searched around. Stays within the target's safe size where that leaves a choice. Deterministic: fewest
 * cycles, then fewest idle cores in the last round, bytes, bytes of UB, then the larger tile; of what a fitted clock does not tell
 * apart, the one that takes the least of UB.
 */
export function chooseSchedule(tiling: Tiling, against = Infinity): Tiling | undefined {
  const space = candidates(tiling);
  if (!isLegal(space.start)) return undefined;
  // Nothing takes no time, however it is cut.
  if (elementCount(tiling.extents) === 0) return space.start;
  const availableUb = availableUbOf(space.start);
  const { ubBytes } = tiling.schedule;
  if (availableUb >= ubCapacity(space.start)) return new Search(space, availableUb, against).best();
  // What a lowering adds stays within the safe size too: where it would take more if it could, the schedule says how much there is.
  const best = new Search(candidates(tiling.with({ ubBytes: availableUb })), availableUb, against).best();
  const free = best.with({ ubBytes });
  return decided(free).footprint.planned <= availableUb ? free : best;
}

/** What is known of a schedule whose clock was read. */
export interface Tie {
  readonly idleCores: number;
  /** Of global memory. */
  readonly bytes: number;
  readonly ubBytes: number;
  /** Of one output tile. */
  readonly elements: number;
}

/** What decides between schedules of as many cycles, the less the better: idle cores in the last round, bytes, bytes of UB, a smaller tile. */
export const tieBreaks = ({ idleCores, bytes, ubBytes, elements }: Tie): readonly number[] => [
  idleCores,
  bytes,
  ubBytes,
  -elements,
];

interface Weighed {
  readonly tiling: Tiling;
  readonly estimate: number;
}

class Search {
  /** Every schedule so far, the best of its tile, by the tile's number. */
  private readonly weighed = new Map<number, readonly Weighed[] | undefined>();
  private readonly bounds: LowerBounds;
  /** The best tiles so far, each in its best schedule, the best first. */
  private leaders: readonly Weighed[] = [];
  /** The entries of each dim that are tried at first. */
  private readonly few: ReadonlyMap<number, readonly number[]>;

  constructor(
    private readonly among: Candidates,
    /** Bytes of UB that a tile may take. */
    private readonly availableUb: number,
    /** Cycles of a schedule that is known already. */
    private readonly against: number,
  ) {
    this.bounds = lowerBoundsOf(among.start);
    this.few = new Map(among.free.map((d) => [d, this.fewOf(d)]));
  }

  best(): Tiling {
    const { start } = this.among;
    this.weigh(this.filledUp());
    this.weigh(start.schedule.tile);
    this.coarse();
    this.refine();
    this.reorder();
    const worthTheirClock = this.worthTheirClock();
    if (worthTheirClock.length === 1) return worthTheirClock[0]?.tiling ?? start;
    let cycles = Infinity;
    const read = worthTheirClock.filter(({ tiling }) => {
      if (this.bounds.of(tiling.schedule.tile) > cycles * asFast(start.target)) return false;
      cycles = Math.min(cycles, clockOf(tiling).cycles);
      return true;
    });
    const same = cycles * asFast(start.target);
    const fastest = read.filter(({ tiling }) => clockOf(tiling).cycles <= same);
    // What takes the least of UB stays in the nearest cache.
    const keyOf = ({ tiling }: Weighed): readonly number[] =>
      targetFacts[start.target.kind].fittedClock
        ? [tiling.footprint.planned, clockOf(tiling).cycles]
        : tieBreaks(tieOf(tiling));
    const [best] = fastest.sort((a, b) => compareKeys(keyOf(a), keyOf(b)));
    return best?.tiling ?? start;
  }

  /** The few that may be the fastest: of those that the estimate does not tell apart, the ones that take the least of UB. */
  private worthTheirClock(): readonly Weighed[] {
    const ranked = this.ranked();
    const [first, ...others] = ranked;
    if (first === undefined) return [];
    const least = first.estimate;
    const same = others.filter(({ estimate }) => estimate <= least * asFast(this.among.start.target));
    const near = others.slice(same.length).filter(({ estimate }) => estimate <= least * margin);
    const smallest = [...same].sort((a, b) => a.tiling.footprint.planned - b.tiling.footprint.planned);
    return [first, ...[...smallest, ...near].slice(0, clocked - 1)];
  }

  /** The best schedule of each tile that was weighed, the best first. */
  private ranked(): Weighed[] {
    const all = [...this.weighed.values()].flatMap((weighed) => weighed ?? []);
    return all.sort((a, b) => a.estimate - b.estimate);
  }

  /** The schedules of a tile, the best first; none where they cannot be worth their while, undefined where it does not fit. */
  private weigh(tile: Shape): readonly Weighed[] | undefined {
    const key = this.numberOf(tile);
    if (this.weighed.has(key)) return this.weighed.get(key);
    const weighed = this.weighedOf(tile);
    this.remember(key, weighed);
    return weighed;
  }

  private remember(key: number, weighed: readonly Weighed[] | undefined): void {
    this.weighed.set(key, weighed);
    const [best] = weighed ?? [];
    if (best === undefined) return;
    const others = this.leaders.filter(({ tiling }) => this.numberOf(tiling.schedule.tile) !== key);
    this.leaders = [...others, best].sort((a, b) => a.estimate - b.estimate).slice(0, leading);
  }

  /** Tiles differ along the free dims alone. */
  private numberOf(tile: Shape): number {
    const { free, limits } = this.among;
    let number = 0;
    for (const d of free) number = number * (at(limits, d) + 1) + at(tile, d);
    return number;
  }

  private entriesOf(d: number): readonly number[] {
    return this.among.entries.get(d) ?? [];
  }

  private weighedOf(tile: Shape): readonly Weighed[] | undefined {
    const lowerBound = this.bounds.of(tile);
    if (lowerBound > this.worthwhile()) return [];
    const tiling = this.among.start.with({ tile });
    return fits(tiling, this.availableUb)
      ? this.estimated(variants(tiling, this.availableUb), lowerBound)
      : undefined;
  }

  /**
   * A tile whose floor exceeds this is neither timed nor searched around. Skipping it cannot change the result, because no estimate is
   * below its floor.
   */
  private worthwhile(): number {
    const best = this.leaders[0]?.estimate ?? Infinity;
    return Math.max(best * margin, this.leaders[leading - 1]?.estimate ?? Infinity);
  }

  /** As much as fits of each dim, from the last: near enough to the best that most others need no look. */
  private filledUp(): Shape {
    const { start, free } = this.among;
    let { tile } = start.schedule;
    const largest = tile.map((entry, d) => this.entriesOf(d).at(-1) ?? entry);
    if (fits(start.with({ tile: largest }), this.availableUb)) return largest;
    for (const d of [...free].reverse()) {
      const entries = this.entriesOf(d);
      const max = largestThat(0, entries.length - 1, (k) =>
        fits(start.with({ tile: replaced(tile, d, at(entries, k)) }), this.availableUb),
      );
      if (max !== undefined) tile = replaced(tile, d, at(entries, max));
    }
    return tile;
  }

  /** The best few tiles in every other order of loops; where one is about as fast, also the tiles around them. */
  private reorder(): void {
    // A clock among estimates: `promising` leaves room for how far the two differ.
    const least = Math.min(this.leaders[0]?.estimate ?? Infinity, this.against);
    const orders = new Map<string, readonly number[]>();
    for (const { tiling } of this.leaders.slice(0, reordering)) {
      for (const { schedule } of reordered(tiling).slice(1)) {
        const estimate = this.weighIn([schedule.order], schedule.tile);
        if (estimate <= least * promising) orders.set(schedule.order.join(), schedule.order);
      }
    }
    if (orders.size === 0) return;
    const [around, visited] = [new Set<number>(), new Set<number>()];
    for (;;) {
      const next = this.leaders
        .slice(0, reordering)
        .find(({ tiling }) => !around.has(this.numberOf(tiling.schedule.tile)));
      if (next === undefined) return;
      around.add(this.numberOf(next.tiling.schedule.tile));
      for (const tile of [...this.along(next.tiling), ...this.traded(next.tiling)]) {
        const key = this.numberOf(tile);
        if (visited.has(key)) continue;
        if (visited.size >= triedReordered) return;
        visited.add(key);
        this.weighIn([...orders.values()], tile);
      }
    }
  }

  /** The best estimate of a tile in these orders, which are kept beside those that are known of it. */
  private weighIn(orders: readonly (readonly number[])[], tile: Shape): number {
    const lowerBound = this.bounds.of(tile);
    if (lowerBound > this.worthwhile()) return Infinity;
    const nests = orders.map((order) => this.among.start.with({ tile, order }));
    const fitting = nests.filter((nest) => fits(nest, this.availableUb));
    const weighed = this.estimated(
      fitting.flatMap((nest) => variants(nest, this.availableUb)),
      lowerBound,
    );
    const key = this.numberOf(tile);
    this.remember(key, bestTwo([...(this.weighed.get(key) ?? []), ...weighed]));
    return weighed[0]?.estimate ?? Infinity;
  }

  /** The best two of the schedules of one tile. */
  private estimated(schedules: readonly Tiling[], lowerBound: number): Weighed[] {
    const estimate = estimatesOfTile();
    const weighed = schedules.map((variant) => ({
      tiling: variant,
      estimate: Math.max(lowerBound, estimate(variant)),
    }));
    return bestTwo(weighed);
  }

  /** Whole along some dims, cut along two, 1 along the others: dims are filled from the last, or by what they follow. */
  private coarse(): void {
    const { start } = this.among;
    for (const order of filled(this.among)) {
      let base = start.schedule.tile;
      order.forEach((first, k) => {
        const second = order[k + 1];
        for (const a of this.few.get(first) ?? []) {
          const wide = replaced(base, first, a);
          if (this.weigh(wide) === undefined) break;
          if (second === undefined) continue;
          for (const b of this.few.get(second) ?? [])
            if (this.weigh(replaced(wide, second, b)) === undefined) break;
        }
        base = replaced(base, first, at(this.among.limits, first));
      });
    }
  }

  /** A few powers of two, evenly spread, and the whole extent. */
  private fewOf(d: number): readonly number[] {
    const entries = this.entriesOf(d);
    const powers = entries.filter((n) => isPowerOfTwo(n));
    const every = Math.ceil(powers.length / at(few, Math.min(this.among.free.length, few.length - 1)));
    return [...new Set([...powers.filter((_, k) => k % every === 0), ...entries.slice(-1)])];
  }

  /** Around the best tiles, the best first: along each dim alone, and where that leads no further along two. */
  private refine(): void {
    const [alone, several] = [new Set<Weighed>(), new Set<Weighed>()];
    for (;;) {
      const single = this.leaders.find((leader) => !alone.has(leader));
      const next = single ?? this.leaders.find((leader) => !several.has(leader));
      if (next === undefined) return;
      (single === undefined ? several : alone).add(next);
      for (const tile of single === undefined ? this.traded(next.tiling) : this.along(next.tiling)) {
        if (this.weighed.size >= tried) return;
        this.weigh(tile);
      }
    }
  }

  private along(tiling: Tiling): Shape[] {
    const { tile } = tiling.schedule;
    return this.among.free.flatMap((d) => this.around(tiling, d).map((n) => replaced(tile, d, n)));
  }

  /** More along one dim for less along another, as many elements or a few more: room and balance stop what goes along one dim. */
  private traded({ schedule: { tile } }: Tiling): Shape[] {
    const { free } = this.among;
    const tiles: Shape[] = [];
    for (const more of free) {
      const larger = this.entriesOf(more)
        .filter((n) => n > at(tile, more))
        .slice(0, trades);
      for (const less of free) {
        if (less === more) continue;
        const smaller = this.entriesOf(less).filter((n) => n < at(tile, less));
        for (const n of larger) {
          const same = smaller.filter((m) => m * n <= at(tile, more) * at(tile, less)).length;
          for (const m of smaller.slice(Math.max(0, same - 1), same + 1))
            tiles.push(replaced(replaced(tile, more, n), less, m));
        }
      }
    }
    return tiles;
  }

  /** Entries near a tile's own, and those that give every core as many tasks. */
  private around(tiling: Tiling, d: number): number[] {
    const { schedule, tile, loops } = tiling;
    const entries = this.entriesOf(d);
    const current = at(schedule.tile, d);
    const place = entries.findIndex((n) => n >= current);
    const near = entries.slice(Math.max(0, place - reach), place + reach + 1);
    const { limits } = this.among;
    const limit = at(limits, d);
    let others = 1;
    for (const { dim, mode } of loops)
      if (mode === "parallel" && dim !== d) others *= Math.ceil(at(limits, dim) / at(tile, dim));
    const even = [1, 2, 3, 4].map((times) => Math.max(1, Math.round((times * schedule.cores) / others)));
    return [...near, ...even.map((count) => shareOf(d, limit, Math.min(count, limit), tiling))];
  }
}

const bestTwo = (weighed: readonly Weighed[]): Weighed[] =>
  [...weighed].sort((a, b) => a.estimate - b.estimate).slice(0, 2);

const tieOf = (tiling: Tiling): Tie => ({
  idleCores: clockOf(tiling).idleCores,
  bytes: tiling.traffic.bytes,
  ubBytes: decided(tiling).footprint.planned,
  elements: elementCount(tiling.tile),
});

/** Orders in which a tile's dims may fill up: from the last, the indices' dims first, the data's first. */
function filled({ start, free }: Candidates): number[][] {
  const dims = followedBy(start.gather.map, gatheredTable);
  const outwards = [...free].reverse();
  const [data, indices] = [outwards.filter((d) => dims.has(d)), outwards.filter((d) => !dims.has(d))];
  const orders = [outwards, [...indices, ...data], [...data, ...indices]];
  return orders.filter((order, k) => orders.findIndex((other) => other.join() === order.join()) === k);
}

/** Keys in the order of their weight. */
export function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (let k = 0; k < a.length; k++) {
    const difference = at(a, k) - at(b, k);
    if (difference !== 0) return difference;
  }
  return 0;
}
