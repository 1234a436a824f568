/** What the browser test's page runs: the conformance cases on every backend, and the fast executor on two threads. */
import { createRunner } from "../../backends/webgpu/index.js";
import { FastExecutor, type SpawnThread } from "../../backends/sim/index.js";
import { compile, onnx, targets } from "../../src/index.js";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";

export interface PageResult {
  readonly adapter: string;
  readonly checked: number;
  readonly failures: readonly unknown[];
}

/** Tensors above this many elements belong to `tilec check`. */
const mostElements = 60_000;

async function runCases(name: string): Promise<PageResult> {
  const adapter = await navigator.gpu.requestAdapter();
  if (adapter === null) throw new Error("no adapter");
  const runner = await createRunner(await adapter.requestDevice());
  const text = await (await fetch(`/test/conformance/cases/${name}`)).text();
  const cases = readCases(text, name).filter(
    ({ inputs }) =>
      Object.values(inputs).reduce(
        (sum, { type }) => sum + [...type.shape, 1].reduce((a, b) => a * b, 1),
        0,
      ) <= mostElements,
  );
  const results = [];
  for (const test of cases) {
    results.push(...(await checkCase(test, ["reference", "sim", "webgpu"], { runner, executor: "fast" })));
  }
  runner.device.destroy();
  return {
    adapter: `${adapter.info.vendor} ${adapter.info.architecture}`,
    checked: results.length,
    failures: results.filter((result) => result.status !== "pass"),
  };
}

const spawn: SpawnThread = (message) => {
  const worker = new Worker("/dist/test/browser/thread.js", { type: "module" });
  worker.postMessage(message);
  return worker;
};

/** The output's first and last elements, from two threads. */
async function runThreads(): Promise<readonly number[]> {
  const kernel = compile(onnx.gather({ data: ["i32", [100, 64]], indices: ["i32", [5000]], axis: 0 }), {
    target: targets.cpu,
    tile: [10, 64],
    residency: "gm",
  });
  const executor = await FastExecutor.open(kernel.tile, { threads: 2, spawn });
  const data = Int32Array.from({ length: 6400 }, (_, k) => k);
  const indices = Int32Array.from({ length: 5000 }, (_, k) => k % 100);
  executor.inputs["data"]!.bytes.set(new Uint8Array(data.buffer));
  executor.inputs["indices"]!.bytes.set(new Uint8Array(indices.buffer));
  const { output } = await executor.runLong();
  const elements = new Int32Array(output.slice().buffer);
  await executor.close();
  return [elements[0] ?? -1, elements[64 * 4999 + 63] ?? -1];
}

Object.assign(globalThis, { runCases, runThreads });
