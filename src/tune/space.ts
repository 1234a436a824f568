/**
 * Every schedule that a search may choose from: tiles, residencies, loop nests, views and buffers that the user left open, each
 * with its estimate; and the smallest of the tiles that no rule takes.
 */
import {
  at,
  elementCount,
  estimatesOfTile,
  judge,
  printSchedule,
  replaced,
  ruleList,
  type AccessFunc,
  type Residencies,
  type ResolvedSchedule,
  type Target,
  type Tiling,
} from "../../ir/index.js";
import {
  candidates,
  fits,
  availableUbOf,
  variantsInEveryOrder,
  withDefaults,
  type Candidates,
} from "../../passes/index.js";
import { contentHash } from "./content-hash.js";
import type { CandidateFacts, Objective, RefusedTiles } from "./result.js";

export interface SpaceEntry {
  readonly tiling: Tiling;
  readonly facts: CandidateFacts;
  /** What ranks it: the estimate. */
  readonly weight: number;
}

export interface SearchSpace {
  /** The most promising first, in an order that depends on nothing but the program. */
  readonly entries: readonly SpaceEntry[];
  readonly refused: readonly RefusedTiles[];
  /** Tiles and schedules that the refused ones stand for. */
  readonly refusedCount: number;
  /** Legal tiles that are longer than a task in place should be. */
  readonly longTiles: number;
  /** Tiles that were looked at, refused ones included. */
  readonly tiles: number;
  readonly thinned: boolean;
}

/** Tiles of one residency that are looked at, besides those around the best. */
const maxTiles = 3000;
/** How often every entry of each dim is tried around the best where some were left out. */
const rounds = 2;
/** Steps from an entry of one of the best tiles to those beside it, in what entries are multiples of. */
const steps = [-2, -1, 1, 2];
/** Refused tiles that are kept. */
const maxRefused = 200;

export const idOf = (schedule: ResolvedSchedule): string => contentHash(printSchedule(schedule));

/** Yields how many schedules it has weighed, for callers that let other work run. */
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
    const space = new ResidencySpace(withDefaults(gather, residency, target), objective, byId);
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

/** The bytes of a schedule are exact before its clock is read. */
const compareEntries = (a: SpaceEntry, b: SpaceEntry, objective: Objective): number =>
  (objective === "bytes" ? a.facts.bytes - b.facts.bytes : 0) ||
  a.weight - b.weight ||
  a.facts.bytes - b.facts.bytes ||
  a.facts.ubBytes - b.facts.ubBytes ||
  elementCount(b.tiling.tile) - elementCount(a.tiling.tile) ||
  (a.facts.id < b.facts.id ? -1 : 1);

/** What is known of a legal schedule by itself. */
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

/** The schedules of one residency. */
class ResidencySpace {
  readonly refused: RefusedTiles[] = [];
  refusedCount = 0;
  longTiles = 0;
  tiles = 0;
  thinned = false;
  private readonly among: Candidates;
  private readonly availableUb: number;
  private readonly visited = new Set<string>();
  private readonly weighed: SpaceEntry[] = [];

  constructor(
    private readonly base: Tiling,
    private readonly objective: Objective,
    private readonly entries: Map<string, SpaceEntry>,
  ) {
    this.among = candidates(base);
    this.availableUb = availableUbOf(this.among.start);
  }

  *weighAll(): Generator<number, void> {
    const { start, free, entries } = this.among;
    if (this.base.gather.schedule.tile !== undefined) {
      this.weigh(this.base);
      return;
    }
    const lists = thinnedEntries(free.map((d) => entries.get(d) ?? []));
    this.thinned = lists.some((list, k) => list.length < (entries.get(at(free, k)) ?? []).length);
    yield* this.visit(start, 0, lists);
    if (this.thinned)
      for (let round = 0; round < rounds; round++) yield* this.around((d) => entries.get(d) ?? [], false);
    // Milliseconds do not tell an entry from the next one.
    if (this.objective !== "ms") yield* this.around((d, n) => this.entriesNear(d, n), true);
  }

  /** The best tiles with other entries along one dim. */
  private *around(
    entries: (d: number, entry: number) => readonly number[],
    offGrid: boolean,
  ): Generator<number, void> {
    const { start, free } = this.among;
    for (const { schedule } of this.centres()) {
      for (const d of free) {
        for (const n of entries(d, at(schedule.tile, d))) {
          this.weigh(start.with({ tile: replaced(schedule.tile, d, n) }), offGrid);
          yield this.entries.size;
        }
      }
    }
  }

  private entriesNear(d: number, entry: number): readonly number[] {
    const multiple = this.among.multiples.get(d) ?? 1;
    return steps
      .map((step) => Math.floor(entry / multiple + step) * multiple)
      .filter((n) => n >= multiple && n < at(this.among.limits, d));
  }

  /** Each is the best of all that take no more of UB than it does, so that a larger UB has those of a smaller one. */
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

  /** Entries along the dims in turn, as far as the smallest tile with them is taken: larger entries only take more. */
  private *visit(tiling: Tiling, k: number, lists: readonly (readonly number[])[]): Generator<number, void> {
    const d = this.among.free[k];
    if (d === undefined) {
      this.weigh(tiling);
      yield this.entries.size;
      return;
    }
    const list = at(lists, k);
    for (const [position, n] of list.entries()) {
      const wider = tiling.with({ tile: replaced(tiling.schedule.tile, d, n) });
      if (!this.takes(wider)) {
        const deeper = lists.slice(k + 1).reduce((product, inner) => product * inner.length, 1);
        const count = (list.length - position) * deeper;
        this.refuse(wider, count);
        this.tiles += count;
        return;
      }
      yield* this.visit(wider, k + 1, lists);
    }
  }

  private takes(tiling: Tiling): boolean {
    return fits(tiling, this.availableUb) && judge(tiling).every((verdict) => verdict.pass);
  }

  private refuse(tiling: Tiling, count: number): void {
    const refused = refusal(tiling, this.availableUb);
    if (refused === undefined) {
      this.longTiles += count;
      return;
    }
    this.refusedCount += count;
    this.refused.push(refused);
  }

  /** Every schedule of one tile. */
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
    for (const variant of variantsInEveryOrder(tiling, this.availableUb, this.objective === "ms")) {
      if (!this.takes(variant)) continue;
      this.weighed.push(weighOne(variant, estimate(variant), offGrid, this.entries));
    }
  }
}

/** The lists with entries left out of the longest, evenly, until their product is small enough; ends stay. */
function thinnedEntries(lists: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const product = lists.reduce((all, list) => all * list.length, 1);
  const longest = lists.reduce((max, list, k) => (list.length > at(lists, max).length ? k : max), 0);
  const list = lists[longest];
  if (product <= maxTiles || list === undefined || list.length <= 2) return lists;
  const fewer = list.filter((_, k) => k % 2 === 0 || k === list.length - 1);
  return thinnedEntries(
    lists.map((old, k) => (k === longest ? (fewer.length < list.length ? fewer : [1]) : old)),
  );
}

/** Why a tile is not taken, with its arithmetic; undefined for one that is legal, and too long for a task in place. */
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
  const sum = footprint.parts.map((entry) => entry.counted).join(" + ");
  return {
    ...base,
    ubBytes,
    budget: availableUb,
    code: "TC905",
    reason: `${sum} = ${ubBytes} B > ${availableUb} B, above which libraries keep scratch`,
  };
}

/** Those that no other one stands for. */
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
