/**
 * One call of a gather that a process has not seen, from the caller's arrays to a new array. What has to be
 * made first counts: compiling, code and memory here, the session there; loading the library does not.
 */
import { simulate } from "../backends/sim/index.js";
import { compile, onnx, program, targets } from "../src/index.js";
import { kernelOf } from "./kernels.js";
import { onnxModel } from "./onnx-model.js";
import { findOnnxRuntime } from "./onnxruntime.js";
import { bytesOf, count, inputsOf, type Inputs, type Workload } from "./workloads.js";

/** Names of the libraries whose first call of a gather is measured. */
export const libraries = ["tilec", "onnxruntime-node"] as const;
/** Name of a library whose first call of a gather is measured; see {@link libraries}. */
export type Library = (typeof libraries)[number];

/**
 * Sizes of the gathers whose first call is measured: a label with the approximate number of output elements,
 * and the number of rows of data, indices and output.
 */
export const unseenSizes = [
  ["1k", 16],
  ["10k", 160],
  ["100k", 1600],
] as const;

/**
 * Returns gather number `nth` (0-based) of a series of gathers whose data and indices have `rows` rows. A
 * data row has 64 + `nth` elements, so that each gather needs a new kernel.
 */
export const unseenGather = (rows: number, nth: number): Workload => ({
  name: "",
  op: "gather_elements",
  dtype: "f32",
  indexType: "i32",
  axis: 1,
  data: [rows, 64 + nth],
  indices: [rows, 64],
  output: [rows, 64],
});

/**
 * Returns a function that maps the number `nth` (0 to `most`) of a gather to the inputs of the gather. The
 * gathers are those of the series {@link unseenGather} with `rows` rows.
 */
export function unseenInputs(rows: number, most: number): (nth: number) => Inputs {
  const { data } = inputsOf(unseenGather(rows, most));
  const { indices } = inputsOf(unseenGather(rows, 0));
  return (nth) => {
    const { dtype, data: shape } = unseenGather(rows, nth);
    return { data: data.slice(0, bytesOf[dtype] * count(shape)), indices };
  };
}

/** Result of a measured gather call: the milliseconds and the output as bytes. */
export interface Called {
  readonly ms: number;
  readonly output: Uint8Array;
}

/**
 * Function that runs one gather on the caller's arrays and measures the call, including compilation or
 * session creation.
 */
export type Call = (workload: Workload, inputs: Inputs) => Promise<Called>;

const callTilec: Call = (workload, inputs) => {
  const arrays = arraysOf(inputs);
  const start = performance.now();
  const { outputs } = simulate(kernelOf({ compile, onnx, program, targets }, workload, targets.cpu), arrays, {
    executor: "fast",
  });
  return Promise.resolve({ ms: performance.now() - start, output: bytesIn(outputs.output) });
};

/**
 * Loads a library and resolves to a function that runs one gather with the library and measures the call.
 * Rejects if the library is not installed.
 */
export async function callOf(library: Library): Promise<Call> {
  switch (library) {
    case "tilec":
      return callTilec;
    case "onnxruntime-node":
      return callOnnxRuntime();
  }
}

/**
 * Loads onnxruntime-node and resolves to a function that measures one gather call, in milliseconds, including
 * the creation of the session. Rejects if the package is not installed.
 */
async function callOnnxRuntime(): Promise<Call> {
  const found = await findOnnxRuntime();
  if (!found.ok) throw new Error(found.reason);
  const { ort } = found;
  return async (workload, inputs) => {
    const { model } = onnxModel(workload);
    const { data, indices } = arraysOf(inputs);
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
    return { ms, output: bytesIn(results["output"]?.data) };
  };
}

const arraysOf = ({
  data,
  indices,
}: Inputs): { readonly data: Float32Array; readonly indices: Int32Array } => ({
  data: new Float32Array(data.buffer, 0, data.byteLength / 4),
  indices: new Int32Array(indices.buffer),
});

function bytesIn(output: unknown): Uint8Array {
  if (!ArrayBuffer.isView(output)) throw new Error("the call gave no array");
  return new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
}
