/** Code of the page of bench:scatter --web: tilec, tfjs and onnxruntime-web on one adapter, and a loop. */
import { createRunner } from "../backends/webgpu/index.js";
import { compile } from "../src/index.js";
import { onnxTypes } from "../test/support/onnx-bytes.js";
import { download, storageBuffer, timed } from "./gpu-subjects.js";
import { measure, type Row, type Subject } from "./rows.js";
import { bytesOf, javascript, type Numbers, programOf, type Scatter, scatterModel } from "./scatters.js";
import { onnxRuntimeWebModel, tensorFlowSubject } from "./web-subjects.js";
import { messageOf } from "../ir/faults.js";

/** Rows of a benchmark of scatters, and the implementations that could not run, each with the reason. */
export interface ScatterRows {
  readonly rows: readonly Row[];
  readonly leftOut: readonly { readonly workload: string; readonly subject: string; readonly why: string }[];
}

/**
 * Measures tilec, the libraries and a loop in JavaScript on a scatter. Resolves to one row of times for each
 * implementation that runs.
 */
export async function scatterRows(device: GPUDevice, scatter: Scatter, rounds: number): Promise<ScatterRows> {
  const { name: workload } = scatter;
  const out = scatter.base.slice();
  scatter.loop(out);
  const expected = bytesOf(out).slice();
  const subjects: Subject[] = [];
  const leftOut: ScatterRows["leftOut"][number][] = [];
  const makers: readonly (readonly [subject: string, make: () => Subject | Promise<Subject>])[] = [
    ["tilec", () => tilec(device, scatter)],
    ["javascript", () => javascript(scatter, out)],
    ["tfjs", () => tensorFlow(scatter)],
    ["onnxruntime-web", () => onnxRuntime(scatter)],
  ];
  for (const [subject, make] of makers) {
    try {
      const made = await make();
      await made.run();
      subjects.push(made);
    } catch (thrown) {
      leftOut.push({ workload, subject, why: messageOf(thrown) });
    }
  }
  return { rows: await measure(workload, subjects, expected, rounds), leftOut };
}

/** Resolves to a {@link Subject} (implementation to measure): tilec's kernel on the device. */
async function tilec(device: GPUDevice, scatter: Scatter): Promise<Subject> {
  const { base, indices, updates, inPlace } = scatter;
  const runner = await createRunner(device);
  const kernel = compile(programOf(scatter), { target: runner.target });
  const contents: Readonly<Record<string, Uint8Array>> = {
    x: bytesOf(base),
    i: bytesOf(indices),
    u: bytesOf(updates),
  };
  const buffers = Object.fromEntries(
    runner.wgsl(kernel).bindings.map(({ key, role, bytes }) => {
      const none = role === "status" ? new Uint8Array(bytes).fill(0xff) : undefined;
      return [key, storageBuffer(device, bytes, contents[key] ?? none)];
    }),
  );
  const written = buffers[inPlace ? "x" : "output"];
  if (written === undefined) throw new Error("the kernel binds no output");
  return {
    subject: "tilec",
    threads: 1,
    run: () =>
      timed(device, 1, (pass) => {
        runner.encode(pass, kernel, { output: written, ...buffers });
      }),
    output: () => download(device, written, base.byteLength),
    close() {
      for (const buffer of Object.values(buffers)) buffer.destroy();
    },
  };
}

/** Columns of a row of 32-bit words: two elements of f16 are one, since no library takes 16 bits here. */
const wordColumns = ({ dtype, shape: [, columns] }: Scatter): number =>
  dtype === "f16" ? columns / 2 : columns;

/** Returns the words of a tensor as f32, without a copy. */
const asFloats = ({ buffer, byteLength, byteOffset }: Numbers): Float32Array =>
  new Float32Array(buffer, byteOffset, byteLength / 4);

/** Resolves to a {@link Subject} (implementation to measure): a scatter on TensorFlow.js, with WebGPU. */
function tensorFlow(scatter: Scatter): Promise<Subject> {
  const { c, indexShape, indices, points, shape } = scatter;
  const columns = wordColumns(scatter);
  const [x, u] = [asFloats(scatter.base), asFloats(scatter.updates)];
  const narrow = Int32Array.from(indices, Number);
  const [rows] = shape;
  if (c === "add")
    return tensorFlowSubject(
      [
        [narrow, [narrow.length, 1], "int32"],
        [u, [points[0], columns], "float32"],
      ],
      (tf, [at, updates]) => tf.scatterND(at, updates, [rows, columns]),
      [rows, columns],
      1,
    );
  // Elements are named by both of their coordinates, which no run has to make.
  const isByElement = indexShape.includes("x");
  const places = isByElement
    ? Int32Array.from({ length: 2 * narrow.length }, (_, k) =>
        k % 2 === 0 ? (narrow[k / 2] ?? 0) : ((k - 1) / 2) % columns,
      )
    : narrow;
  return tensorFlowSubject(
    [
      [x, [rows, columns], "float32"],
      [places, isByElement ? [narrow.length, 2] : [narrow.length, 1], "int32"],
      [u, isByElement ? [u.length] : [points[0], columns], "float32"],
    ],
    (tf, [base, at, updates]) => tf.tensorScatterUpdate(base, at, updates),
    [rows, columns],
    1,
  );
}

/**
 * Resolves to a {@link Subject} (implementation to measure): a scatter on onnxruntime-web, with WebGPU. Rows
 * are written by ScatterND.
 */
function onnxRuntime(scatter: Scatter): Promise<Subject> {
  const { base, indices, points, shape, updates } = scatter;
  const columns = wordColumns(scatter);
  const onnx = scatter.onnx ?? { op: "ScatterND", attributes: [], indices: [points[0], 1] };
  const model = scatterModel(onnx, onnxTypes.f32, [shape[0], columns], [points[0], columns]);
  return onnxRuntimeWebModel(
    model,
    {
      x: { bytes: bytesOf(base), dataType: "float32", dims: [shape[0], columns] },
      i: { bytes: bytesOf(indices), dataType: "int64", dims: onnx.indices },
      u: { bytes: bytesOf(updates), dataType: "float32", dims: [points[0], columns] },
    },
    1,
    { session: { disable_cpu_ep_fallback: "1" } },
  );
}
