/**
 * tilec's subjects of bench:sim and bench:values, of any build: each runs one kernel on inputs it was given
 * once.
 */
import type { SimLibrary } from "./library.js";
import type { Subject } from "./rows.js";

type Kernel = ReturnType<SimLibrary["compile"]>;
/** By the keys of the kernel's inputs. */
type Given = Readonly<
  Record<string, Uint8Array | Int8Array | Uint16Array | Int32Array | Float32Array | BigInt64Array>
>;

/**
 * Resolves to a {@link Subject} (implementation to measure): a kernel on the fast executor (WebAssembly),
 * with `threads` threads. Inputs are copied into the executor before the first run.
 */
export async function tilec(
  { FastExecutor, spawnThread }: Pick<SimLibrary, "FastExecutor" | "spawnThread">,
  { tile }: Kernel,
  inputs: Given,
  threads: number,
): Promise<Subject> {
  const executor = await FastExecutor.open(tile, { threads, spawn: spawnThread });
  // Its own memory: a run copies nothing.
  for (const [key, list] of Object.entries(inputs))
    executor.inputs[key]!.bytes.set(new Uint8Array(list.buffer, list.byteOffset, list.byteLength));
  return {
    subject: "tilec",
    threads,
    run() {
      executor.run();
      return undefined;
    },
    output: () => executor.output,
    async close() {
      await executor.close();
    },
  };
}

/**
 * Returns a {@link Subject} (implementation to measure) that calls `simulate` with the fast executor
 * (WebAssembly), once in each run. A call reads the caller's arrays and returns a new array.
 */
export function tilecCall(
  { simulate }: Pick<SimLibrary, "simulate">,
  kernel: Kernel,
  inputs: Given,
): Subject {
  let latest: ReturnType<typeof simulate> | undefined;
  return {
    subject: "tilec-call",
    threads: 1,
    run() {
      latest = simulate(kernel, inputs, { executor: "fast" });
      return undefined;
    },
    output() {
      const output = latest?.outputs.output;
      if (!ArrayBuffer.isView(output)) throw new Error("the call gave no array");
      return new Uint8Array(output.buffer, output.byteOffset, output.byteLength);
    },
  };
}
