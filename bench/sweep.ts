/**
 * npm run bench:sweep: measured times of schedules beside the clock's cycles, on the fast executor: for each
 * gather the default, the clock's best, and as many more spread evenly over all that the clock tells apart.
 * Every output is verified. Schedules of one gather run in turns, so many times at each that what the one
 * before left of the machine passes, and in several memories, since a cache likes the pages of one better
 * than those of another. Each time is the median of its shares of the rounds, times the usual round: a
 * machine that does other things beside is slower for all.
 * `--webgpu` launches them on Dawn; `--count 40` measures more of each; `--json` prints every schedule. The figures of the targets
 * `cpu` and of software adapters are fitted on it.
 */
import { createRunner } from "../backends/webgpu/index.js";
import { at, cyclesOf, type Target, type TileFunc } from "../ir/index.js";
import { clockOf, lowered } from "../passes/index.js";
import { accessOf } from "../src/api/access.js";
import { definedOutput } from "../src/api/against.js";
import { compile, targets, type SourceFunc } from "../src/index.js";
import { table } from "../src/report/table.js";
import { randomInputs } from "../src/testing/random.js";
import { gpuMeasurer, localMeasurer, type OpenMeasurer } from "../src/tune/index.js";
import { median } from "../src/tune/median.js";
import { countOf, parseFlags, shared } from "./flags.js";
import { grid, residenciesOf, shown } from "./grid.js";
import { geometricMean, spearman } from "./statistics.js";
import { sweeps } from "./sweeps.js";
import { openGpu } from "./open-gpu.js";

const flags = parseFlags("bench:sweep", "measured times of schedules beside the cycles of the cost model", {
  json: shared.json,
  webgpu: shared.webgpu,
  count: { type: "string", default: "32", help: "schedules of each gather (default 32)" },
  rounds: { type: "string", default: "3", help: "rounds over the schedules (default 3)" },
  only: { type: "string", default: "", help: "names of gathers, separated by commas" },
});
const turns = countOf("rounds", flags.rounds);
const [memories, samples] = [4, 6];

interface Schedule {
  readonly name: string;
  readonly cycles: number;
  readonly func: TileFunc;
}

interface Measured extends Schedule {
  readonly ms: number;
}

interface Device {
  readonly target: Target;
  readonly open: OpenMeasurer;
}

async function openWebgpu(): Promise<Device> {
  const gpu = await openGpu();
  const runner = await createRunner(gpu.device);
  return { target: runner.target, open: (task) => gpuMeasurer(runner, gpu.description, task) };
}

/**
 * Returns the schedules of a gather to measure: the default schedule, and at most `most` further schedules.
 * The first `most / 4` of these have the fewest estimated cycles. The rest are evenly spaced in the list of
 * all candidates sorted by estimated cycles.
 */
function chosen(func: SourceFunc, target: Target, most: number): Schedule[] {
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error("a gather has an access level");
  const all = residenciesOf(gather, target)
    .flatMap((residency) => [...grid(gather, residency, target)])
    .map((tiling) => ({ tiling, cycles: clockOf(tiling).cycles }))
    .sort((a, b) => a.cycles - b.cycles);
  const best = all.slice(0, most / 4);
  const rest = all.slice(best.length);
  const length = Math.min(rest.length, most - best.length);
  const spread = rest.filter(
    (_, k) => Math.floor((k * length) / rest.length) !== Math.floor(((k - 1) * length) / rest.length),
  );
  const { tile } = compile(func, { target, residency: "auto" });
  const own = shown(tile.schedule);
  const others = [...best, ...spread].map(({ tiling, cycles }) => ({
    name: shown(tiling.schedule),
    cycles,
    func: lowered(tiling),
  }));
  return [
    { name: own, cycles: cyclesOf(tile, target).cycles, func: tile },
    ...others.filter(({ name }) => name !== own),
  ];
}

/**
 * Measures schedules of a gather in rounds and resolves to the schedules with times in milliseconds. Changes
 * of the machine's speed from round to round are removed from the times. Rejects if a schedule cannot be
 * measured.
 */
async function measured(
  source: SourceFunc,
  schedules: readonly Schedule[],
  { target, open }: Device,
): Promise<Measured[]> {
  const kernel = compile(source, { target, residency: "auto" });
  const inputs = randomInputs(kernel, 1);
  const expected = definedOutput(source, kernel.tile, inputs);
  const rounds: number[][] = [];
  for (let memory = 0; memory < memories; memory++) {
    const measurer = await open({ kernel, inputs, expected });
    for (let turn = 0; turn < turns; turn++) {
      const round: number[] = [];
      for (const { name, func } of schedules) {
        const found = await measurer.measure(func, { samples, limitMs: Infinity });
        if (found.status !== "measured") throw new Error(`${name}: ${found.reason}`);
        round.push(median(found.nanoseconds) / 1e6);
      }
      rounds.push(round);
    }
    await measurer.close();
  }
  // What all schedules of a round share is the machine's.
  const paces = rounds.map(geometricMean);
  const usual = median(paces);
  return schedules.map((schedule, k) => ({
    ...schedule,
    ms: usual * median(rounds.map((round, n) => at(round, k) / at(paces, n))),
  }));
}

const device: Device = flags.webgpu
  ? await openWebgpu()
  : { target: targets.cpu, open: (task) => localMeasurer(task) };
const names = flags.only === "" ? undefined : flags.only.split(",");
const rows = [];
for (const [name, func] of sweeps) {
  if (names !== undefined && !names.includes(name)) continue;
  const schedules = await measured(func, chosen(func, device.target, countOf("count", flags.count)), device);
  const [own] = schedules;
  const best = schedules.reduce((a, b) => (b.ms < a.ms ? b : a));
  if (own === undefined) continue;
  const row = {
    name,
    schedules: schedules.length,
    spearman: spearman(
      schedules.map(({ cycles }) => cycles),
      schedules.map(({ ms }) => ms),
    ),
    own: own.ms,
    best: best.ms,
    chosen: own.name,
    fastest: best.name,
    all: schedules.map(({ name: schedule, cycles, ms }) => ({ schedule, cycles, ms })),
  };
  rows.push(row);
  console.error(`${name}: ${(row.own / row.best).toFixed(2)} times the best of ${row.schedules}`);
}

if (flags.json) console.log(JSON.stringify({ schema: 1, target: device.target.name, rows }, null, 2));
else {
  console.log(
    table(
      ["gather", "default ms", "best ms", "ratio", "of", "spearman", "default", "the best's"],
      rows.map((r) => [
        r.name,
        Number(r.own.toFixed(3)),
        Number(r.best.toFixed(3)),
        Number((r.own / r.best).toFixed(2)),
        r.schedules,
        Number(r.spearman.toFixed(2)),
        r.chosen,
        r.fastest,
      ]),
    ),
  );
  const within = rows.filter((r) => r.own <= 1.1 * r.best).length;
  console.log(`${within} of ${rows.length} defaults within 10 % of the best measured`);
}
