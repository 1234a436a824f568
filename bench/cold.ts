/**
 * Cold calls: a gather that the process has not seen, from the caller's arrays to a new array. What has to be made first counts:
 * compiling, code and memory here, the session there; loading the libraries does not.
 */
import { simulate } from "../backends/sim/index.js";
import { targets } from "../src/index.js";
import { kernelOf } from "./kernels.js";
import { onnxModel } from "./onnx-model.js";
import type { OnnxRuntime } from "./onnxruntime.js";
import type { Subject } from "./rows.js";
import { expectedOf, inputsOf, type Inputs, type Workload } from "./workloads.js";

const columns = 64;
/** Each run gathers from rows that are one longer, so that nothing is known of it. */
const mostRuns = 200;

const workloadOf = (rows: number, run: number): Workload => ({
  name: "",
  op: "gather_elements",
  dtype: "f32",
  indexType: "i32",
  axis: 1,
  data: [rows, columns + run],
  indices: [rows, columns],
  output: [rows, columns],
});

export interface ColdCalls {
  readonly subjects: readonly Subject[];
  /** The output of each subject's first run. */
  readonly expected: Uint8Array;
}

export const coldSizes = [
  ["1k", 16],
  ["10k", 160],
  ["100k", 1600],
] as const;

export function coldCalls(rows: number, ort: OnnxRuntime | undefined): ColdCalls {
  const { data } = inputsOf(workloadOf(rows, mostRuns));
  const { indices } = inputsOf(workloadOf(rows, 0));
  const inputs = (run: number): Inputs => ({ data: data.slice(0, 4 * rows * (columns + run)), indices });
  return {
    subjects: [tilecCold(rows, inputs), ...(ort === undefined ? [] : [onnxRuntimeCold(ort, rows, inputs)])],
    expected: expectedOf(workloadOf(rows, 0), inputs(0)),
  };
}

/** A subject whose runs follow one another: each makes what it needs and says how long the call took. */
function inTurn(
  subject: string,
  call: (run: number) => Promise<{ readonly ms: number; readonly output: unknown }>,
): Subject {
  let run = 0;
  let latest: unknown;
  return {
    subject,
    threads: 1,
    async run() {
      if (run === mostRuns) throw new Error(`more than ${mostRuns} cold runs`);
      const { ms, output } = await call(run++);
      latest = output;
      return ms;
    },
    output() {
      if (!ArrayBuffer.isView(latest)) throw new Error("the call gave no array");
      return new Uint8Array(latest.buffer, latest.byteOffset, latest.byteLength);
    },
  };
}

const floats = ({ data }: Inputs): Float32Array => new Float32Array(data.buffer, 0, data.byteLength / 4);

const tilecCold = (rows: number, inputs: (run: number) => Inputs): Subject =>
  inTurn("tilec-cold", (run) => {
    const workload = workloadOf(rows, run);
    const given = inputs(run);
    const arrays = { data: floats(given), indices: new Int32Array(given.indices.buffer) };
    const start = performance.now();
    const { outputs } = simulate(kernelOf(workload, targets.cpu), arrays, { executor: "fast" });
    return Promise.resolve({ ms: performance.now() - start, output: outputs.output });
  });

const onnxRuntimeCold = (ort: OnnxRuntime, rows: number, inputs: (run: number) => Inputs): Subject =>
  inTurn("onnxruntime-node-cold", async (run) => {
    const workload = workloadOf(rows, run);
    const { model } = onnxModel(workload);
    const given = inputs(run);
    const [data, indices] = [floats(given), new Int32Array(given.indices.buffer)];
    const start = performance.now();
    const session = await ort.InferenceSession.create(model, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: "sequential",
    });
    const results = await session.run({
      data: new ort.Tensor("float32", data, workload.data),
      indices: new ort.Tensor("int32", indices, workload.indices),
    });
    const ms = performance.now() - start;
    await session.release();
    return { ms, output: results["output"]?.data };
  });
