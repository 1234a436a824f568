/**
 * The libraries that run in the page of bench:webgpu. Each runs on a device of its own, of the page's one
 * adapter.
 */
import type { Jax } from "./jax.js";
import { onnxModel } from "./onnx-model.js";
import type { Subject } from "./rows.js";
import type { Inputs, Workload } from "./workloads.js";

/** Loads a library's own browser build. */
const library = (path: string): Promise<unknown> => import(`/bench/node_modules/${path}`);

interface OrtTensor {
  readonly gpuBuffer: GPUBuffer;
  getData(
    release?: boolean,
  ): Promise<{ readonly buffer: ArrayBuffer; readonly byteOffset: number; readonly byteLength: number }>;
  dispose(): void;
}

interface Ort {
  readonly env: {
    readonly wasm: { wasmPaths: string; numThreads: number };
    readonly webgpu: { readonly device: Promise<GPUDevice> | GPUDevice };
    logLevel: string;
  };
  readonly Tensor: {
    fromGpuBuffer(buffer: GPUBuffer, options: { dataType: string; dims: readonly number[] }): OrtTensor;
  };
  readonly InferenceSession: {
    create(
      model: Uint8Array,
      options: object,
    ): Promise<{
      run(feeds: Record<string, OrtTensor>): Promise<Record<string, OrtTensor>>;
      release(): Promise<void>;
    }>;
  };
}

/** A tensor that is on the device before a model runs. */
interface Given {
  readonly bytes: Uint8Array;
  /** onnxruntime's name. */
  readonly dataType: string;
  readonly dims: readonly number[];
}

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs an ONNX model with one output on
 * onnxruntime-web, with WebGPU. Each run calls the model `launches` times and resolves to the milliseconds
 * per call. `extra`: further entries of the session's configuration.
 */
export async function onnxRuntimeWebModel(
  model: Uint8Array,
  given: Readonly<Record<string, Given>>,
  launches: number,
  extra: object = {},
): Promise<Subject> {
  const ort = (await library("onnxruntime-web/dist/ort.webgpu.min.mjs")) as Ort;
  ort.env.wasm.wasmPaths = "/bench/node_modules/onnxruntime-web/dist/";
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = "error";
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ["webgpu"],
    preferredOutputLocation: "gpu-buffer",
    extra,
  });
  const device = await ort.env.webgpu.device;
  const resident = ({ bytes, dataType, dims }: Given): OrtTensor => {
    const buffer = device.createBuffer({ size: Math.ceil(bytes.byteLength / 16) * 16, usage: 128 | 4 | 8 });
    device.queue.writeBuffer(buffer, 0, bytes as Uint8Array<ArrayBuffer>);
    return ort.Tensor.fromGpuBuffer(buffer, { dataType, dims });
  };
  const feeds = Object.fromEntries(Object.entries(given).map(([name, own]) => [name, resident(own)]));
  let latest: OrtTensor | undefined;
  return {
    subject: "onnxruntime-web",
    threads: 1,
    async run() {
      const start = performance.now();
      for (let launch = 0; launch < launches; launch++) {
        latest?.dispose();
        [latest] = Object.values(await session.run(feeds));
      }
      await device.queue.onSubmittedWorkDone();
      return (performance.now() - start) / launches;
    },
    async output() {
      if (latest === undefined) return new Uint8Array();
      const found = await latest.getData();
      return new Uint8Array(found.buffer, found.byteOffset, found.byteLength);
    },
    async close() {
      latest?.dispose();
      for (const { gpuBuffer } of Object.values(feeds)) gpuBuffer.destroy();
      await session.release();
    },
  };
}

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs a workload on onnxruntime-web, with
 * WebGPU. Resolves to undefined if the data is not f32.
 */
export async function onnxRuntimeWeb(
  workload: Workload,
  inputs: Inputs,
  launches: number,
): Promise<Subject | undefined> {
  if (workload.dtype !== "f32") return undefined;
  const { model, wide } = onnxModel(workload);
  const narrow = new Int32Array(inputs.indices.buffer);
  const indexBytes =
    wide && workload.indexType === "i32"
      ? new Uint8Array(BigInt64Array.from(narrow, BigInt).buffer)
      : inputs.indices;
  return onnxRuntimeWebModel(
    model,
    {
      data: { bytes: inputs.data, dataType: "float32", dims: workload.data },
      indices: { bytes: indexBytes, dataType: wide ? "int64" : "int32", dims: workload.indices },
    },
    launches,
  );
}

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs a workload on jax-js, with WebGPU.
 * Resolves to undefined if the data is not f32 or the indices are not i32.
 */
export async function jaxWebGpu(
  workload: Workload,
  inputs: Inputs,
  launches: number,
): Promise<Subject | undefined> {
  if (workload.dtype !== "f32" || workload.indexType !== "i32") return undefined;
  const jax = (await library("@jax-js/jax/dist/index.js")) as Jax;
  await jax.init("webgpu");
  jax.defaultDevice("webgpu");
  const { jaxGather } = await import("./jax.js");
  return jaxGather(jax, workload, inputs, launches);
}

interface TfTensor {
  data(): Promise<Float32Array | Int32Array>;
  dispose(): void;
}

interface Tf {
  setBackend(name: string): Promise<boolean>;
  ready(): Promise<void>;
  tensor(values: Float32Array | Int32Array, shape: readonly number[], dtype: string): TfTensor;
  gather(data: TfTensor, indices: TfTensor, axis: number): TfTensor;
  gatherND(data: TfTensor, indices: TfTensor): TfTensor;
  slice(tensor: TfTensor, begin: readonly number[], size: readonly number[]): TfTensor;
  tensorScatterUpdate(tensor: TfTensor, indices: TfTensor, updates: TfTensor): TfTensor;
  scatterND(indices: TfTensor, updates: TfTensor, shape: readonly number[]): TfTensor;
}

/** Arguments of `tf.tensor`: elements, extents and type. */
type TfGiven = Parameters<Tf["tensor"]>;

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs an operation of TensorFlow.js (tfjs),
 * with WebGPU, on tensors that are on the device before. Each run calls `operation` `launches` times and
 * resolves to the milliseconds per call. `shape`: extents of the result.
 */
export async function tensorFlowSubject<const Given extends readonly TfGiven[]>(
  given: Given,
  operation: (tf: Tf, tensors: { readonly [K in keyof Given]: TfTensor }) => TfTensor,
  shape: readonly number[],
  launches: number,
): Promise<Subject> {
  const { tf } = globalThis as unknown as { readonly tf: Tf };
  await tf.setBackend("webgpu");
  await tf.ready();
  const tensors = given.map((one) => tf.tensor(...one)) as { readonly [K in keyof Given]: TfTensor };
  let latest: TfTensor | undefined;
  return {
    subject: "tfjs",
    threads: 1,
    async run() {
      const start = performance.now();
      for (let launch = 1; launch < launches; launch++) operation(tf, tensors).dispose();
      latest?.dispose();
      latest = operation(tf, tensors);
      // It submits what it batched, and waits, only for a value: the first one.
      const probe = tf.slice(
        latest,
        shape.map(() => 0),
        shape.map(() => 1),
      );
      await probe.data();
      probe.dispose();
      return (performance.now() - start) / launches;
    },
    async output() {
      const values = (await latest?.data()) ?? new Float32Array();
      return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    },
    close() {
      for (const tensor of [...tensors, latest]) tensor?.dispose();
    },
  };
}

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs a workload on TensorFlow.js (tfjs),
 * with WebGPU. Resolves to undefined if the data is not f32, or for `gather_elements`.
 */
export async function tensorFlow(
  workload: Workload,
  inputs: Inputs,
  launches: number,
): Promise<Subject | undefined> {
  if (workload.op === "gather_elements" || workload.dtype !== "f32") return undefined;
  return tensorFlowSubject(
    [
      [new Float32Array(inputs.data.buffer), workload.data, "float32"],
      [new Int32Array(inputs.indices.buffer), workload.indices, "int32"],
    ],
    (tf, [data, indices]) =>
      workload.op === "gather" ? tf.gather(data, indices, workload.axis) : tf.gatherND(data, indices),
    workload.output,
    launches,
  );
}
