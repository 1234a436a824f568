/**
 * npm run bench:sweep: measured times of schedules beside the clock's cycles, on the fast executor: for each gather the
 * default, the clock's best, and as many more spread evenly over all that the clock tells apart. Schedules of one gather run
 * in turns; each time is the least of all rounds, since what else a machine does only adds. `--webgpu` launches them on Dawn; `--count 40` measures more of each; `--json` prints every
 * schedule. The figures of the targets `cpu` and of software adapters are fitted on it.
 */
import { parseArgs } from "node:util";
import { FastExecutor } from "../backends/sim/index.js";
import { createRunner, type Runner } from "../backends/webgpu/index.js";
import { byteCount, inputsOf, outputOf, type Target, type TileFunc, type Tiling } from "../ir/index.js";
import { clockOf, lowered } from "../passes/index.js";
import { accessOf } from "../src/api/access.js";
import { compile, targets, type SourceFunc } from "../src/index.js";
import { acquireGpu } from "../src/device/index.js";
import { table } from "../src/report/table.js";
import { randomData, randomIndices } from "../src/testing/random.js";
import { grid, residenciesOf } from "./grid.js";
import { spearman } from "./statistics.js";
import { sweeps } from "./sweeps.js";

const { values: flags } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    webgpu: { type: "boolean", default: false },
    count: { type: "string", default: "32" },
    rounds: { type: "string", default: "21" },
    only: { type: "string", default: "" },
  },
});
const rounds = Number(flags.rounds);

interface Schedule {
  readonly name: string;
  readonly cycles: number;
  readonly func: TileFunc;
}

interface Measured extends Schedule {
  readonly ms: number;
}

/** Runs a program once and tells how long that took, in milliseconds. */
type Timed = () => number | Promise<number>;

interface Device {
  readonly target: Target;
  open(func: TileFunc): Promise<{ readonly run: Timed; readonly close: () => void }>;
}

function fast(): Device {
  return {
    target: targets.cpu,
    open(func) {
      const executor = FastExecutor.create(func);
      for (const [key, { bytes }] of Object.entries(valuesOf(func))) executor.inputs[key]?.bytes.set(bytes);
      const run = (): number => {
        executor.run();
        const start = performance.now();
        executor.run();
        return performance.now() - start;
      };
      return Promise.resolve({ run, close: () => undefined });
    },
  };
}

function webgpu(runner: Runner): Device {
  const { device } = runner;
  const make = (size: number, contents: Uint8Array): GPUBuffer => {
    const buffer = device.createBuffer({ size: Math.ceil(size / 4) * 4, usage: 128 | 4 | 8 });
    device.queue.writeBuffer(buffer, 0, contents as Uint8Array<ArrayBuffer>);
    return buffer;
  };
  return {
    target: runner.target,
    async open(func) {
      const { data, indices } = valuesOf(func);
      const buffers = {
        data: make(data.bytes.byteLength, data.bytes),
        indices: make(indices.bytes.byteLength, indices.bytes),
        output: make(byteCount(outputOf(func).type), new Uint8Array()),
        status: make(4, new Uint8Array(4).fill(0xff)),
      };
      const run = async (): Promise<number> =>
        (await runner.time({ tile: func }, buffers, 1)).nanoseconds / 1e6;
      await run();
      const close = (): void => {
        for (const buffer of Object.values(buffers)) buffer.destroy();
      };
      return { run, close };
    },
  };
}

function valuesOf(func: TileFunc) {
  const [data, indices] = inputsOf(func);
  if (data === undefined || indices === undefined) throw new Error("a gather has data and indices");
  return { data: randomData(data.type, 1), indices: randomIndices(indices.type, func, 1) };
}

const shown = ({ schedule: s }: Tiling | TileFunc): string =>
  `${s.residency} [${s.tile?.join()}] order ${s.order?.join("")} view ${s.view?.join()}`;

/** The default first, then the clock's best, then evenly spread over the rest by cycles. */
function chosen(func: SourceFunc, target: Target, most: number): Schedule[] {
  const gather = accessOf(func, { target });
  if (gather === undefined) throw new Error("a gather has an access level");
  const all = residenciesOf(gather, target)
    .flatMap((residency) => [...grid(gather, residency, target)])
    .map((tiling) => ({ tiling, cycles: clockOf(tiling).cycles }))
    .sort((a, b) => a.cycles - b.cycles);
  const best = all.slice(0, most / 4);
  const rest = all.slice(best.length);
  const spread = Array.from(
    { length: Math.min(rest.length, most - best.length) },
    (_, k, length = Math.min(rest.length, most - best.length)) =>
      rest[Math.floor((k * rest.length) / length)],
  ).filter((one) => one !== undefined);
  const { tile } = compile(func, { target, residency: "auto" });
  const own = shown(tile);
  const others = [...best, ...spread].map(({ tiling, cycles }) => ({
    name: shown(tiling),
    cycles,
    func: lowered(tiling),
  }));
  const first = all.find(({ tiling }) => shown(tiling) === own);
  return [
    { name: own, cycles: first?.cycles ?? NaN, func: tile },
    ...others.filter(({ name }) => name !== own),
  ];
}

async function measured(schedules: readonly Schedule[], device: Device): Promise<Measured[]> {
  const opened = [];
  for (const { func } of schedules) opened.push(await device.open(func));
  const times = schedules.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [k, { run }] of opened.entries()) times[k]?.push(await run());
  for (const { close } of opened) close();
  return schedules.map((schedule, k) => ({ ...schedule, ms: Math.min(...(times[k] ?? [])) }));
}

async function openWebgpu(): Promise<Device> {
  const found = await acquireGpu();
  if (!found.ok) throw new Error(found.reason);
  return webgpu(await createRunner(found.gpu.device));
}

const device = flags.webgpu ? await openWebgpu() : fast();
const names = flags.only === "" ? undefined : flags.only.split(",");
const rows = [];
for (const [name, func] of sweeps) {
  if (names !== undefined && !names.includes(name)) continue;
  const schedules = await measured(chosen(func, device.target, Number(flags.count)), device);
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
