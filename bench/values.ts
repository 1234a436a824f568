/**
 * npm run bench:values: gathers that dequantize or sum, on the fast executor, beside onnxruntime-node and
 * loops in C and JavaScript, in one run.
 *
 * E is the embedding of a 4-bit language model: 512 rows of [151936, 896], a scale of f16 for each 32
 * elements. K is rows of an 8-bit KV cache, [65536, 128], with a scale of f32 a row. B is 2048 bags of 0 to
 * 39 rows of [100000, 64], M the combination of 8 rows of [4096, 1024] for each of 512 tokens; ONNX has no
 * operator for either. Outputs are verified against the loop; then the subjects run in turns. `--json` prints
 * the rows, `--runs 5` gives the median of five runs. `--web` runs F instead, E with scales of f32, beside
 * onnxruntime-web in a page of a headless Chromium on SwiftShader, device-resident; onnxruntime-web runs none
 * of the others there.
 */
import { FastExecutor, simulate } from "../backends/sim/index.js";
import { compile, targets } from "../src/index.js";
import { spawnThread } from "../src/device/index.js";
import { runsOf } from "./arguments.js";
import { openBenchPage, pagePeers } from "./chromium.js";
import { parseFlags, shared } from "./flags.js";
import { compileC, inputFiles, loopSubjects, type InputFiles } from "./loop-process.js";
import { tilec, tilecCall } from "./own-subjects.js";
import { findOnnxRuntime, sessionOf, type OnnxRuntime } from "./onnxruntime.js";
import { requirePeers } from "./peers.js";
import { report } from "./print-rows.js";
import { measure, type Row, type Subject } from "./rows.js";
import { rowsOfRuns } from "./runs.js";
import {
  cacheRows,
  combine,
  embedding,
  embeddingBags,
  type Peer,
  type ValueWorkload,
} from "./value-workloads.js";

/**
 * Returns a {@link Subject} (implementation to measure): the workload's plain JavaScript loop, with a single
 * output array for all runs.
 */
function plainJs({ loop, outputBytes }: ValueWorkload): Subject {
  const output = new Uint8Array(outputBytes);
  return {
    subject: "plain-js",
    threads: 1,
    run() {
      loop(output);
      return undefined;
    },
    output: () => output,
  };
}

/**
 * Returns two implementations to measure ({@link Subject}): the workload's C loop on one thread and on two
 * threads. `binary`: path of the executable that has the loop.
 */
function plainC({ name, sizes }: ValueWorkload, binary: string, { paths, out }: InputFiles): Subject[] {
  const asked = [1, 2].map((threads) => ({ subject: "c", threads, what: "run", hasOutput: true }));
  return loopSubjects(binary, [name, ...sizes.map(String), ...paths], out, asked);
}

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs an ONNX model on onnxruntime-node, with
 * `threads` threads.
 */
async function onnxRuntime(
  ort: OnnxRuntime,
  inputs: ValueWorkload["inputs"],
  { model: file, tensors }: Peer,
  threads: number,
): Promise<Subject> {
  const session = await sessionOf(ort, file, threads);
  const feeds = Object.fromEntries(
    Object.entries(tensors).flatMap(([name, [type, shape]]) => {
      const list = inputs[name];
      return list === undefined ? [] : [[name, new ort.Tensor(type, list, shape)] as const];
    }),
  );
  let latest: ArrayBufferView | undefined;
  return {
    subject: "onnxruntime-node",
    threads,
    async run() {
      const { y } = await session.run(feeds);
      if (!ArrayBuffer.isView(y?.data)) throw new Error("onnxruntime gave no output");
      latest = y.data;
      return undefined;
    },
    output: () =>
      new Uint8Array(latest?.buffer ?? new ArrayBuffer(0), latest?.byteOffset, latest?.byteLength),
    close: () => session.release(),
  };
}

const own = { FastExecutor, simulate, spawnThread };

/**
 * Runs bench:values once on the CPU and resolves to a row for each workload and implementation.
 * Implementations that cannot be loaded are left out. Ends the process with an error if onnxruntime-node is
 * not installed.
 */
async function once(): Promise<Row[]> {
  requirePeers(["onnxruntime-node"]);
  const found = await findOnnxRuntime();
  if (!found.ok) console.error(`onnxruntime-node is left out: ${found.reason}`);
  const compiled = compileC("values.c");
  const rows: Row[] = [];
  for (const workload of [embedding("E", "f16", "i64"), cacheRows(), embeddingBags(), combine()]) {
    const expected = new Uint8Array(workload.outputBytes);
    workload.loop(expected);
    const { func, inputs, onnx: peer } = workload;
    const kernel = compile(func, { target: targets.cpu });
    const files = inputFiles(Object.values(inputs));
    const subjects = [
      await tilec(own, kernel, inputs, 1),
      await tilec(own, kernel, inputs, 2),
      tilecCall(own, kernel, inputs),
      ...(found.ok && peer !== undefined
        ? [await onnxRuntime(found.ort, inputs, peer, 1), await onnxRuntime(found.ort, inputs, peer, 2)]
        : []),
      plainJs(workload),
      ...(compiled === undefined ? [] : plainC(workload, compiled.binary, files)),
    ];
    rows.push(...(await measure(workload.name, subjects, expected, 21)));
    files.remove();
  }
  compiled?.remove();
  return rows;
}

/**
 * Measures tilec and onnxruntime-web on the embedding workload in a headless Chromium page. Resolves to one
 * row of times for each library.
 */
async function onWeb(): Promise<readonly Row[]> {
  requirePeers(pagePeers);
  const page = await openBenchPage();
  try {
    return await page.runEmbedding(9, 1);
  } finally {
    for (const line of page.log) console.error(line);
    await page.close();
  }
}

const flags = parseFlags("bench:values", "gathers that dequantize or sum, beside onnxruntime and loops", {
  json: shared.json,
  runs: shared.runs,
  web: { type: "boolean", default: false, help: "beside onnxruntime-web in a page of a headless Chromium" },
});
const runs = runsOf(flags.runs, undefined);
report(runs > 1 ? rowsOfRuns(runs) : flags.web ? await onWeb() : await once(), flags.json);
