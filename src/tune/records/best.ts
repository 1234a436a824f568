/**
 * The best candidate of each task in records: exact figures by themselves, milliseconds by the default's on
 * the same device.
 */
import { defined } from "../../../ir/defined.js";
import { checkApiArgument } from "../../api/argument-kinds.js";
import { compareKeys, tieBreaks } from "../../../passes/index.js";
import { median } from "../median.js";
import { decided } from "../search-ms.js";
import type { CandidateRecord, TaskRecord, TuneRecord } from "./record.js";

/** Best candidate schedule of one search, compared with the default schedule if the default was costed. */
export interface BestRecord {
  readonly task: TaskRecord;
  readonly best: CandidateRecord;
  /** Default schedule; absent if it was not costed. */
  readonly default?: CandidateRecord;
  readonly beatsDefault: boolean;
  /**
   * Time of the best divided by the time of the default: a geometric mean over run-offs or devices. Only for
   * objective `ms`.
   */
  readonly ratio?: number;
  /** Devices on which the times of the ratio were measured. */
  readonly devices: readonly string[];
}

/**
 * Returns the best candidate schedule of each search in the records. A search is left out if no candidate was
 * estimated or measured, or if its objective is `ms` and the default schedule was not measured.
 */
export function bestOf(records: readonly TuneRecord[]): readonly BestRecord[] {
  checkApiArgument("bestOf", "records", records);
  const tasks = new Map<string, TaskRecord>();
  for (const record of records) if (record.record === "task") tasks.set(record.task, record);
  return [...tasks.values()].flatMap((task) => {
    const candidates = records.filter(
      (record): record is CandidateRecord => record.record === "candidate" && record.task === task.task,
    );
    // Cycles of an older clock compare with nothing.
    const clock = candidates.reduce((newest, candidate) => Math.max(newest, candidate.clock), 0);
    const current = candidates.filter((candidate) => candidate.clock === clock);
    const best = task.objective === "ms" ? bestByTime(task, candidates) : bestByCost(task, current);
    return best === undefined ? [] : [best];
  });
}

/**
 * Returns the best candidate of a search by estimated cycles, or by bytes if the objective is `bytes`.
 * Returns undefined if no candidate has an estimate.
 */
function bestByCost(task: TaskRecord, candidates: readonly CandidateRecord[]): BestRecord | undefined {
  const keys = (c: CandidateRecord): number[] => [
    ...(task.objective === "bytes" ? [c.bytes] : []),
    c.cycles,
    ...tieBreaks(c),
  ];
  const ranked = candidates
    .filter(({ status }) => status === "estimated")
    .sort((a, b) => compareKeys(keys(a), keys(b)) || (a.candidate < b.candidate ? -1 : 1));
  const [best] = ranked;
  if (best === undefined) return undefined;
  const standard = ranked.find((candidate) => candidate.default);
  const figure = (c: CandidateRecord): number => (task.objective === "bytes" ? c.bytes : c.cycles);
  return {
    task,
    best,
    ...defined({ default: standard }),
    beatsDefault: standard !== undefined && figure(best) < figure(standard),
    devices: [],
  };
}

interface Timed {
  readonly candidate: CandidateRecord;
  /** Its time over the default's, in each race or on each device. */
  readonly ratios: readonly number[];
  readonly devices: readonly string[];
}

/**
 * Returns the fastest measured candidate of a search, or the default schedule if no candidate is
 * significantly faster. Returns undefined if the default schedule was not measured.
 */
function bestByTime(task: TaskRecord, candidates: readonly CandidateRecord[]): BestRecord | undefined {
  const measured = candidates.filter(({ runs, status }) => runs.length > 0 && status !== "wrong");
  const standard = measured.find((candidate) => candidate.default);
  if (standard === undefined) return undefined;
  const ahead = [...winners(measured, standard), ...given(measured, standard)]
    .filter(({ ratios }) => mean(ratios) < 1)
    .sort(
      (a, b) => mean(a.ratios) - mean(b.ratios) || (a.candidate.candidate < b.candidate.candidate ? -1 : 1),
    );
  const [first] = ahead;
  if (first === undefined)
    return { task, best: standard, default: standard, beatsDefault: false, devices: devicesOf(standard) };
  return {
    task,
    best: first.candidate,
    default: standard,
    beatsDefault: true,
    ratio: mean(first.ratios),
    devices: first.devices,
  };
}

/**
 * Returns the candidates that won a run-off (final round-robin comparison) and were significantly faster than
 * the default schedule. In the result, `ratios` has a number for each run-off that the candidate won: its
 * median time divided by the median time of the default schedule.
 */
function winners(measured: readonly CandidateRecord[], standard: CandidateRecord): readonly Timed[] {
  const races = new Set(standard.runs.flatMap(({ race }) => race ?? []));
  const timed = new Map<string, Timed>();
  for (const race of races) {
    const times = new Map(
      measured.flatMap((candidate) =>
        candidate.runs.filter((run) => run.race === race).map((run) => [candidate.candidate, run] as const),
      ),
    );
    const runOff = new Map([...times].map(([id, { nanoseconds }]) => [id, nanoseconds]));
    const result = decided(runOff, standard.candidate);
    const [first] = result?.order ?? [];
    const candidate = measured.find((one) => one.candidate === first);
    const [run, base] = [times.get(first ?? ""), times.get(standard.candidate)];
    if (result?.significant !== true || candidate === undefined || run === undefined || base === undefined)
      continue;
    const previous = timed.get(candidate.candidate);
    timed.set(candidate.candidate, {
      candidate,
      ratios: [...(previous?.ratios ?? []), median(run.nanoseconds) / median(base.nanoseconds)],
      devices: [...new Set([...(previous?.devices ?? []), run.device])],
    });
  }
  return [...timed.values()];
}

/**
 * Returns the candidates, except the default schedule, with times measured outside tilec on a device that
 * also has such times of the default schedule. In the result, `ratios` has a number for each such device: the
 * candidate's median time divided by the median time of the default schedule.
 */
function given(measured: readonly CandidateRecord[], standard: CandidateRecord): readonly Timed[] {
  const timesOn = (candidate: CandidateRecord, device: string): readonly number[] =>
    candidate.runs.flatMap((run) => (run.phase === "given" && run.device === device ? run.nanoseconds : []));
  const devices = devicesOf(standard).filter((device) => timesOn(standard, device).length > 0);
  return measured.flatMap((candidate) => {
    const on = devices.filter((device) => timesOn(candidate, device).length > 0);
    if (candidate === standard || on.length === 0) return [];
    const ratios = on.map((device) => median(timesOn(candidate, device)) / median(timesOn(standard, device)));
    return [{ candidate, ratios, devices: on }];
  });
}

const devicesOf = ({ runs }: CandidateRecord): readonly string[] => [
  ...new Set(runs.map(({ device }) => device)),
];

const mean = (ratios: readonly number[]): number =>
  Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);

/**
 * Returns the median run time of a candidate in milliseconds. Times measured during the search are used only
 * if no other times exist. Returns undefined if the candidate has no times.
 */
export function millisecondsOf({ runs }: CandidateRecord): number | undefined {
  const decisive = runs.filter(({ phase }) => phase !== "search");
  const times = (decisive.length > 0 ? decisive : runs).flatMap(({ nanoseconds }) => nanoseconds);
  return times.length === 0 ? undefined : median(times) / 1e6;
}
