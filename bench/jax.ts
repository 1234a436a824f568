/**
 * jax-js on the device it was set to. It has no 16-bit floats in Node 20, and no 8-bit or 64-bit integers.
 */
import type { Subject } from "./rows.js";
import type { Inputs, Workload } from "./workloads.js";

interface JaxArray {
  /** The array once more, for an operation that consumes it. */
  readonly ref: JaxArray;
  slice(...indices: readonly JaxArray[]): JaxArray;
  blockUntilReady(): Promise<unknown>;
  data(): Promise<ArrayBufferView>;
  dispose(): void;
}

/** Part of the API of `@jax-js/jax` that the benchmarks use. */
export interface Jax {
  init(device: "wasm" | "webgpu"): Promise<unknown>;
  defaultDevice(device: "wasm" | "webgpu"): unknown;
  readonly numpy: {
    readonly int32: string;
    array(
      values: Float32Array | Int32Array,
      options: { readonly shape: readonly number[]; readonly dtype?: string },
    ): JaxArray;
    take(data: JaxArray, indices: JaxArray, axis: number): JaxArray;
    takeAlongAxis(data: JaxArray, indices: JaxArray, axis: number): JaxArray;
  };
}

/**
 * Returns a {@link Subject} (implementation to measure) that gathers f32 data by i32 indices with jax-js.
 * Each run makes `launches` launches and resolves to the milliseconds per launch.
 */
export function jaxGather(
  { numpy: np }: Jax,
  workload: Workload,
  inputs: Inputs,
  launches = 1,
): Subject | undefined {
  const data = np.array(new Float32Array(inputs.data.buffer), { shape: [...workload.data] });
  const flat = new Int32Array(inputs.indices.buffer);
  const tuples = workload.op === "gather_nd";
  const parts = tuples ? [flat.filter((_, k) => k % 2 === 0), flat.filter((_, k) => k % 2 === 1)] : [flat];
  const indices = parts.map((part) =>
    np.array(part, { shape: tuples ? [part.length] : [...workload.indices], dtype: np.int32 }),
  );
  const [first, second] = indices;
  if (first === undefined) return undefined;
  const compute = (): JaxArray => {
    if (second !== undefined) return data.ref.slice(first.ref, second.ref);
    return workload.op === "gather"
      ? np.take(data.ref, first.ref, workload.axis)
      : np.takeAlongAxis(data.ref, first.ref, workload.axis);
  };
  let latest: JaxArray | undefined;
  return {
    subject: "jax-js",
    threads: 1,
    async run() {
      const start = performance.now();
      for (let launch = 0; launch < launches; launch++) {
        latest?.dispose();
        latest = compute();
      }
      await latest?.blockUntilReady();
      return (performance.now() - start) / launches;
    },
    async output() {
      const values = await latest?.ref.data();
      return values === undefined
        ? new Uint8Array()
        : new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    },
    close() {
      for (const array of [data, ...indices, latest]) array?.dispose();
    },
  };
}
