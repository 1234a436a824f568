/**
 * Time of a launch on the visitor's GPU, tilec's kernel and a plain one by the same clock: from submission to
 * completion.
 */
import { inputTensor } from "../../../backends/memory.js";
import { buffersOf, bufferUsage } from "../../../backends/webgpu/buffers.js";
import type { GpuKernel, Runner } from "../../../backends/webgpu/index.js";
import { deviceFaults } from "../../../backends/webgpu/errors.js";
import { resourcesOn } from "../../../backends/webgpu/work.js";
import { alignUp, at, byteCount, type AccessFunc } from "../../../ir/index.js";
import type { HostInputs } from "../../../backends/index.js";
import { median } from "../../../src/tune/median.js";
import { plainKernel } from "./plain-kernel.js";

/**
 * Times of one launch on the visitor's GPU, in nanoseconds: of tilec's kernel (`tilec`), and of a kernel
 * without tiles for the same gather (`plain`, see {@link plainKernel}).
 */
export interface LaunchTimes {
  /** Nanoseconds of one launch of tilec's kernel. */
  readonly tilec: number;
  readonly plain: number;
}

/**
 * Milliseconds that a batch of launches should take, and the most that one launch may before no more are
 * made.
 */
const batchMs = 4;
const tooLongMs = 200;
const mostLaunches = 256;
const samples = 5;

/**
 * Measures one launch of tilec's kernel on the GPU, and one of the kernel without tiles for the same gather
 * ({@link plainKernel}), in nanoseconds. Resolves to undefined if `plainKernel` does not support the gather.
 */
export async function launchTimes(
  runner: Runner,
  kernel: GpuKernel & { readonly access?: AccessFunc },
  inputs: HostInputs,
): Promise<LaunchTimes | undefined> {
  const { access, tile } = kernel;
  const written = access === undefined ? undefined : plainKernel(access);
  if (access === undefined || written === undefined) return undefined;
  const { device } = runner;
  const resources = resourcesOn({ device, faults: deviceFaults });
  try {
    const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST;
    const whole = (bytes: number): number => Math.max(4, alignUp(bytes, 4));
    const bound = tile.operands.map((operand) => {
      if (operand.role === "output") return resources.buffer(whole(byteCount(operand.type)), usage);
      const { bytes } = inputTensor(inputs, operand);
      return resources.buffer(whole(bytes.byteLength), usage, bytes);
    });
    const status = resources.buffer(4, usage, new Uint8Array(4).fill(0xff));
    const buffers = buffersOf(tile, (operand) => at(bound, tile.operands.indexOf(operand)), status);
    const module = device.createShaderModule({ code: written.code });
    const pipeline = await device.createComputePipelineAsync({
      layout: "auto",
      compute: { module, entryPoint: "main" },
    });
    const entries = bound.map((buffer, binding) => ({ binding, resource: { buffer } }));
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    const tilec = (pass: GPUComputePassEncoder): void => {
      runner.encode(pass, kernel, buffers);
    };
    const plain = (pass: GPUComputePassEncoder): void => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...written.workgroups);
    };
    return { tilec: await timeOf(device, tilec), plain: await timeOf(device, plain) };
  } finally {
    resources.destroy();
  }
}

/**
 * Measures the time of one kernel launch on a GPU, in nanoseconds: the median of five batches. A single
 * launch is measured if one launch takes more than 200 ms.
 */
async function timeOf(device: GPUDevice, encode: (pass: GPUComputePassEncoder) => void): Promise<number> {
  const batch = async (launches: number): Promise<number> => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (let k = 0; k < launches; k++) encode(pass);
    pass.end();
    const start = performance.now();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    return (performance.now() - start) / launches;
  };
  await batch(1);
  const first = await batch(1);
  if (first > tooLongMs) return first * 1e6;
  const launches = Math.max(1, Math.min(mostLaunches, Math.ceil(batchMs / Math.max(first, 0.01))));
  const times: number[] = [];
  for (let k = 0; k < samples; k++) times.push(await batch(launches));
  return median(times) * 1e6;
}
