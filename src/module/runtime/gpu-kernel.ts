/** A module's kernel on a GPUDevice: its pipelines, its buffers and its launches. */
import "../../../backends/platform.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { copySrcUsage, storageUsage } from "../../../backends/webgpu/usage.js";
import {
  describePipeline,
  launchOnce,
  pipelinesOf,
  readIndex,
  resourcesOn,
  settle,
  workOn,
  type AtFault,
  type DeviceWork,
  type Pipeline,
} from "../../../backends/webgpu/work.js";
import type { ReadIndex } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import type { SizedOperand } from "./host.js";
import type { Launch } from "./launch.js";
import type { Numbers } from "../../../backends/bad-index.js";
import type { GpuPlan } from "./plan.js";

/**
 * Returns the {@link DeviceWork} of a device, which converts device failures to GatherErrors. The code is
 * TC504 if the device is lost or out of memory, and TC502 if the driver fails.
 */
export const workOfModule = (device: GPUDevice): DeviceWork =>
  workOn(device, {
    lost: (message) =>
      new GatherError("TC504", `the device was lost${message === "" ? "" : `: ${message}`}`, { lost: true }),
    "out-of-memory": (message) =>
      new GatherError("TC504", `the device is out of memory: ${message}`, { lost: false }),
    internal: (message) => new GatherError("TC502", `the device's driver gave up on the kernel: ${message}`),
  });

const refused =
  (what: string): AtFault =>
  (message) =>
    new GatherError("TC702", `the device refused the ${what}: ${message}`);

/**
 * Function that returns the GatherError (TC702) for buffers that the device refused. The argument is the
 * device's validation message.
 */
export const buffersRefused = refused("buffers");

/** Facts of a plan that its pipelines are made from. */
type PipelinePlan = GpuPlan & { readonly before?: readonly { readonly entryPoint: string }[] };

/**
 * Creates the compute pipelines of a module on a device and returns them as one object ({@link Pipeline}).
 * Rejects with a GatherError if the device is lost (TC504), or if a device limit is below the limit that the
 * kernel requires (TC502).
 */
export async function createPipeline(work: DeviceWork, plan: PipelinePlan): Promise<Pipeline> {
  const limits = work.device.limits as unknown as Numbers;
  for (const [limit, needed] of Object.entries(plan.requiredLimits)) {
    const has = limits[limit];
    if (has !== undefined && has < needed)
      throw new GatherError("TC502", `the device's ${limit} is ${has}, and ${plan.name} needs ${needed}`, {
        limit,
        has,
        needed,
      });
  }
  const { descriptors, layout } = describePipeline(work, { entryPoint: "main", ...plan });
  const kernelRefused = refused("kernel");
  const steps = await settle(work, () => pipelinesOf(work, descriptors, kernelRefused), kernelRefused);
  return { steps, layout, bindings: plan.bindings };
}

/**
 * Runs a launch once. `contents` returns the first contents of binding `k`, if it has any. Resolves to the
 * bytes of the output and of the status words. Rejects with a GatherError if the device fails.
 */
export async function runOnce(
  work: DeviceWork,
  pipeline: Pipeline,
  launch: Launch,
  contents: (k: number) => Uint8Array | undefined,
): Promise<readonly [output: Uint8Array<ArrayBuffer>, status: Uint8Array | undefined]> {
  const made = resourcesOn(work);
  try {
    const [result, status] = await launchOnce(
      work,
      made,
      pipeline,
      launch,
      () =>
        pipeline.bindings.map(({ access }, k) =>
          access === "uniform"
            ? (launch.uniform as GPUBuffer)
            : made.buffer(launch.bytes[k] as number, storageUsage | copySrcUsage, contents(k)),
        ),
      buffersRefused,
    );
    return [(result as Uint8Array<ArrayBuffer>).slice(0, launch.output.bytes), status];
  } finally {
    made.destroy();
  }
}

/**
 * Returns the caller's buffer of operand `k`. Throws a GatherError (TC702) if the buffer is absent, has fewer
 * bytes than the launch needs, or is not a storage buffer.
 */
export function bufferFor(
  buffers: Readonly<Record<string, GPUBuffer>>,
  { operands, bytes }: Launch,
  k: number,
): GPUBuffer {
  const operand = operands[k] as SizedOperand;
  const { key } = operand;
  const needed = bytes[k] as number;
  const buffer = entryCalled(buffers, operand, operands);
  if (buffer === undefined || buffer.size < needed || (buffer.usage & storageUsage) === 0)
    throw new GatherError(
      "TC702",
      `buffers.${key} needs ${needed} B and usage STORAGE; it ${buffer === undefined ? "is missing" : `has ${buffer.size} B and usage ${buffer.usage}`}`,
      { role: key, bytes: needed, size: buffer?.size, usage: buffer?.usage },
    );
  return buffer;
}

/** Throws a GatherError (TC702) if the buffer that the kernel writes, binding `target`, is bound twice. */
export function checkDistinct({ operands }: Launch, bound: readonly GPUBuffer[], target: number): void {
  const shared = bound.findIndex((buffer, k) => k !== target && buffer === bound[target]);
  if (shared === -1) return;
  const roles = [target, shared].map((k) => operands[k]?.key);
  throw new GatherError("TC702", `buffers.${roles.join(" and buffers.")} are one buffer`, { roles });
}

/** Returns a function that reads index values from the buffers of a launch. */
export const readingBuffers =
  (work: DeviceWork, bound: readonly GPUBuffer[]): ReadIndex =>
  (operand, table, position) =>
    readIndex(work, bound[table] as GPUBuffer, operand, position, buffersRefused);

/** True if all buffers of index values can be read: they have usage COPY_SRC. */
export const areReadable = ({ sites }: GpuPlan, bound: readonly GPUBuffer[]): boolean =>
  sites.every(({ table = -1 }) => !bound[table] || (bound[table].usage & copySrcUsage) !== 0);
