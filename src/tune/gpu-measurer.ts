/**
 * A GPU as what measures. A launch cannot be stopped: what took too long is told afterwards, and is not
 * launched again.
 */
import { checkApiArgument } from "../api/argument-kinds.js";
import { checkArgument } from "../../ir/argument.js";
import { inputTensor } from "../../backends/memory.js";
import { buffersOf, bufferUsage } from "../../backends/webgpu/buffers.js";
import type { Runner } from "../../backends/webgpu/index.js";
import { deviceFaults } from "../../backends/webgpu/errors.js";
import { resourcesOn } from "../../backends/webgpu/work.js";
import { alignUp, byteCount, hasScatter, outputOf, type TileFunc } from "../../ir/index.js";
import { inoutOf } from "../../ir/func.js";
import { failedMeasurement } from "./local-measurer.js";
import type { MeasuredTask, Measurer } from "./measurer.js";
import type { MeasureOptions, Measurement } from "./search-ms.js";
import { firstDifferentByte, poisonByte, samplingShare, tookTooLong } from "./timed.js";

/**
 * Returns a measurer that runs candidates on a GPU and keeps the buffers on the device. `runner` stays open
 * when the measurer is closed.
 */
export function gpuMeasurer(runner: Runner, device: string, task: MeasuredTask): Measurer {
  checkArgument("gpuMeasurer", "object", runner);
  checkApiArgument("gpuMeasurer", "measured task", task);
  const { kernel, inputs, expected } = task;
  const resources = resourcesOn({ device: runner.device, faults: deviceFaults });
  const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC | bufferUsage.COPY_DST;
  const aligned = (bytes: number): number => Math.max(4, alignUp(bytes, 4));
  const upload = (bytes: Uint8Array): GPUBuffer => resources.buffer(aligned(bytes.byteLength), usage, bytes);
  const bytes = byteCount(outputOf(kernel.tile).type);
  const inPlace = inoutOf(kernel.tile);
  const untouched =
    inPlace === undefined
      ? upload(new Uint8Array(aligned(bytes)).fill(poisonByte))
      : upload(inputTensor(inputs, inPlace).bytes);
  const output = resources.buffer(aligned(bytes), usage);
  const owners = hasScatter(kernel.tile.body)
    ? runner.wgsl(kernel).bindings.find(({ role }) => role === "owner")
    : undefined;
  const buffers = buffersOf(
    kernel.tile,
    (operand) =>
      operand === inPlace || operand.role === "output" ? output : upload(inputTensor(inputs, operand).bytes),
    upload(new Uint8Array(12).fill(0xff)),
    owners === undefined ? undefined : resources.buffer(owners.bytes, usage),
  );

  async function verified(tile: TileFunc): Promise<string | undefined> {
    const resources = resourcesOn({ device: runner.device, faults: deviceFaults });
    try {
      const encoder = runner.device.createCommandEncoder();
      encoder.copyBufferToBuffer(untouched, 0, output, 0, aligned(bytes));
      const pass = encoder.beginComputePass();
      runner.encode(pass, { tile }, buffers);
      pass.end();
      const read = resources.readback(encoder, output, 0, aligned(bytes));
      runner.device.queue.submit([encoder.finish()]);
      return firstDifferentByte((await read()).subarray(0, bytes), expected);
    } finally {
      resources.destroy();
    }
  }

  async function measured(tile: TileFunc, { samples, limitMs }: MeasureOptions): Promise<Measurement> {
    const start = performance.now();
    const wrong = await verified(tile);
    const first = performance.now() - start;
    if (wrong !== undefined) return { status: "wrong", code: "TC610", reason: wrong };
    if (first > limitMs) return tookTooLong(first, limitMs);
    const nanoseconds: number[] = [];
    while (nanoseconds.length < samples) {
      const time = await runner.time({ tile }, buffers, 1);
      nanoseconds.push(Math.round(time.nanoseconds));
      if (performance.now() - start > samplingShare * limitMs) break;
    }
    return { status: "measured", nanoseconds };
  }

  return {
    device,
    measure: (tile, options) => measured(tile, options).catch(failedMeasurement),
    close() {
      resources.destroy();
    },
  };
}
