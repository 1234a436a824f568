/** Subjects that bench:sim compares with. Each subject runs one workload on inputs that it was given once. */
import { execFileSync } from "node:child_process";
import { packageFile } from "../src/device/package-files.js";
import { jaxGather, type Jax } from "./jax.js";
import { loopSubjects, type InputFiles } from "./loop-process.js";
import { onnxModel } from "./onnx-model.js";
import { sessionOf, type OnnxRuntime, type OnnxTensor } from "./onnxruntime.js";
import { importPeer } from "./peers.js";
import type { Subject } from "./rows.js";
import { bytesOf, count, outputBytes, plainGather, type Inputs, type Workload } from "./workloads.js";

const ortDtypes = { f32: "float32", f16: "float16", i8: "int8", u8: "uint8" } as const;

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs a workload on onnxruntime-node, with
 * `threads` threads. If `preallocated` is true, all runs write into one output array of the caller.
 */
export async function onnxRuntime(
  ort: OnnxRuntime,
  workload: Workload,
  inputs: Inputs,
  threads: number,
  preallocated: boolean,
): Promise<Subject> {
  const { model, wide } = onnxModel(workload);
  const session = await sessionOf(ort, model, threads);
  const dtype = ortDtypes[workload.dtype];
  const arrayOf = (bytes: Uint8Array) =>
    workload.dtype === "f32"
      ? new Float32Array(bytes.buffer)
      : workload.dtype === "f16"
        ? new Uint16Array(bytes.buffer)
        : workload.dtype === "i8"
          ? new Int8Array(bytes.buffer)
          : bytes;
  const narrow = new Int32Array(inputs.indices.buffer);
  const indices = !wide
    ? new ort.Tensor("int32", narrow, workload.indices)
    : workload.indexType === "i64"
      ? new ort.Tensor("int64", new BigInt64Array(inputs.indices.buffer), workload.indices)
      : new ort.Tensor("int64", BigInt64Array.from(narrow, BigInt), workload.indices);
  const data = new ort.Tensor(dtype, arrayOf(inputs.data), workload.data);
  const output = new Uint8Array(outputBytes(workload));
  const given = new ort.Tensor(dtype, arrayOf(output), workload.output);
  let latest: OnnxTensor | undefined;
  return {
    subject: preallocated ? "onnxruntime-node-into" : "onnxruntime-node",
    threads,
    async run() {
      const results = await (preallocated
        ? session.run({ data, indices }, { output: given })
        : session.run({ data, indices }));
      latest = results["output"];
      return undefined;
    },
    output: () => {
      const { buffer, byteOffset, byteLength } = latest?.data as Float32Array;
      return new Uint8Array(buffer, byteOffset, byteLength);
    },
    close: () => session.release(),
  };
}

/**
 * Resolves to a {@link Subject} (implementation to measure) that runs a workload on jax-js, compiled to
 * WebAssembly. Resolves to undefined if the data is not f32 or the indices are not i32.
 */
export async function jaxJs(workload: Workload, inputs: Inputs): Promise<Subject | undefined> {
  if (workload.dtype !== "f32" || workload.indexType !== "i32") return undefined;
  const jax = (await importPeer("@jax-js/jax/dist/index.js")) as Jax;
  await jax.init("wasm");
  jax.defaultDevice("wasm");
  return jaxGather(jax, workload, inputs);
}

/**
 * Returns a {@link Subject} (implementation to measure) that gathers with a plain JavaScript loop into a
 * single output array for all runs.
 */
export function plainJs(workload: Workload, inputs: Inputs): Subject {
  const output = new Uint8Array(outputBytes(workload));
  return {
    subject: "plain-js",
    threads: 1,
    run() {
      plainGather(workload, inputs, output);
      return undefined;
    },
    output: () => output,
  };
}

/**
 * Returns a {@link Subject} (implementation to measure) that gathers with a plain JavaScript loop into a new
 * output array in each run.
 */
export function plainJsCall(workload: Workload, inputs: Inputs): Subject {
  let output = new Uint8Array();
  return {
    subject: "plain-js-call",
    threads: 1,
    run() {
      output = new Uint8Array(outputBytes(workload));
      plainGather(workload, inputs, output);
      return undefined;
    },
    output: () => output,
  };
}

/**
 * Returns a {@link Subject} (implementation to measure) that only copies the bytes in `expected`, the output
 * of a gather. The time is the lower limit for every implementation of the gather.
 */
export function limit(expected: Uint8Array): Subject {
  const target = new Uint8Array(expected.byteLength);
  return {
    subject: "limit",
    threads: 1,
    run() {
      target.set(expected);
      return undefined;
    },
  };
}

/**
 * Returns C loops to measure ({@link Subject}), each with one thread and with two: the gather (`c`), and a
 * copy of the output's bytes (`c-copy`). A `gather_elements` along a dim other than the last has a third
 * loop, `c-packed`.
 */
export function plainC(workload: Workload, binary: string, { paths, out }: InputFiles): Subject[] {
  const { op, axis } = workload;
  const nd = op === "gather_nd";
  const inner = count(workload.data.slice(nd ? 2 : axis + 1));
  const sizes = [
    bytesOf[workload.dtype],
    bytesOf[workload.indexType],
    nd ? 1 : count(workload.data.slice(0, axis)),
    workload.data[axis] ?? 1,
    inner,
    op === "gather_elements" ? (workload.indices[axis] ?? 1) : (workload.indices[0] ?? 1),
    workload.data[1] ?? 1,
  ];
  const kinds = [
    ["c", "run"],
    ...(op === "gather_elements" && inner > 1 ? [["c-packed", "packed"] as const] : []),
    ["c-copy", "copy"],
  ] as const;
  const asked = kinds.flatMap(([subject, what]) =>
    [1, 2].map((threads) => ({ subject, threads, what, hasOutput: what !== "copy" })),
  );
  return loopSubjects(binary, [op, ...sizes.map(String), ...paths], out, asked);
}

/**
 * Returns the command of the first Python that can import PyTorch: `python3` on the path, or
 * `/usr/bin/python3`. Returns undefined if no Python can import PyTorch.
 */
export const pythonWithTorch = (): string | undefined =>
  ["python3", "/usr/bin/python3"].find((python) => {
    try {
      execFileSync(python, ["-c", "import torch"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });

/**
 * Returns two implementations to measure ({@link Subject}) that run a workload on PyTorch, with one thread
 * and with two.
 */
export function torch(workload: Workload, python: string, { paths, out }: InputFiles): Subject[] {
  const { op, dtype, indexType, axis } = workload;
  const shapes = [workload.data.join(), workload.indices.join()];
  const args = [packageFile("bench/torch_loop.py"), op, dtype, indexType, String(axis), ...shapes, ...paths];
  const asked = [1, 2].map((threads) => ({ subject: "torch", threads, what: "run", hasOutput: true }));
  return loopSubjects(python, args, out, asked);
}
