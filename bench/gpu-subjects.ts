/**
 * The subjects that need nothing but a GPUDevice: tilec, a plain kernel, one by hand that moves 16 bytes at a
 * time, and a copy of the output's bytes, 16 at a time.
 */
import { kernelOf } from "./kernels.js";
import type { GpuLibrary } from "./library.js";
import type { Subject } from "./rows.js";
import { handWritten } from "./hand-written.js";
import { bytesOf, count, outputBytes, type Inputs, type Workload } from "./workloads.js";

const usage = { mapRead: 1, copySrc: 4, copyDst: 8, storage: 128 } as const;

/**
 * GPU buffers of one workload: inputs, output and status word. `outputBytes` is the size of the output in
 * bytes. All measured implementations of the workload share the buffers.
 */
export interface Resident {
  readonly data: GPUBuffer;
  readonly indices: GPUBuffer;
  readonly output: GPUBuffer;
  readonly status: GPUBuffer;
  readonly outputBytes: number;
  destroy(): void;
}

/** Creates a storage buffer of `size` bytes on the device, filled from `contents` or else with zeros. */
export function storageBuffer(device: GPUDevice, size: number, contents?: Uint8Array): GPUBuffer {
  const buffer = device.createBuffer({ size, usage: usage.storage | usage.copySrc | usage.copyDst });
  if (contents !== undefined) device.queue.writeBuffer(buffer, 0, contents as Uint8Array<ArrayBuffer>);
  return buffer;
}

/**
 * Creates a 4-byte status buffer in which a kernel reports an index out of range. The initial value (all bits
 * set) means no report.
 */
export const statusBuffer = (device: GPUDevice): GPUBuffer =>
  storageBuffer(device, 4, new Uint8Array(4).fill(0xff));

/**
 * Creates the GPU buffers of a workload and uploads the inputs. The caller must call `destroy` on the result.
 */
export function upload(device: GPUDevice, workload: Workload, inputs: Inputs): Resident {
  const buffers = {
    data: storageBuffer(device, inputs.data.byteLength, inputs.data),
    indices: storageBuffer(device, inputs.indices.byteLength, inputs.indices),
    output: storageBuffer(device, outputBytes(workload)),
    status: statusBuffer(device),
  };
  return {
    ...buffers,
    outputBytes: outputBytes(workload),
    destroy() {
      for (const buffer of Object.values(buffers)) buffer.destroy();
    },
  };
}

/** Resolves to the first `bytes` bytes of a GPU buffer, and then fills the entire buffer with zeros. */
export async function download(device: GPUDevice, buffer: GPUBuffer, bytes: number): Promise<Uint8Array> {
  const readback = device.createBuffer({ size: bytes, usage: usage.mapRead | usage.copyDst });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 0, readback, 0, bytes);
  encoder.clearBuffer(buffer);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(1);
  const copy = new Uint8Array(readback.getMappedRange()).slice();
  readback.destroy();
  return copy;
}

/**
 * Submits one compute pass in which `encode` is called `launches` times, and waits for the device. Resolves
 * to the milliseconds per launch.
 */
export async function timed(
  device: GPUDevice,
  launches: number,
  encode: (pass: GPUComputePassEncoder) => void,
  now: () => number = () => performance.now(),
): Promise<number> {
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  for (let launch = 0; launch < launches; launch++) encode(pass);
  pass.end();
  const start = now();
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  return (now() - start) / launches;
}

/**
 * Resolves to four implementations of a workload to measure on the GPU ({@link Subject}): tilec's kernel, a
 * kernel without tiles, a hand-written kernel, and a copy of the output's bytes. Each run makes `launches`
 * launches and resolves to the milliseconds per launch.
 */
export async function gpuSubjects(
  library: GpuLibrary,
  device: GPUDevice,
  workload: Workload,
  resident: Resident,
  launches = 1,
): Promise<readonly Subject[]> {
  const { data, indices, output } = resident;
  const copied = device.createBuffer({ size: resident.outputBytes, usage: usage.storage });
  const byHand = (
    subject: string,
    code: string,
    invocations: number,
    buffers: readonly GPUBuffer[],
  ): Subject => handKernel(device, { subject, code, invocations, buffers, launches });
  const perWord = 4 / bytesOf[workload.dtype];
  const verified = withOutput(device, resident);
  return [
    await tilecOnGpu(library, device, workload, resident, launches),
    verified(byHand("plain", plainCode(workload), count(workload.output) / perWord, [data, indices, output])),
    verified(byHand("hand-vec4", ...handWritten(workload), [data, indices, output])),
    {
      ...byHand("copy", copyCode(resident.outputBytes / 16), resident.outputBytes / 16, [copied, output]),
      close() {
        copied.destroy();
      },
    },
  ];
}

/**
 * Returns a function that adds an `output` method to a {@link Subject} (implementation to measure). The
 * method downloads the output buffer of the workload as bytes.
 */
export const withOutput =
  (device: GPUDevice, { output, outputBytes }: Resident) =>
  (subject: Subject): Subject => ({ ...subject, output: () => download(device, output, outputBytes) });

/**
 * Resolves to a {@link Subject} (implementation to measure): tilec's kernel for a workload on the GPU. Each
 * run makes `launches` launches and resolves to the milliseconds per launch. `library` is the API of any
 * build of tilec; `now` returns the time in milliseconds.
 */
export async function tilecOnGpu(
  library: GpuLibrary,
  device: GPUDevice,
  workload: Workload,
  resident: Resident,
  launches = 1,
  now?: () => number,
): Promise<Subject> {
  const runner = await library.createRunner(device);
  const kernel = kernelOf(library, workload, runner.target);
  const { data, indices, output, status } = resident;
  return withOutput(
    device,
    resident,
  )({
    subject: "tilec",
    threads: 1,
    run: () =>
      timed(
        device,
        launches,
        (pass) => {
          runner.encode(pass, kernel, { data, indices, output, status });
        },
        now,
      ),
  });
}

interface HandKernel {
  readonly subject: string;
  readonly code: string;
  readonly invocations: number;
  readonly buffers: readonly GPUBuffer[];
  readonly launches: number;
}

/**
 * Returns a {@link Subject} (implementation to measure) that runs the WGSL in `code` on the GPU, with
 * workgroups of 256 invocations. Each run makes `launches` launches and resolves to the milliseconds per
 * launch.
 */
function handKernel(
  device: GPUDevice,
  { subject, code, invocations, buffers, launches }: HandKernel,
): Subject {
  const module = device.createShaderModule({ code });
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module, entryPoint: "main" } });
  const bindGroup = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const groups = Math.ceil(invocations / 256);
  const y = Math.ceil(groups / 65535);
  return {
    subject,
    threads: 1,
    run: () =>
      timed(device, launches, (pass) => {
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, bindGroup);
        pass.dispatchWorkgroups(Math.ceil(groups / y), y);
      }),
  };
}

const copyCode = (vectors: number): string => `@group(0) @binding(0) var<storage, read> source: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> output: array<vec4u>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= ${vectors}u) { return; }
  output[id.x] = source[id.x];
}
`;

/**
 * Returns the WGSL of a plain (not tiled) kernel for a workload. Each invocation writes one 32-bit word of
 * the output.
 */
function plainCode(w: Workload): string {
  const perWord = 4 / bytesOf[w.dtype];
  const bits = 32 / perWord;
  const inner = count(w.data.slice(w.op === "gather_nd" ? w.indices[w.indices.length - 1] : w.axis + 1));
  const extent = w.data[w.axis] ?? 1;
  const n = w.op === "gather" ? count(w.indices) : (w.indices[w.axis] ?? 1);
  const wide = w.indexType === "i64" ? 2 : 1;
  const groups = Math.ceil(count(w.output) / perWord / 256);
  const across = Math.ceil(groups / Math.ceil(groups / 65535));
  const wrapped = (at: string, limit: number): string =>
    `wrap(indices[${wide === 2 ? `2u * (${at})` : at}], ${limit}u)`;
  const source = {
    gather: `(i / ${n * inner}u * ${extent}u + ${wrapped(`i / ${inner}u % ${n}u`, extent)}) * ${inner}u + i % ${inner}u`,
    gather_elements: `(i / ${n * inner}u * ${extent}u + ${wrapped("i", extent)}) * ${inner}u + i % ${inner}u`,
    gather_nd: `(${wrapped(`2u * (i / ${inner}u)`, w.data[0] ?? 1)} * ${w.data[1] ?? 1}u + ${wrapped(`2u * (i / ${inner}u) + 1u`, w.data[1] ?? 1)}) * ${inner}u + i % ${inner}u`,
  }[w.op];
  return `@group(0) @binding(0) var<storage, read> data: array<u32>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read_write> output: array<u32>;
fn wrap(index: u32, extent: u32) -> u32 { return select(index, index + extent, index >= 0x80000000u); }
fn element(i: u32) -> u32 {
  let source = ${source};
  ${perWord === 1 ? "return data[source];" : `return (data[source / ${perWord}u] >> (source % ${perWord}u * ${bits}u)) & ${2 ** bits - 1}u;`}
}
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let word = id.y * ${across * 256}u + id.x;
  if (word >= ${count(w.output) / perWord}u) { return; }
  output[word] = ${perWord === 1 ? "element(word)" : Array.from({ length: perWord }, (_, e) => `(element(word * ${perWord}u + ${e}u) << ${e * bits}u)`).join(" | ")};
}
`;
}
