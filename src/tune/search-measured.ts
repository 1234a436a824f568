/** The search by milliseconds, on the candidates of a gather. */
import { derivedOnce } from "../../ir/derived-once.js";
import { defined, at, formatEntry, InternalError } from "../../ir/index.js";
import { definedOutput } from "../api/against.js";
import { randomInputs } from "../testing/random.js";
import { concluded } from "./conclude.js";
import { canonicalJson, contentHash } from "./content-hash.js";
import { costedBy, type Costed } from "./costed.js";
import { inShard } from "./cut.js";
import {
  deadlineOf,
  defaultBudget,
  defaultSeed,
  scheduleLabel,
  type CachedCandidate,
  type Search,
} from "./options.js";
import { median } from "./median.js";
import type { Candidate, CandidateRun, TuneResult } from "./result.js";
import { decided, kept, plan, searchMs, type Measurement, type MsResult } from "./search-ms.js";
import type { SpaceEntry } from "./space.js";

/**
 * Searches schedules by measured milliseconds, and resolves to the result. Opens the measurer of
 * `options.measure`, and closes the measurer at the end. Rejects with an InternalError if `options.measure`
 * is undefined.
 */
export async function searchMeasured(search: Search): Promise<TuneResult> {
  const { task, space, defaultId, kernel, options } = search;
  const { budget = defaultBudget, seed = defaultSeed, shard, cached, signal, measure } = options;
  if (measure === undefined) throw new InternalError("objective ms was checked for what measures");
  const ranked = space.entries.map((entry) => ({
    id: entry.facts.id,
    weight: entry.weight,
    class: classOf(entry),
  }));
  const runs = typeof budget === "number" ? budget : space.entries.length;
  const order = plan({ ranked, default: defaultId, budget: runs, seed });
  const byId = new Map(space.entries.map((entry) => [entry.facts.id, entry]));
  // A candidate is measured, reported and compared: its program is lowered once.
  const costed = derivedOnce((entry: SpaceEntry) => costedBy(search, entry));
  const costedOf = (id: string): Costed => costed(entryOf(byId, id));
  const inputs = options.inputs ?? randomInputs(kernel, seed);
  const expected = definedOutput(task.gather, kernel.tile, inputs);
  const measurer = await measure.open({ kernel, inputs, expected });
  const { device } = measurer;
  try {
    const left = ranked.length - kept(ranked).length;
    options.onSpace?.(
      { ...task, device },
      space,
      [
        { why: "model", count: left },
        { why: "budget", count: ranked.length - order.length - left },
        { why: "length", count: space.longTiles },
      ],
      defaultId,
    );
    const mine = order.filter(({ id }) => id === defaultId || inShard(id, shard));
    const ends = deadlineOf(budget);
    let done = 0;
    const timed = await searchMs({
      order: mine.map(({ id }) => id),
      default: defaultId,
      cached: new Map([...(cached ?? [])].flatMap(([id, before]) => cachedOn(device, id, before))),
      stop: () => (signal?.aborted === true ? "abort" : performance.now() > ends ? "time" : "no"),
      measure(id, given) {
        const { tile, refusal } = costedOf(id);
        if (refusal !== undefined) return Promise.resolve(refusal);
        return untilAborted(() => measurer.measure(tile(), given), signal);
      },
      onMeasured(id, measurement, fresh) {
        const entry = entryOf(byId, id);
        if (fresh) options.onCandidate?.(candidateOf(costed(entry), measurement, device));
        options.onProgress?.(++done, mine.length, scheduleLabel(entry));
      },
    });
    return raced(
      search,
      timed,
      costedOf,
      device,
      order.map(({ id }) => entryOf(byId, id)),
    );
  } finally {
    await measurer.close();
  }
}

/**
 * Returns the name of the class to which a candidate belongs. Candidates of one class have the same
 * residency, the same loop nest, and tiles whose numbers of elements round down to the same power of 8. A
 * measured search distributes its measurements over the classes.
 */
export function classOf({ tiling, facts }: SpaceEntry): string {
  const nest = tiling.loops.map((loop) => `${loop.dim}${loop.mode === "serial" ? "s" : ""}`).join();
  return `${formatEntry(facts.schedule.residency)} ${nest} ${Math.floor(Math.log2(facts.elements) / 3)}`;
}

/**
 * Runs a measurement and resolves to the result. Resolves to a measurement of status `error` (TC506) if the
 * signal aborts first; the measured candidate runs on until the measurer is closed.
 */
async function untilAborted(
  run: () => Promise<Measurement>,
  signal: AbortSignal | undefined,
): Promise<Measurement> {
  if (signal === undefined) return run();
  let onAbort = (): void => undefined;
  const aborted = new Promise<Measurement>((resolve) => {
    onAbort = () => {
      resolve({ status: "error", code: "TC506", reason: "the search was aborted" });
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([run(), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function entryOf(byId: ReadonlyMap<string, SpaceEntry>, id: string): SpaceEntry {
  const entry = byId.get(id);
  if (entry === undefined) throw new InternalError(`candidate ${id} is in the space`);
  return entry;
}

/** Returns the earlier measurement of a candidate on this device, by its id; empty if there is none. */
function cachedOn(device: string, id: string, { failure, runs }: CachedCandidate): [string, Measurement][] {
  if (failure !== undefined) return [[id, failure]];
  const run = runs?.find((one) => one.device === device && one.phase === "search");
  return run === undefined ? [] : [[id, { status: "measured", nanoseconds: run.nanoseconds }]];
}

/**
 * Returns a candidate with the cost and the measured times in milliseconds, or with the reason of the
 * failure. `race` has the times of the run-off (final round-robin comparison).
 */
function candidateOf(
  { facts }: Costed,
  measurement: Measurement,
  device: string,
  race?: CandidateRun,
): Candidate {
  if (measurement.status !== "measured") return { ...facts, ...measurement };
  const first: CandidateRun = { device, phase: "search", nanoseconds: measurement.nanoseconds };
  const runs = race === undefined ? [first] : [first, race];
  return { ...facts, status: "measured", ms: median(at(runs, runs.length - 1).nanoseconds) / 1e6, runs };
}

/**
 * Returns the result of a measured search. Candidates have the times of the search and of the run-off (final
 * round-robin comparison).
 */
function raced(
  search: Search,
  { measurements, runOff, stopped }: MsResult,
  costedOf: (id: string) => Costed,
  device: string,
  listed: readonly SpaceEntry[],
): TuneResult {
  const { defaultId, options } = search;
  const name = contentHash(canonicalJson([device, [...runOff]]));
  const candidates = [...measurements].map(([id, measurement]) => {
    const nanoseconds = runOff.get(id);
    const race = nanoseconds && { device, phase: "run-off" as const, race: name, nanoseconds };
    return candidateOf(costedOf(id), measurement, device, race);
  });
  for (const candidate of candidates) if (runOff.has(candidate.id)) options.onCandidate?.(candidate);
  const race = decided(runOff, defaultId);
  return concluded(search, candidates, {
    listed,
    complete: stopped === "no",
    ...defined({ race }),
  });
}
