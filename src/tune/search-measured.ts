/** The search by milliseconds, on the candidates of a gather. */
import type { HostInputs } from "../../backends/index.js";
import { at, CompileError, error, inputOf, type AccessFunc } from "../../ir/index.js";
import { lowered } from "../../passes/index.js";
import { definedOutput } from "../api/against.js";
import type { Kernel } from "../api/compile.js";
import { asHost } from "../formats/tensor.js";
import { randomData, randomIndices } from "../testing/random.js";
import { concluded } from "./conclude.js";
import { costOf } from "./cost.js";
import { inShard } from "./cut.js";
import type { Measurer } from "./measurer.js";
import {
  deadlineOf,
  defaultBudget,
  defaultSeed,
  labelOf,
  type KnownCandidate,
  type Search,
} from "./options.js";
import type { Candidate, CandidateRun, CostFacts, RunOff, TuneResult } from "./result.js";
import { chanceOf, median, plan, searchMs, type Measurement, type MsFound } from "./search-ms.js";
import type { SpaceEntry } from "./space.js";

/** What the model may be wrong about as a whole: residency, nest, size of the tile. */
export function classOf({ tiling, facts }: SpaceEntry): string {
  const nest = tiling.loops.map((loop) => `${loop.dim}${loop.mode === "serial" ? "s" : ""}`).join();
  return `${facts.schedule.residency} ${nest} ${Math.floor(Math.log2(facts.elements) / 3)}`;
}

export async function searchMeasured(search: Search): Promise<TuneResult> {
  const { task, space, own, kernel, options } = search;
  const { budget = defaultBudget, seed = defaultSeed, shard, known, signal, measure } = options;
  if (measure === undefined) throw new CompileError([error("TC702", "objective ms needs `measure`")]);
  const ranked = space.entries.map((entry) => ({
    id: entry.facts.id,
    weight: entry.weight,
    class: classOf(entry),
  }));
  const most = typeof budget === "number" ? budget : space.entries.length;
  const chosen = new Set(plan({ ranked, default: own, budget: most, seed }).map(({ id }) => id));
  const byId = new Map(space.entries.map((entry) => [entry.facts.id, entry]));
  const inputs = options.inputs ?? randomInputs(kernel, seed);
  const measurer = await measure.open({ kernel, inputs, expected: expectedOf(task.gather, kernel, inputs) });
  try {
    options.onSpace?.({ ...task, device: measurer.device }, space);
    const mine = ranked.filter(({ id }) => id === own || (chosen.has(id) && inShard(id, shard)));
    const ends = deadlineOf(budget);
    const total = Math.min(most, mine.length);
    let done = 0;
    const tiles = new Map<string, ReturnType<typeof lowered>>();
    const found = await searchMs({
      ranked: mine,
      default: own,
      budget: most,
      seed,
      ...(known === undefined ? {} : { known: measurementsOf(known) }),
      stop: () => (signal?.aborted === true ? "abort" : performance.now() > ends ? "time" : "no"),
      measure: (id, given) => {
        const entry = entryOf(byId, id);
        const tile = tiles.get(id) ?? lowered(entry.tiling);
        tiles.set(id, tile);
        return untilAborted(measurer, () => measurer.measure(tile, given), signal);
      },
      onMeasured(id, measurement) {
        const entry = entryOf(byId, id);
        options.onCandidate?.(candidateOf(entry, measurer.device, measurement, []));
        options.onProgress?.(++done, total, labelOf(entry));
      },
    });
    return raced(search, found, byId, measurer.device);
  } finally {
    await measurer.close();
  }
}

/** An abort ends the measurer, and with it the candidate in flight. */
async function untilAborted(
  measurer: Measurer,
  run: () => Promise<Measurement>,
  signal: AbortSignal | undefined,
): Promise<Measurement> {
  const aborted: Measurement = { status: "error", code: "TC505", reason: "the search was aborted" };
  if (signal === undefined) return run();
  if (signal.aborted) return aborted;
  let onAbort = (): void => undefined;
  const abort = new Promise<Measurement>((resolve) => {
    onAbort = () => {
      resolve(aborted);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([run(), abort]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    if (signal.aborted) await measurer.close();
  }
}

function entryOf(byId: ReadonlyMap<string, SpaceEntry>, id: string): SpaceEntry {
  const entry = byId.get(id);
  if (entry === undefined) throw new RangeError(`no candidate ${id}`);
  return entry;
}

const measurementsOf = (known: ReadonlyMap<string, KnownCandidate>): ReadonlyMap<string, Measurement> =>
  new Map(
    [...known].flatMap(([id, { measurement }]) => (measurement === undefined ? [] : [[id, measurement]])),
  );

function candidateOf(
  entry: SpaceEntry,
  device: string,
  measurement: Measurement,
  runOff: readonly number[],
): Candidate {
  const facts: CostFacts = { ...entry.facts, ...costOf(entry) };
  if (measurement.status !== "measured") return { ...facts, ...measurement };
  const runs: CandidateRun[] = [{ device, phase: "search", nanoseconds: measurement.nanoseconds }];
  if (runOff.length > 0) runs.push({ device, phase: "run-off", nanoseconds: runOff });
  return { ...facts, status: "measured", ms: median(at(runs, runs.length - 1).nanoseconds) / 1e6, runs };
}

function raced(
  search: Search,
  { measurements, runOff, stopped }: MsFound,
  byId: ReadonlyMap<string, SpaceEntry>,
  device: string,
): TuneResult {
  const { own, options } = search;
  const candidates = [...measurements].map(([id, m]) =>
    candidateOf(entryOf(byId, id), device, m, runOff.get(id) ?? []),
  );
  for (const candidate of candidates) if (runOff.has(candidate.id)) options.onCandidate?.(candidate);
  const order = [...runOff].sort(([, a], [, b]) => median(a) - median(b)).map(([id]) => id);
  const [first] = order;
  const [winner, base] = [runOff.get(first ?? ""), runOff.get(own)];
  const rounds = winner?.length ?? 0;
  const won = winner?.filter((time, k) => time < (base?.[k] ?? -Infinity)).length ?? 0;
  const race: RunOff | undefined =
    first === undefined || base === undefined
      ? undefined
      : { rounds, order, won, chance: first === own ? 1 : chanceOf(won, rounds, order.length - 1) };
  return concluded(search, candidates, {
    listed: [],
    complete: stopped === "no",
    ...(race === undefined ? {} : { race }),
  });
}

/** Random inputs from a seed, in range. Throws a CompileError (TC502) for more than memory holds. */
export function randomInputs(kernel: Kernel, seed: number): HostInputs {
  const types = kernel.source ?? kernel.tile;
  return {
    data: asHost("data", randomData(inputOf(types, 0).type, seed)),
    indices: asHost("indices", randomIndices(inputOf(types, 1).type, kernel.tile, seed)),
  };
}

const expectedOf = (gather: AccessFunc, { tile }: Kernel, inputs: HostInputs): Uint8Array =>
  definedOutput(gather, tile, inputs);
