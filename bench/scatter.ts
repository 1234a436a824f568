/**
 * npm run bench:scatter: writes through an index, on one thread, compiled for one core.
 *
 * `cache`: 512 and 8 rows of 512 f16 written in place into a cache of 262,144 rows, and 8 into one of 1024. `elements`: 1024 x 1024 f32
 * along dim 0, each written once. `add`: 65,536 rows of 128 f32 added to 4096, each of which is named 16
 * times. Subjects: a call on the caller's arrays (`tilec`), the code of WebAssembly in its own memory
 * (`tilec-code`), a loop in JavaScript, one in C where a compiler is there, and onnxruntime-node on one
 * thread where it is installed. Outputs are verified first, but those of `add`, whose sums go on from run to
 * run where a subject adds in place; subjects run in turns, and medians are compared. `--json` prints the
 * rows. `--web` measures tilec on WebGPU beside tfjs, onnxruntime-web and the loop in a page.
 */
import { FastExecutor, simulate } from "../backends/sim/index.js";
import { targets } from "../ir/index.js";
import { compile, type Kernel, type TensorData } from "../src/index.js";
import { table } from "../src/report/table.js";
import { onnxTypes } from "../test/support/onnx-bytes.js";
import { openBenchPage, pagePeers } from "./chromium.js";
import { parseFlags, shared } from "./flags.js";
import { compileC, inputFiles, loopSubjects, type Compiled } from "./loop-process.js";
import { findOnnxRuntime, sessionOf } from "./onnxruntime.js";
import { requirePeers } from "./peers.js";
import { measure, type Row, type Subject } from "./rows.js";
import type { ScatterRows } from "./page-scatters.js";
import {
  bytesOf,
  javascript,
  type Numbers,
  programOf,
  repeated,
  type Scatter,
  scatterModel,
  scatters,
} from "./scatters.js";

const { json, web } = parseFlags("bench:scatter", "writes through an index, on one thread", {
  json: shared.json,
  web: { type: "boolean", default: false, help: "on WebGPU, in a page of a headless Chromium" },
});
const rounds = 21;
/** Rounds in a page, where the libraries copy caches of 256 MiB. */
const webRounds = 5;

/** Compiles a benchmark scatter for one CPU core. */
const kernelOf = (scatter: Scatter): Kernel => compile(programOf(scatter), { target: targets.cpu, cores: 1 });

/**
 * Returns the implementations of a scatter to measure ({@link Subject}) that need no npm package. These are
 * tilec's simulator, the compiled WebAssembly called directly, and plain loops in JavaScript and C.
 * `expected` is the expected output as bytes. `binary` is the executable that has the loops in C.
 */
function own(scatter: Scatter, expected: Uint8Array, binary: Compiled | undefined): readonly Subject[] {
  const { base, calls, inPlace, indices: i, updates: u } = scatter;
  const kernel = kernelOf(scatter);
  const x = inPlace ? base.slice() : base;
  let latest: TensorData = x;
  const executor = FastExecutor.create(kernel.tile);
  for (const [key, data] of [
    ["x", base],
    ["i", i],
    ["u", u],
  ] as const)
    executor.inputs[key]?.bytes.set(new Uint8Array(data.buffer));
  return [
    repeated(
      "tilec",
      calls,
      () => {
        latest = simulate(kernel, { x, i, u }, { executor: "fast" }).outputs.output;
      },
      () => latest as Numbers,
    ),
    repeated(
      "tilec-code",
      calls,
      () => {
        executor.run();
      },
      () => executor.array("output") as Numbers,
    ),
    javascript(scatter, base.slice()),
    ...inC(scatter, expected, binary),
  ];
}

/**
 * Returns a list with one {@link Subject} (implementation to measure): a C loop that scatters in place.
 * Returns an empty list if no C compiler is available or the scatter has no C loop.
 */
function inC(
  { base, c, indices, points, shape, updates, dtype }: Scatter,
  expected: Uint8Array,
  binary: Compiled | undefined,
): readonly Subject[] {
  if (binary === undefined || c === undefined) return [];
  const files = inputFiles([base, indices, updates]);
  const rowBytes = points[1] * (dtype === "f16" ? 2 : 4);
  const args = [rowBytes, points[0], shape[0], ...files.paths].map(String);
  const hasOutput = c === "set" && expected.length < 2 ** 26;
  const [subject] = loopSubjects(binary.binary, args, files.out, [
    { subject: "c", threads: 1, what: c, hasOutput },
  ]);
  if (subject === undefined) return [];
  return [
    {
      ...subject,
      close() {
        void subject.close?.();
        files.remove();
      },
    },
  ];
}

/**
 * Resolves to a list with one {@link Subject} (implementation to measure): the scatter on onnxruntime-node
 * with one thread. Resolves to an empty list if the package does not load or the scatter has no ONNX
 * operator.
 */
async function onnxruntime({
  base,
  indices,
  onnx,
  points,
  shape,
  updates,
}: Scatter): Promise<readonly Subject[]> {
  if (onnx === undefined) return [];
  const found = await findOnnxRuntime();
  if (!found.ok) {
    console.error(`onnxruntime-node is left out: ${found.reason}`);
    return [];
  }
  const { Tensor } = found.ort;
  const bytes = scatterModel(onnx, onnxTypes.f32, shape, points);
  const session = await sessionOf(found.ort, bytes, 1);
  const feeds = {
    x: new Tensor("float32", base, shape),
    i: new Tensor("int64", indices, onnx.indices),
    u: new Tensor("float32", updates, points),
  };
  let latest: Float32Array = new Float32Array();
  return [
    {
      subject: "onnxruntime",
      threads: 1,
      async run() {
        latest = (await session.run(feeds))["y"]?.data as Float32Array;
        return undefined;
      },
      output: () => Uint8Array.from(bytesOf(latest)),
      close: () => session.release(),
    },
  ];
}

/** Measures every scatter on the CPU. Resolves to one row of times for each implementation. */
async function onCpu(): Promise<ScatterRows> {
  const binary = compileC("scatter.c");
  const rows: Row[] = [];
  for (const make of scatters) {
    const scatter = make();
    console.error(scatter.name);
    const out = scatter.base.slice();
    scatter.loop(out);
    const expected = bytesOf(out);
    const subjects = [...own(scatter, expected, binary), ...(await onnxruntime(scatter))];
    rows.push(...(await measure(scatter.name, subjects, expected, rounds, 200)));
  }
  binary?.remove();
  return { rows, leftOut: [] };
}

/** Measures every scatter in a page of a headless Chromium, on its WebGPU adapter. */
async function onWeb(): Promise<ScatterRows> {
  requirePeers(pagePeers);
  const page = await openBenchPage();
  const { vendor, architecture, software } = page.adapter;
  console.error(`${String(vendor)} ${String(architecture)}${software ? ", in software" : ""}`);
  try {
    const all: ScatterRows[] = [];
    for (const number of scatters.keys()) all.push(await page.runScatter(number, webRounds));
    return { rows: all.flatMap(({ rows }) => rows), leftOut: all.flatMap(({ leftOut }) => leftOut) };
  } finally {
    for (const line of page.log) console.error(line);
    await page.close();
  }
}

const { rows, leftOut } = await (web ? onWeb() : onCpu());

if (json) console.log(JSON.stringify({ schema: 1, rows, ...(web ? { leftOut } : {}) }, null, 2));
else {
  const tilec = (workload: string): number =>
    rows.find((row) => row.workload === workload && row.subject === "tilec")?.medianMs ?? NaN;
  console.log(
    table(
      ["", "subject", "median us", "fastest us", "times tilec"],
      [
        ...rows.map(({ leastMs, medianMs, subject, workload }) => [
          workload,
          subject,
          (1e3 * medianMs).toFixed(1),
          (1e3 * leastMs).toFixed(1),
          (medianMs / tilec(workload)).toFixed(2),
        ]),
        ...leftOut.map(({ workload, subject }) => [workload, subject, "-", "-", "-"]),
      ],
    ),
  );
  for (const { workload, subject, why } of leftOut) console.log(`${workload}, ${subject}: ${why}`);
}
for (const { workload, subject } of rows.filter(({ verified }) => !verified))
  console.error(`WRONG: ${workload}, ${subject}`);
process.exitCode = rows.every(({ verified }) => verified) ? 0 : 1;
