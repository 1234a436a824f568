/**
 * Every schedule that a search may choose from: tiles, residencies, loop nests, views and buffers that the
 * user left open, each with its estimate; and the smallest of the tiles that no rule takes.
 */
import {
  at,
  elementCount,
  estimatesOfTile,
  isLegalApartFromOrder,
  judge,
  printSchedule,
  ruleList,
  type AccessFunc,
  type Residencies,
  type ResolvedSchedule,
  type Shape,
  type Target,
  type Tiling,
} from "../../ir/index.js";
import { sumText } from "../../ir/tiling/footprint.js";
import { gridOf, gridSize, ScheduleSpace, withDefaults, type GridAxis } from "../../passes/index.js";
import { contentHash } from "./content-hash.js";
import type { CandidateFacts, Objective, RefusedTiles } from "./result.js";

/**
 * Legal schedule of a search space, with its properties and the estimated cycles by which schedules are
 * ranked.
 */
export interface SpaceEntry {
  readonly tiling: Tiling;
  readonly facts: CandidateFacts;
  /** Estimated cycles; the fewest rank first. */
  readonly weight: number;
}

/**
 * Search space of a gather or scatter: the legal schedules, the smallest refused tiles, and the counts of
 * examined, refused and too long tiles. A tile is too long if it has too many elements for one task.
 */
export interface SearchSpace {
  /**
   * Legal schedules, the most promising first. The order depends only on the program, its target and the
   * objective.
   */
  readonly entries: readonly SpaceEntry[];
  readonly refused: readonly RefusedTiles[];
  /** Number of refused tiles and schedules, with those that `refused` leaves out. */
  readonly refusedCount: number;
  /** Number of tiles that break no rule but have too many elements for one task. */
  readonly longTiles: number;
  /** Tiles that were looked at, refused ones included. */
  readonly tiles: number;
  readonly thinned: boolean;
}

/** Tiles of one residency that are looked at, besides those around the best. */
const maxTiles = 3000;
/**
 * Number of times that every entry of each dim is tried around the best tiles, if some entries were left out.
 */
const rounds = 2;
/** Steps from an entry of one of the best tiles to those beside it, in what entries are multiples of. */
const steps = [-2, -1, 1, 2];
/** Refused tiles that are kept. */
const maxRefused = 200;

/** Returns the id of a schedule: the {@link contentHash} of the printed schedule, 16 hexadecimal digits. */
export const idOf = (schedule: ResolvedSchedule): string => contentHash(printSchedule(schedule));

/**
 * Collects the search space of a gather or scatter: the legal schedules to choose from, and the smallest
 * refused tiles. Only 200 refused tiles for each residency are kept; all are counted. Returns the search
 * space. Yields, as progress, the number of schedules collected so far.
 */
export function* spaceOf(
  gather: AccessFunc,
  target: Target,
  objective: Objective,
  residencies: readonly Residencies[],
  tilings: readonly Tiling[],
): Generator<number, SearchSpace> {
  const byId = new Map<string, SpaceEntry>();
  const refused: RefusedTiles[] = [];
  let [refusedCount, longTiles, tiles, thinned] = [0, 0, 0, false];
  for (const residency of residencies) {
    const space = new Survey(withDefaults(gather, residency, target), objective, byId);
    yield* space.weighAll();
    refused.push(...smallestOf(space.refused));
    refusedCount += space.refusedCount;
    longTiles += space.longTiles;
    tiles += space.tiles;
    thinned ||= space.thinned;
  }
  for (const tiling of tilings) weighOne(tiling, estimatesOfTile()(tiling), false, byId);
  const entries = [...byId.values()].sort((a, b) => compareEntries(a, b, objective));
  return { entries, refused, refusedCount, longTiles, tiles, thinned };
}

/**
 * Compares two entries of the search space. For the objective bytes, the bytes come first, because they are
 * exact before the cycles are computed.
 */
const compareEntries = (a: SpaceEntry, b: SpaceEntry, objective: Objective): number =>
  (objective === "bytes" ? a.facts.bytes - b.facts.bytes : 0) ||
  a.weight - b.weight ||
  a.facts.bytes - b.facts.bytes ||
  a.facts.ubBytes - b.facts.ubBytes ||
  elementCount(b.tiling.tile) - elementCount(a.tiling.tile) ||
  (a.facts.id < b.facts.id ? -1 : 1);

/**
 * Returns the properties of a legal schedule that need no cost model: id, bytes, unified buffer bytes, tasks
 * and elements of a tile.
 */
export const factsOf = (tiling: Tiling): Omit<CandidateFacts, "estimate" | "beside"> => {
  const { schedule, traffic, footprint } = tiling;
  return {
    id: idOf(schedule),
    schedule,
    bytes: traffic.bytes,
    ubBytes: footprint.planned,
    tasks: traffic.tasks,
    elements: elementCount(tiling.tile),
  };
};

/**
 * Adds a schedule to `into`, a map by schedule id, and returns the new entry of the search space. `estimate`:
 * estimated cycles of the schedule. `offGrid` is true if the tile is not on the regular grid of tile shapes.
 */
function weighOne(
  tiling: Tiling,
  estimate: number,
  offGrid: boolean,
  into: Map<string, SpaceEntry>,
): SpaceEntry {
  const facts = { ...factsOf(tiling), estimate, beside: offGrid };
  const entry: SpaceEntry = { tiling, weight: estimate, facts };
  into.set(facts.id, entry);
  return entry;
}

/** All schedules of one residency. */
class Survey {
  readonly refused: RefusedTiles[] = [];
  refusedCount = 0;
  longTiles = 0;
  tiles = 0;
  thinned = false;
  private readonly space: ScheduleSpace;
  private readonly visited = new Set<string>();
  private readonly weighed: SpaceEntry[] = [];

  constructor(
    private readonly base: Tiling,
    private readonly objective: Objective,
    private readonly entries: Map<string, SpaceEntry>,
  ) {
    this.space = new ScheduleSpace(base);
  }

  *weighAll(): Generator<number, void> {
    const { space } = this;
    if (this.base.gather.schedule.tile !== undefined) {
      this.weigh(this.base);
      return;
    }
    const axes = thinned(space.axes());
    this.thinned = gridSize(axes) < gridSize(space.axes());
    const takes = (tile: Shape): boolean => {
      const tiling = space.start.with({ tile });
      return space.mayFit(tiling) && isLegalApartFromOrder(tiling);
    };
    const onRefused = (tile: Shape, count: number): void => {
      this.refuse(space.start.with({ tile }), count);
      this.tiles += count;
    };
    for (const tile of gridOf(space.start.schedule.tile, axes, takes, onRefused)) {
      this.weigh(space.start.with({ tile }));
      yield this.entries.size;
    }
    if (this.thinned)
      for (let round = 0; round < rounds; round++) yield* this.around((d) => space.entries(d), false);
    // Milliseconds do not tell an entry from the next one.
    if (this.objective !== "ms") yield* this.around((d, n) => this.entriesNear(d, n), true);
  }

  /** Yields the best tiles with other entries along one dim. */
  private *around(
    entries: (d: number, entry: number) => readonly number[],
    offGrid: boolean,
  ): Generator<number, void> {
    for (const { schedule } of this.centres()) {
      for (const tile of this.space.along(schedule.tile, entries)) {
        this.weigh(this.space.start.with({ tile }), offGrid);
        yield this.entries.size;
      }
    }
  }

  private entriesNear(d: number, entry: number): readonly number[] {
    const multiple = this.space.multiple(d);
    return steps
      .map((step) => Math.floor(entry / multiple + step) * multiple)
      .filter((n) => n >= multiple && n < at(this.space.limits, d));
  }

  /**
   * Returns the tiles around which the search continues. Each is the best of all that take no more UB than it
   * does. A larger UB therefore includes the tiles of a smaller one.
   */
  private centres(): readonly Tiling[] {
    const planned = ({ facts }: SpaceEntry): number => facts.ubBytes;
    const compare = (a: SpaceEntry, b: SpaceEntry): number => compareEntries(a, b, this.objective);
    const neighbours: SpaceEntry[] = [];
    for (const entry of [...this.weighed].sort((a, b) => planned(a) - planned(b) || compare(a, b))) {
      const best = neighbours.at(-1);
      if (best === undefined || compare(entry, best) < 0) neighbours.push(entry);
    }
    return neighbours.map(({ tiling }) => tiling);
  }

  private takes(tiling: Tiling): boolean {
    return this.space.fits(tiling) && judge(tiling).every((verdict) => verdict.pass);
  }

  private refuse(tiling: Tiling, count: number): void {
    const refused = refusal(tiling, this.space.availableUb);
    if (refused === undefined) {
      this.longTiles += count;
      return;
    }
    this.refusedCount += count;
    this.refused.push(refused);
  }

  /** Adds every legal schedule of one tile to the search space, with its estimate. */
  private weigh(tiling: Tiling, offGrid = false): void {
    const key = tiling.schedule.tile.join();
    if (this.visited.has(key)) return;
    this.visited.add(key);
    this.tiles++;
    if (!this.takes(tiling)) {
      this.refuse(tiling, 1);
      return;
    }
    const estimate = estimatesOfTile();
    for (const variant of this.space.schedulesInEveryOrder(tiling, this.objective === "ms")) {
      if (!this.takes(variant)) continue;
      this.weighed.push(weighOne(variant, estimate(variant), offGrid, this.entries));
    }
  }
}

/**
 * Returns a smaller grid of tile shapes: the axes with extents removed until the grid has at most `maxTiles`
 * tiles. Each axis keeps its first and its last extent, so the grid may still have more tiles.
 */
function thinned(axes: readonly GridAxis[]): readonly GridAxis[] {
  const longest = axes.reduce<GridAxis | undefined>(
    (max, axis) => (max !== undefined && axis.entries.length <= max.entries.length ? max : axis),
    undefined,
  );
  if (gridSize(axes) <= maxTiles || longest === undefined || longest.entries.length <= 2) return axes;
  const { dim, entries } = longest;
  const fewer = entries.filter((_, k) => k % 2 === 0 || k === entries.length - 1);
  return thinned(axes.map((axis) => (axis === longest ? { dim, entries: fewer } : axis)));
}

/**
 * Returns the refusal of a tile that breaks a rule or takes more than `availableUb` bytes of the unified
 * buffer (UB). Returns undefined for any other tile.
 */
function refusal(tiling: Tiling, availableUb: number): RefusedTiles | undefined {
  const { schedule, footprint } = tiling;
  const { tile, view, residency, buffers } = schedule;
  const { bytes, planned, budget } = footprint;
  const base = { status: "refused", tile, view, residency, buffers } as const;
  for (const rule of ruleList) {
    const broken = rule.judge(tiling).find((verdict) => !verdict.pass);
    // The bytes and the budget of the rule, which its reason states.
    const ubBytes = bytes > budget ? bytes : Math.max(bytes, planned);
    if (broken !== undefined) return { ...base, ubBytes, budget, code: rule.code, reason: broken.detail };
  }
  const ubBytes = Math.max(bytes, planned);
  if (ubBytes <= availableUb) return undefined;
  const sum = planned > bytes ? "with padding and second buffers" : `${sumText(footprint)} =`;
  return {
    ...base,
    ubBytes,
    budget: availableUb,
    code: "TC905",
    reason: `${sum} ${ubBytes} B > ${availableUb} B, above which libraries keep scratch`,
  };
}

/**
 * Returns the smallest refused tiles, at most `maxRefused`. A tile is left out if another refused tile, with
 * the same error code and number of buffers, is at most as large along every dim.
 */
function smallestOf(refused: readonly RefusedTiles[]): RefusedTiles[] {
  const bySize = [...refused].sort(
    (a, b) => elementCount(a.tile) - elementCount(b.tile) || (a.tile.join() < b.tile.join() ? -1 : 1),
  );
  const kept: RefusedTiles[] = [];
  for (const tile of bySize) {
    if (!kept.some((smaller) => standsFor(smaller, tile))) kept.push(tile);
  }
  return kept.slice(0, maxRefused);
}

const standsFor = (smaller: RefusedTiles, larger: RefusedTiles): boolean =>
  smaller.code === larger.code &&
  JSON.stringify(smaller.buffers) === JSON.stringify(larger.buffers) &&
  smaller.tile.every((entry, d) => entry <= at(larger.tile, d));
