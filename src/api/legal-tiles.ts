/**
 * Legal tiles of a program. They are counted exactly if the output is small enough, and the tiles worth
 * considering are listed. If no tile is legal, the arithmetic says why.
 *
 * The footprint grows with every tile entry. Along the last free dim the legal entries are therefore 1 to a
 * maximum, found by bisection, and counting visits only the other dims.
 */
import {
  at,
  defined,
  CompileError,
  defaultProfile,
  error,
  estimatesOfTile,
  formatEntry,
  hasErrors,
  inputsOf,
  invariant,
  isScatter,
  isLegal,
  isLegalApartFromOrder,
  slotsOf,
  isPowerOfTwo,
  largestGatherDims,
  profileFacts,
  targetFacts,
  meanBytes,
  programLowerBound,
  ratesOf,
  replaced,
  shapeRefusals,
  sizeVerdicts,
  TileSpace,
  rooflineOf,
  throwIfErrors,
  ubCapacity,
  whyNone,
  type AccessFunc,
  type Func,
  type MachineRates,
  type Profile,
  type Target,
  type Residencies,
  type ResolvedSchedule,
  type SearchedEntry,
  type Shape,
  type SizeVerdict,
  type Roofline,
  type Tiling,
  withCommas,
} from "../../ir/index.js";
import {
  clockOf,
  decided,
  gridOf,
  gridSize,
  residenciesOf,
  ScheduleSpace,
  withDefaults,
} from "../../passes/index.js";
import { callable, type Fields } from "../../backends/index.js";
import { accessOf, accessUnder } from "./access.js";
import { checkOptions, checkProgram } from "./check-options.js";
import { compileFields, compileTiled, resolveTargetOf, type CompileOptions } from "./compile.js";

/**
 * Legal tile with unified buffer (UB) bytes, traffic in bytes, and estimated cycles of the fastest schedule
 * with the tile.
 */
export interface LegalTile extends Pick<ResolvedSchedule, SearchedEntry>, Roofline {
  readonly bytes: number;
  readonly traffic: number;
  readonly tasks: number;
  readonly cycles: number;
  /** True if no other listed tile is as good in all of traffic, UB bytes, task count and estimated cycles. */
  readonly pareto: boolean;
  /** True if the compiler chooses this tile. */
  readonly default: boolean;
}

/** Searched entries that tiles may share. */
const sharedEntries = ["view", "order", "buffers"] as const;
type Shared = Partial<Pick<ResolvedSchedule, (typeof sharedEntries)[number]>>;

/**
 * Number of legal tiles under a profile. `possible`: number of all tiles, legal or not, that the dims allow.
 */
export interface TileCount {
  readonly profile: Profile;
  /** Source of the profile, such as `PyPTO's documentation since 2026-04-02`. */
  readonly stands: string;
  /** Absent if there are too many tiles to count. */
  readonly count?: number;
  readonly possible: number;
  /** Reason for which the dialect refuses the program under the profile, whatever the tile. */
  readonly reason?: string;
}

/**
 * Returns the number of legal tiles as one line of text: `under profile pages (PyPTO's documentation
 * since 2026-04-02): 8 of 32 tile shapes are legal`.
 */
export const formatTileCount = ({ profile, stands, count, possible, reason }: TileCount): string =>
  `under profile ${profile} (${stands}): ${count === undefined ? "too many to be counted" : withCommas(count)} of ${withCommas(possible)} tile shapes are legal` +
  (reason === undefined ? "" : `, because ${reason}`);

/**
 * Result of {@link legalTiles}: the number of legal tiles of a program, if counted, and a list of legal
 * tiles, fastest first. The list has only the compiler's candidates, and no more than 1,000 for each
 * residency; further candidates are not examined.
 */
export interface LegalTiles {
  readonly name: string;
  readonly target: string;
  /**
   * Schedule entries that all listed tiles share. View, order and buffers are absent if listed tiles differ
   * in them. `auto`: no residency is stated.
   */
  readonly schedule: Omit<ResolvedSchedule, SearchedEntry> &
    Shared & { readonly residency: Residencies | "auto" };
  /**
   * Tiles with entries from 1 to the extents that some open residency takes. Absent where counting them would
   * look at more than 2,000,000 sizes: then nothing is counted.
   */
  readonly count?: number;
  readonly possible: number;
  /** On an Ascend target under `strict`: the same count under PyPTO's pages. */
  readonly pages?: TileCount;
  /** Absent where a cycle of the target is no known time. */
  readonly machine?: MachineRates;
  /**
   * The legal tiles among the candidates that the compiler chooses from, and the one that it chooses; the
   * fastest first.
   */
  readonly tiles: readonly LegalTile[];
  /**
   * Largest legal extent of each gather dim alone, of a full load: with rows padded to the block, and with
   * the last tile entry a whole number of blocks in every operand, as PyPTO's vector operations ask (FC1001).
   */
  readonly largestGatherDims: readonly {
    readonly dim: number;
    readonly padded: number;
    readonly aligned: number;
  }[];
  /** Kind of these dims: gather dims of the data, or dims of the output that points are stored to. */
  readonly dims: "gather" | "stored";
  /**
   * Largest size of each dynamic symbol for which the smallest tile fits UB. All other figures are for the
   * maximum sizes of the symbols.
   */
  readonly sizes: readonly SizeVerdict[];
  /** Proof that no tile is legal; absent if some tile is. */
  readonly proof?: string;
}

/**
 * Options of {@link legalTiles}: compile options and a progress callback. Only tiles that match the given
 * schedule entries are counted.
 */
export interface LegalOptions extends CompileOptions {
  /** Called while tiles are counted. */
  readonly onProgress?: (done: number, total: number) => void;
}

const legalFields: Fields<LegalOptions> = { ...compileFields, onProgress: callable };

/** Prefixes that counting visits, and grid tiles that listing evaluates, at most. */
const maxVisits = 2_000_000;
const maxListed = 1_000;

/**
 * Returns the number of legal tiles of a program, if there are not too many to count, and the compiler's
 * candidates among the legal tiles, fastest first. A tile that the program states is ignored. Throws a
 * CompileError for an invalid program or schedule, or for a tile program.
 */
export function legalTiles(program: Func, options: LegalOptions = {}): LegalTiles {
  throwIfErrors([...checkProgram(program), ...checkOptions("legalTiles", options, legalFields)]);
  const { onProgress = () => undefined, ...compileOptions } = withoutTile(options);
  const target = resolveTargetOf(program, compileOptions);
  const access = accessOf(program, compileOptions);
  if (access === undefined) {
    const hint = "explain shows its footprint; give legal the source program";
    throw new CompileError([
      error("TC702", `@${program.name} is a tile program: its tile is chosen`, { hint }),
    ]);
  }
  const unpinned = withoutTile(access.schedule);
  const gather: AccessFunc = { ...access, schedule: unpinned };
  const faults = shapeRefusals(gather, unpinned, target);
  if (hasErrors(faults)) throw new CompileError(faults);
  const judged = residenciesOf(gather, target, true);
  const requested = judged.length === 1 ? judged[0] : (unpinned.residency ?? "auto");
  const searches = judged.map((residency) => under(withDefaults(gather, residency, target), onProgress));
  // What stays in global memory takes nothing of UB, and no rule pins its dims: the residency with the most
  // tiles takes every tile that another one takes.
  const widest = searches.reduce(wider);
  const loaded = searches.filter(({ largestGatherDims: dims }) => dims.length > 0);
  const chosen = compileTiled({ ...program, schedule: withoutTile(program.schedule) }, compileOptions);
  // None where passes left the schedule open.
  const byDefault = chosen.ok && chosen.tiling !== undefined ? [chosen.tiling] : [];
  const listed = searches.flatMap((search) => search.tilings);
  const tiles = ranked([...byDefault, ...listed], byDefault[0]);
  const pages = isJudgedByPages(gather, target)
    ? countUnder("pages", program, compileOptions, onProgress)
    : undefined;
  const machine = ratesOf(target);
  const { view, order, buffers, ...schedule } = withoutTile(
    withDefaults(gather, widest.residency, target).schedule,
  );
  return {
    name: access.name,
    target: target.name,
    schedule: { ...schedule, ...sharedBy(tiles, { view, order, buffers }), residency: requested },
    ...defined({ count: widest.count }),
    possible: widest.possible,
    ...defined({ pages, machine }),
    tiles,
    largestGatherDims: loaded.length === 0 ? [] : loaded.reduce(wider).largestGatherDims,
    dims: isScatter(gather.map) ? "stored" : "gather",
    sizes: searches.flatMap((search) => search.sizes),
    // Where the compiler chooses global memory by itself, some tile is legal, though no full load is.
    ...(widest.proof === undefined || byDefault.length > 0 ? {} : { proof: widest.proof }),
  };
}

/**
 * True if a program is also judged under the profile `pages`. The program's own profile must be `strict`, and
 * the target an Ascend core. In addition, the program must come from a framework, or its data and indices
 * must share dims.
 */
export const isJudgedByPages = ({ schedule, sharedDims, framework }: AccessFunc, target: Target): boolean =>
  (schedule.profile ?? defaultProfile) === "strict" &&
  targetFacts[target.kind].vectorUnit &&
  (sharedDims.length > 0 || framework !== undefined);

/**
 * Returns the number of legal tiles of a program under a PyPTO rule profile. The tile stated by the program
 * is ignored. `count` is absent if there are too many tiles to count.
 */
export function countUnder(
  profile: Profile,
  program: Func,
  options: CompileOptions,
  onProgress: (done: number, total: number) => void = () => undefined,
): TileCount {
  const target = resolveTargetOf(program, options);
  const unpinned = { ...program, schedule: withoutTile(program.schedule) };
  const taken = accessUnder(profile, unpinned, withoutTile(options));
  const access = taken.ok ? taken.access : accessOf(unpinned, withoutTile(options));
  invariant(access !== undefined, "tiles of a tile program are not counted");
  const gather: AccessFunc = { ...access, schedule: { ...access.schedule, profile } };
  const counts = residenciesOf(gather, target, true).map((residency) =>
    counted(new TileSpace(withDefaults(gather, residency, target)), onProgress),
  );
  const { count, possible } = counts.reduce(wider);
  const { stands } = profileFacts[profile];
  if (!taken.ok) {
    const reason = taken.diagnostics.map(({ message }) => message).join("; ");
    return { profile, stands, count: 0, possible, reason };
  }
  return { profile, stands, ...defined({ count }), possible };
}

/**
 * Returns the search with more legal tiles. An absent count stands for more tiles than any count. If the
 * counts are equal, returns the search whose smallest tile needs fewer bytes of UB, or else the second.
 */
function wider<T extends Pick<Search, "count" | "least">>(a: T, b: T): T {
  const [first, second] = [a.count ?? Infinity, b.count ?? Infinity];
  if (first !== second) return first > second ? a : b;
  return b.least <= a.least ? b : a;
}

/** Returns the view, order and buffers that all tiles share; without tiles, the default ones. */
function sharedBy([first, ...others]: readonly LegalTile[], fallback: Required<Shared>): Shared {
  if (first === undefined) return fallback;
  const same = (key: (typeof sharedEntries)[number]): boolean =>
    others.every((tile) => formatEntry(tile[key]) === formatEntry(first[key]));
  return Object.fromEntries(sharedEntries.flatMap((key) => (same(key) ? [[key, first[key]]] : [])));
}

const withoutTile = <T extends { readonly tile?: Shape }>({ tile: _, ...rest }: T): Omit<T, "tile"> => rest;

interface Search extends Pick<LegalTiles, "count" | "possible" | "largestGatherDims" | "sizes" | "proof"> {
  readonly residency: Residencies;
  /** Bytes of UB that its smallest tile needs. */
  readonly least: number;
  /** The fastest schedule of each tile, by the estimate. */
  readonly tilings: readonly Tiling[];
}

/**
 * Returns the number of legal tiles under one residency, the number of all tiles (`possible`), and the UB
 * bytes of the smallest tile (`least`). `count` is absent if there are too many tiles. `step`: progress
 * callback.
 */
function counted(
  space: TileSpace,
  step: (done: number, total: number) => void,
): Pick<Search, "count" | "possible" | "least"> {
  const { start, free, limits } = space;
  const possible = free.reduce((product, d) => product * at(limits, d), 1);
  const count = isLegal(start) ? countLegal(space, step) : 0;
  return { ...defined({ count }), possible, least: start.need.planned };
}

/**
 * Searches the legal tiles under the residency of `tiling`. Returns the number of legal tiles, the candidates
 * with the fastest schedules, and the largest legal extent of each gather dim. `step`: progress callback.
 */
function under(tiling: Tiling, step: (done: number, total: number) => void): Search {
  const space = new ScheduleSpace(tiling, ubCapacity(tiling));
  const legal = isLegal(space.start);
  return {
    residency: tiling.schedule.residency,
    ...counted(space, step),
    tilings: legal ? candidatesOf(space) : [],
    largestGatherDims: tiling.residency === "gm" ? [] : largestDims(tiling),
    sizes: sizeVerdicts(space.start),
    ...(legal ? {} : { proof: whyNone(space.start) }),
  };
}

/** Returns the number of legal tiles; undefined if there are too many to count. `step`: progress callback. */
function countLegal(space: TileSpace, step: (done: number, total: number) => void): number | undefined {
  const { start, limits } = space;
  const legal = (tile: Shape): boolean => isLegal(start.with({ tile }));
  // Multiples and divisors of a number lie apart from each other: these entries are looked at one by one.
  const apart = slotsOf(start.gather) === undefined ? -1 : 0;
  const bisected = (d: number): number => (d === apart ? 0 : at(limits, d));
  const [last, ...others] = [...space.free].sort((a, b) => bisected(b) - bisected(a));
  if (last === undefined) return 1;
  if (last === apart)
    return space.count(last) > maxVisits
      ? undefined
      : space.all(last).filter((n) => legal(replaced(start.schedule.tile, last, n))).length;
  const prefixes = others.reduce((product, d) => product * space.count(d), 1);
  if (prefixes > maxVisits) return undefined;
  const hopeful = (tile: Shape): boolean => isLegalApartFromOrder(single(start, tile));
  const axes = others.map((dim) => ({ dim, entries: space.all(dim) }));
  const max = at(limits, last);
  let [count, done] = [0, 0];
  for (const tile of gridOf(start.schedule.tile, axes, hopeful)) {
    step(++done, prefixes);
    count += (legal(replaced(tile, last, max)) ? 1 : 0) + space.stepsTaken(tile, last, max, legal);
  }
  return count;
}

/**
 * Returns a tile without second copies: larger entries only take more, but for a second copy that whole
 * extents do not have.
 */
const single = (start: Tiling, tile: Shape): Tiling => start.with({ tile, buffers: 1 });

/**
 * Returns legal tiles from which the pass select-tile chooses, each with its fastest schedule; the search
 * stops after 1,000 tiles. If there are more tiles, only extents that are powers of two or whole dims are
 * used. Tiles with more elements than a task should have are omitted, unless the smallest tile has more too.
 */
function candidatesOf(space: ScheduleSpace): Tiling[] {
  const { start } = space;
  const tooMany = gridSize(space.axes()) > maxListed;
  const axes = space.axes((d) =>
    tooMany
      ? space.entries(d).filter((n, k, all) => isPowerOfTwo(n) || k === all.length - 1)
      : space.entries(d),
  );
  // Pinned dims may leave none but long tasks.
  const anyLength = !space.mayFit(start);
  const takes = (tile: Shape): boolean => {
    const tiling = single(start, tile);
    return isLegalApartFromOrder(tiling) && (anyLength || space.mayFit(tiling));
  };
  const tilings: Tiling[] = [];
  for (const tile of gridOf(start.schedule.tile, axes, takes)) {
    const candidate = start.with({ tile });
    if (isLegal(candidate)) tilings.push(fastest(space, candidate));
    if (tilings.length >= maxListed) break;
  }
  return tilings;
}

/**
 * Returns the schedule with the lowest estimated cycles for a tile, over loop orders, views and buffers.
 * Schedule entries that the user stated do not vary. Returns `tiling` if no such schedule is in the search
 * space `space`.
 */
function fastest(space: ScheduleSpace, tiling: Tiling): Tiling {
  const estimate = estimatesOfTile();
  const weighed = space.schedulesInEveryOrder(tiling).map((variant) => ({
    variant,
    estimate: estimate(variant),
  }));
  weighed.sort((a, b) => a.estimate - b.estimate);
  return weighed[0]?.variant ?? tiling;
}

/**
 * Returns one list entry for each tile and residency among the legal schedules `tilings`, fastest first.
 * `chosen`: the compiler's choice, whose entry has `default: true`.
 */
function ranked(tilings: readonly Tiling[], chosen: Tiling | undefined): LegalTile[] {
  const once = new Map<string, Tiling>();
  for (const tiling of tilings) {
    const key = `${formatEntry(tiling.schedule.residency)} ${tiling.schedule.tile.join()}`;
    if (!once.has(key)) once.set(key, tiling);
  }
  const [first] = once.values();
  if (first === undefined) return [];
  const lowerBound = programLowerBound(first);
  const tiles = [...once.values()].map((tiling): Omit<LegalTile, "pareto"> => {
    const clock = clockOf(tiling);
    const { traffic, footprint, schedule } = decided(tiling);
    const { tile, residency, view, order, buffers } = schedule;
    return {
      tile,
      residency,
      view,
      order,
      buffers,
      bytes: footprint.bytes,
      traffic: traffic.bytes,
      tasks: traffic.tasks,
      cycles: clock.cycles,
      ...rooflineOf(tiling, clock, lowerBound),
      default: tiling === chosen,
    };
  });
  tiles.sort(
    (a, b) => a.cycles - b.cycles || a.traffic - b.traffic || a.bytes - b.bytes || b.tasks - a.tasks,
  );
  // Sorted by cycles, so only tiles before one can dominate it.
  const front: typeof tiles = [];
  return tiles.map((tile) => {
    const dominated = front.some(
      (f) => f.bytes <= tile.bytes && f.tasks >= tile.tasks && f.traffic <= tile.traffic,
    );
    if (!dominated) front.push(tile);
    return { ...tile, pareto: !dominated };
  });
}

/**
 * Returns the largest legal extent, at most the present extent, of each gather dim (for a scatter, of each
 * dim that it stores to). The result's field `padded` is for rows padded to a block. The field `aligned` is
 * for tiles whose last extent is whole blocks, 0 if no such tile is legal. Dims without a legal extent are
 * left out.
 */
function largestDims(tiling: Tiling): LegalTiles["largestGatherDims"] {
  const bytes = inputsOf(tiling.gather).map(({ type }) => meanBytes(type.dtype));
  const lanes = Math.max(1, ...bytes.map((size) => tiling.target.blockBytes / size));
  const aligned = largestGatherDims(tiling, lanes);
  return largestGatherDims(tiling).map(({ dim, largest: padded }, k) => ({
    dim,
    padded,
    aligned: aligned[k]?.largest ?? 0,
  }));
}
