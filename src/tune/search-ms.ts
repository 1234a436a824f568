/**
 * The search by measured time. The model prunes what it puts far behind, because a launch cannot be stopped;
 * then its next and the best of each class are measured in turns, so that a wrong model cannot hide a region;
 * then the best few and the default run in turns, and medians decide. Knows nothing of schedules or machines:
 * recorded runs can be searched as well.
 */
import { at, type Code } from "../../ir/index.js";
import { median } from "./median.js";
import type { RunOff } from "./result.js";
import { seeded } from "./seeded.js";

/**
 * Candidate of a search by measured time: id, estimated cycles, and class of similar candidates. {@link plan}
 * orders the candidates.
 */
export interface Ranked {
  readonly id: string;
  /** Estimated cycles. */
  readonly weight: number;
  /**
   * Residency, loop nest and magnitude of the tile, as text. The cost model may misjudge all candidates of a
   * class alike.
   */
  readonly class: string;
}

/**
 * Measurement of one candidate: the nanoseconds of each sample, or the status, code and reason of a failure.
 */
export type Measurement =
  | { readonly status: "measured"; readonly nanoseconds: readonly number[] }
  | { readonly status: "timeout" | "wrong" | "error"; readonly code: Code; readonly reason: string };

/** Options for measuring one candidate: the number of samples and the time limit. */
export interface MeasureOptions {
  /** Largest number of time samples. A sample is the mean time of one or more runs. */
  readonly samples: number;
  /** Time limit for the candidate in milliseconds, including the first run, whose output is verified. */
  readonly limitMs: number;
}

/**
 * Input of {@link searchMs}: the candidates in order, the function that measures a candidate, and cached
 * measurements.
 */
export interface MsSearch {
  /** Ids of the candidates to measure, in order; the default schedule is first. */
  readonly order: readonly string[];
  /** Id of the default schedule, which takes part in the run-off whatever its time is. */
  readonly default: string;
  readonly measure: (id: string, options: MeasureOptions) => Promise<Measurement>;
  /** Measurements of earlier searches, by candidate id. */
  readonly cached?: ReadonlyMap<string, Measurement>;
  /**
   * Returns the reason to stop the search, or `no`. After `time` the run-off is still made; after `abort`
   * nothing more is.
   */
  readonly stop?: () => "no" | "time" | "abort";
  /** `fresh`: measured now. */
  readonly onMeasured?: (id: string, measurement: Measurement, fresh: boolean) => void;
}

/**
 * Result of {@link searchMs}: the measurements by candidate id, the times of the run-off (final round-robin
 * comparison), and the reason why the search stopped early.
 */
export interface MsResult {
  readonly measurements: ReadonlyMap<string, Measurement>;
  /** Nanoseconds of each round of the run-off, by candidate id; empty without a run-off. */
  readonly runOff: ReadonlyMap<string, readonly number[]>;
  readonly stopped: "no" | "time" | "abort";
}

/**
 * Limit on a candidate's estimated cycles as a ratio to the best estimate. A candidate above the limit is not
 * measured.
 */
export const modelLimit = 8;
const samples = 5;
const finalists = 6;
/**
 * Least and greatest number of rounds of a run-off (final round-robin comparison). Rounds beyond the least
 * number start only within the first 20 seconds of the run-off.
 */
export const runOffRounds = { least: 21, max: 63 } as const;
const runOffMs = 20_000;
/**
 * Least time limit of a candidate, in milliseconds; the limit grows to `timesBest` times the best time. The
 * default has a minute, because nothing compares without it.
 */
const leastLimitMs = 1000;
const timesBest = 20;
const defaultLimitMs = 60_000;

/**
 * Measures the candidates in the order of `search.order`. Then starts the run-off, in which the fastest
 * candidates and the default schedule are measured in turns. Resolves to all measurements; a candidate with a
 * cached measurement is measured again only in the run-off.
 */
export async function searchMs(search: MsSearch): Promise<MsResult> {
  const { cached, measure, onMeasured, order, stop = () => "no" as const } = search;
  const measurements = new Map<string, Measurement>();
  let best = Infinity;
  for (const id of order) {
    if (stop() !== "no" && measurements.size > 0) break;
    const before = cached?.get(id);
    const limitMs = id === search.default ? defaultLimitMs : limitFor(best);
    const measured = before ?? (await measure(id, { samples, limitMs }));
    // What an abort cut short is no measurement.
    if (stop() === "abort") break;
    measurements.set(id, measured);
    onMeasured?.(id, measured, before === undefined);
    if (measured.status === "measured") best = Math.min(best, median(measured.nanoseconds) / 1e6);
  }
  const stopped = stop();
  const runOff =
    stopped === "abort" ? new Map<string, number[]>() : await roundRobinRuns(search, measurements, best);
  return { measurements, runOff, stopped };
}

const limitFor = (bestMs: number): number =>
  bestMs === Infinity ? defaultLimitMs : Math.max(leastLimitMs, timesBest * bestMs);

/**
 * Returns the candidates whose estimated cycles are at most {@link modelLimit} times the smallest estimate.
 */
export function kept<T extends Pick<Ranked, "weight">>(ranked: readonly T[]): readonly T[] {
  const least = ranked.reduce((min, { weight }) => Math.min(min, weight), Infinity);
  return ranked.filter(({ weight }) => weight <= modelLimit * least);
}

interface Planned {
  /** The most promising first. */
  readonly ranked: readonly Ranked[];
  /** Id of the default. */
  readonly default: string;
  /** Candidates that are measured at most, the default included. */
  readonly budget: number;
  /** Seed that orders ties in the model. */
  readonly seed: number;
}

/**
 * Returns at most `budget` candidates to measure, in order. The default schedule is first. The others are
 * chosen alternately: the best remaining candidate of all, and the best remaining candidate of the class with
 * the fewest chosen candidates. Best means the fewest estimated cycles; `seed` decides between equal
 * candidates.
 */
export function plan({ ranked, default: first, budget, seed }: Planned): readonly Ranked[] {
  const draw = seeded(seed);
  const drawn = new Map(ranked.map(({ id }) => [id, draw()]));
  const order = [...kept(ranked)].sort(
    (a, b) => a.weight - b.weight || (drawn.get(a.id) ?? 0) - (drawn.get(b.id) ?? 0),
  );
  const classes = new Map<string, Class>();
  for (const candidate of order) {
    const group = classes.get(candidate.class) ?? { list: [], at: 0, runs: 0 };
    group.list.push(candidate);
    classes.set(candidate.class, group);
  }
  const taken = new Set<string>();
  const chosen: Ranked[] = [];
  const take = (candidate: Ranked | undefined): void => {
    if (candidate === undefined || taken.has(candidate.id) || chosen.length >= budget) return;
    taken.add(candidate.id);
    chosen.push(candidate);
    const group = classes.get(candidate.class);
    if (group !== undefined) group.runs++;
  };
  const all: Class = { list: order, at: 0, runs: 0 };
  const next = (within: Class): Ranked | undefined => {
    while (taken.has(within.list[within.at]?.id ?? "")) within.at++;
    return within.list[within.at];
  };
  take(ranked.find(({ id }) => id === first));
  for (let before = -1; before < taken.size;) {
    before = taken.size;
    take(next(all));
    // The class of which the fewest were taken; of several, the one that the model likes best.
    const unfinished = [...classes.values()].filter((group) => next(group) !== undefined);
    const least = Math.min(...unfinished.map(({ runs }) => runs));
    const [candidate] = unfinished.filter(({ runs }) => runs === least);
    take(candidate === undefined ? undefined : next(candidate));
  }
  return chosen;
}

interface Class {
  /** The most promising first. */
  readonly list: Ranked[];
  /** Place from which on some may be left. */
  at: number;
  /** Number of candidates taken from the class. */
  runs: number;
}

/**
 * Resolves to the times of the run-off (final round-robin comparison) by candidate id, in nanoseconds for
 * each round. Candidates that fail in a round are left out. Resolves to an empty map if fewer than two
 * candidates have times, or after an abort.
 */
async function roundRobinRuns(
  { measure, default: defaultId, stop }: MsSearch,
  measurements: ReadonlyMap<string, Measurement>,
  best: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = [...measurements].flatMap(([id, m]) =>
    m.status === "measured" ? [{ id, time: median(m.nanoseconds) }] : [],
  );
  times.sort((a, b) => a.time - b.time);
  const ids = times.slice(0, finalists).map(({ id }) => id);
  if (times.some(({ id }) => id === defaultId) && !ids.includes(defaultId)) ids.push(defaultId);
  if (ids.length < 2) return new Map();
  const runs = new Map(ids.map((id) => [id, [] as number[]]));
  const ends = performance.now() + runOffMs;
  const { least, max } = runOffRounds;
  let rounds = 0;
  for (; rounds < max && (rounds < least || performance.now() < ends); rounds++) {
    for (let k = 0; k < ids.length; k++) {
      if (stop?.() === "abort") return new Map();
      const id = at(ids, (k + rounds) % ids.length);
      const measured = await measure(id, { samples, limitMs: limitFor(best) });
      if (measured.status === "measured") runs.get(id)?.push(median(measured.nanoseconds));
    }
  }
  // One that failed a round is out.
  return new Map([...runs].filter(([, list]) => list.length === rounds));
}

const significance = 0.05;

/**
 * Returns the result of a run-off (final round-robin comparison), which tells whether the fastest candidate
 * is significantly faster than the default schedule. `runOff`: nanoseconds of each round, by candidate id.
 * Returns undefined if the default schedule was not in the run-off.
 */
export function decided(
  runOff: ReadonlyMap<string, readonly number[]>,
  defaultId: string,
): RunOff | undefined {
  const order = [...runOff].sort(([, a], [, b]) => median(a) - median(b)).map(([id]) => id);
  const [winner, base] = [runOff.get(order[0] ?? ""), runOff.get(defaultId)];
  if (winner === undefined || base === undefined) return undefined;
  const won = winner.filter((time, round) => time < at(base, round)).length;
  const rounds = winner.length;
  const chance = winner === base ? 1 : chanceOf(won, rounds, order.length - 1);
  return { rounds, order, won, chance, significant: chance < significance };
}

/**
 * Returns the probability that a fair coin wins at least `won` of `rounds` rounds, multiplied by the number
 * of contenders (Bonferroni correction). The result is at most 1.
 */
function chanceOf(won: number, rounds: number, contenders: number): number {
  let [tail, outcomes] = [0, 1];
  for (let k = 0; k <= rounds; k++) {
    if (k >= won) tail += outcomes / 2 ** rounds;
    outcomes = (outcomes * (rounds - k)) / (k + 1);
  }
  return Math.min(1, tail * contenders);
}
