/**
 * From what a search costed or measured to its result: counts, the best against the default, and a sentence
 * about it.
 */
import {
  defined,
  CompileError,
  error,
  formatEntry,
  printSchedule,
  scheduleEntries,
  withCommas,
} from "../../ir/index.js";
import { compareCandidates } from "./cost.js";
import { defaultSeed, type Search } from "./options.js";
import type { Candidate, CandidateStatus, Objective, PrunedCandidate, RunOff, TuneResult } from "./result.js";
import { baselineText } from "./marks.js";
import { modelLimit } from "./search-ms.js";
import type { SpaceEntry } from "./space.js";

/**
 * Returns the result of a finished search: counts by status, the costed and pruned candidates, and the best
 * candidate compared with the default schedule. If the default schedule was not costed, throws the abort
 * reason, or a CompileError (TC702).
 */
export function concluded(
  { task, space, defaultId, options, refusal }: Search,
  costed: readonly Candidate[],
  end: { readonly complete: boolean; readonly race?: RunOff; readonly listed?: readonly SpaceEntry[] },
): TuneResult {
  const { program, objective, gather, target, backend, passes } = task;
  const { seed = defaultSeed, shard } = options;
  const { race } = end;
  const sorted = [...costed].sort((a, b) => compareCandidates(a, b, objective));
  const candidates = passes === undefined ? sorted : distinct(sorted, defaultId, race);
  const chosen = candidates.find(({ id }) => id === defaultId);
  // Those of other shards are costed there.
  const elsewhere = new Set(shard === undefined ? [] : end.listed?.map(({ facts }) => facts.id));
  const ids = new Set(costed.map(({ id }) => id));
  const least = space.entries.reduce((min, { weight }) => Math.min(min, weight), Infinity);
  const pruned = space.entries
    .filter(({ facts }) => !ids.has(facts.id) && !elsewhere.has(facts.id))
    .map((entry): PrunedCandidate => ({
      ...entry.facts,
      status: "pruned",
      reason: whyPruned(entry, objective, least),
    }));
  const [front] = candidates;
  if (chosen === undefined || front === undefined) {
    throw options.signal?.reason instanceof Error
      ? options.signal.reason
      : new CompileError([error("TC702", "the search ended before the default was costed")]);
  }
  const beatsDefault =
    objective === "ms"
      ? beatsByTime(race, chosen, front)
      : figureOf(front, objective) < figureOf(chosen, objective);
  const winner = race === undefined ? front : (candidates.find(({ id }) => id === race.order[0]) ?? front);
  const best = beatsDefault || (objective !== "ms" && hasFigure(winner)) ? winner : chosen;
  const compared = { best, default: chosen, ...defined({ refusal }) };
  const counts: Record<CandidateStatus, number> = {
    measured: 0,
    estimated: 0,
    pruned: pruned.length + space.longTiles,
    refused: space.refusedCount,
    timeout: 0,
    wrong: 0,
    error: 0,
  };
  for (const { status } of candidates) counts[status]++;
  return {
    name: gather.name,
    program,
    gather,
    target,
    objective,
    ...defined({ passes: passes?.map((pass) => pass.name), backend }),
    seed,
    ...compared,
    beatsDefault,
    verdict: verdictOf(compared, objective, beatsDefault, race),
    counts,
    candidates,
    pruned,
    refused: space.refused,
    space: { tiles: space.tiles, schedules: space.entries.length, thinned: space.thinned },
    ...defined({ runOff: race }),
    complete: end.complete,
  };
}

/**
 * Returns the candidates of `sorted` without duplicates. Duplicates are candidates with the same schedule,
 * costs and status. Of several duplicates, the default schedule is kept if present, else the first. All
 * candidates of the run-off `race` (final round-robin comparison) are kept.
 */
function distinct(sorted: readonly Candidate[], defaultId: string, race: RunOff | undefined): Candidate[] {
  const keyOf = ({ schedule, cycles, bytes, ubBytes, status }: Candidate): string =>
    [printSchedule(schedule), cycles, bytes, ubBytes, status].join("; ");
  const chosen = sorted.find(({ id }) => id === defaultId);
  const first = new Map(chosen === undefined ? [] : [[keyOf(chosen), chosen]]);
  for (const candidate of sorted) {
    const key = keyOf(candidate);
    if (!first.has(key)) first.set(key, candidate);
  }
  return sorted.filter(
    (candidate) => first.get(keyOf(candidate)) === candidate || race?.order.includes(candidate.id) === true,
  );
}

/**
 * Returns a candidate's schedule as text: the tile, the residency, and every other schedule entry that
 * differs from the default schedule.
 */
function shownDifference({ schedule }: Candidate, { schedule: other }: Candidate): string {
  const { tile, residency } = schedule;
  const differing = Object.values(scheduleEntries).flatMap(({ key }) => {
    const [ours, theirs] = [schedule[key], other[key]];
    const same = ours === undefined || (theirs !== undefined && formatEntry(ours) === formatEntry(theirs));
    return same ? [] : [[key, ours] as const];
  });
  return printSchedule({ tile, residency, ...Object.fromEntries(differing) });
}

/**
 * Returns the reason, as text, why a legal schedule was not costed. Either the budget of the search was spent
 * or, for objective `ms`, the estimated cycles exceed {@link modelLimit} times `least`. `least` is the fewest
 * estimated cycles of all schedules.
 */
function whyPruned({ weight, facts }: SpaceEntry, objective: Objective, least: number): string {
  if (objective === "ms" && weight > modelLimit * least) {
    return `the model puts it at ${(weight / least).toFixed(1)} times the best, over ${modelLimit}`;
  }
  return objective === "bytes"
    ? `beyond the budget: it moves ${facts.bytes} B`
    : `beyond the budget: estimated at ${Math.round(facts.estimate)} cycles`;
}

/**
 * True if the best candidate beats the default by time: significantly, or because the default did not run and
 * the best did.
 */
const beatsByTime = (race: RunOff | undefined, chosen: Candidate, front: Candidate): boolean =>
  chosen.status === "measured" ? race?.significant === true : front.status === "measured";

/**
 * Returns one sentence that compares the best candidate with the default schedule, or with that under
 * residency `auto` for a program without a default: costs, gain in percent, and rounds won in the run-off
 * (final round-robin comparison).
 */
function verdictOf(
  compared: Compared,
  objective: Objective,
  beats: boolean,
  race: RunOff | undefined,
): string {
  const { best, default: chosen } = compared;
  const against = race !== undefined && race.order[0] !== chosen.id;
  const rounds = against ? ` (the fastest won ${race.won} of ${race.rounds} rounds against it)` : "";
  const shown = shownDifference(best, chosen);
  const other = baselineText(compared);
  if (!beats) {
    const none = `no schedule beats ${other}, ${figure(chosen, objective)}${rounds}`;
    return best.id === chosen.id ? none : `${none}; ${shown} ties with it, and is better in what breaks ties`;
  }
  if (objective !== "ms" && !hasFigure(chosen))
    return `${shown}: ${figure(best, objective)}; the passes refuse ${other}`;
  const gain = 1 - figureOf(best, objective) / figureOf(chosen, objective);
  return `${shown}: ${figure(best, objective)}, ${(100 * gain).toFixed(1)} % less than ${compared.refusal === undefined ? "the default's" : `${other},`} ${figure(chosen, objective)}${rounds}`;
}

/** The best candidate of a search, and the candidate with which it is compared. */
type Compared = Pick<TuneResult, "best" | "default" | "refusal">;

/** True if a candidate is costed by an exact objective: no pass refuses it. */
const hasFigure = ({ status }: Candidate): boolean => status === "estimated";

function figureOf(candidate: Candidate, objective: Objective): number {
  if (objective !== "ms" && !hasFigure(candidate)) return Infinity;
  if (objective === "bytes") return candidate.bytes;
  if (objective === "cycles") return candidate.cycles;
  return candidate.status === "measured" ? candidate.ms : Infinity;
}

function figure(candidate: Candidate, objective: Objective): string {
  const value = figureOf(candidate, objective);
  if (value === Infinity) return objective === "ms" ? "which did not run" : "which the passes refuse";
  if (objective === "ms") return `${value.toPrecision(4)} ms`;
  return `${withCommas(value)} ${objective === "bytes" ? "B" : "cycles"}`;
}
