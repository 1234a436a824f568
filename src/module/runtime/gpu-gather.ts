/** A module's gather on a GPUDevice. */
import "../../../backends/platform.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { maxPerAccess, noneBad, statusIn, unwritten } from "../../../backends/webgpu/status.js";
import { copyDstUsage, copySrcUsage, storageUsage, uniformUsage } from "../../../backends/webgpu/usage.js";
import {
  describePipeline,
  launchOnce,
  pipelinesOf,
  readBuffer,
  readIndex,
  recordLaunch,
  resourcesOn,
  settle,
  workOn,
  type AtFault,
  type DeviceWork,
  type Pipeline,
} from "../../../backends/webgpu/work.js";
import { badElement, badIndexIn, readingBytes, type ReadIndex } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import { bytesOf, outputOf, type HostArray } from "./host.js";
import type { Launch, LaunchAt } from "./launch.js";
import type { Numbers } from "../../../backends/bad-index.js";
import type { GpuPlan } from "./plan.js";

export { GatherError };

type Arrays = Readonly<Record<string, HostArray>>;
type Buffers = Readonly<Record<string, GPUBuffer>>;

/**
 * Compiled gather of a module on a device. `run` accepts and returns arrays on the host. `encode` adds a
 * launch to a compute pass; `check` rejects if the latest launch had an index out of range.
 */
export interface Gather {
  run(inputs: Arrays, sizes?: Numbers): Promise<{ readonly outputs: Arrays }>;
  encode(pass: GPUComputePassEncoder, buffers: Buffers, sizes?: Numbers): void;
  check(): Promise<void>;
  dispose(): void;
}

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

/**
 * Returns the caller's buffer of operand `key`. Throws a GatherError (TC702) if the buffer is absent, has
 * fewer than `needed` bytes, or is not a storage buffer.
 */
export function bufferFor(buffer: GPUBuffer | undefined, key: string, needed: number): GPUBuffer {
  if (buffer === undefined || buffer.size < needed || (buffer.usage & storageUsage) === 0)
    throw new GatherError(
      "TC702",
      `buffers.${key} needs ${needed} B and usage STORAGE; it ${buffer === undefined ? "is missing" : `has ${buffer.size} B and usage ${buffer.usage}`}`,
      { role: key, bytes: needed, size: buffer?.size, usage: buffer?.usage },
    );
  return buffer;
}

/** Facts of a plan that its pipelines are made from. */
type PipelinePlan = GpuPlan & { readonly before?: readonly { readonly entryPoint: string }[] };

/**
 * Creates the compute pipelines of a module on a device and returns them as one object ({@link Pipeline}).
 * Rejects with a GatherError if the device is lost (TC504), or if a device limit is below the limit that the
 * kernel requires (TC502).
 */
export async function createPipeline(work: DeviceWork, plan: PipelinePlan): Promise<Pipeline> {
  const { device } = work;
  const limits = device.limits as unknown as Numbers;
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
 * Creates the gather of a WebGPU module on a device, from the plan of the module. Rejects with a GatherError
 * if the device is lost (TC504), or if a device limit is below the limit that the kernel requires (TC502).
 */
export async function createGather(work: DeviceWork, plan: GpuPlan, launchAt: LaunchAt): Promise<Gather> {
  const { bindings } = plan;
  const pipeline = await createPipeline(work, plan);
  const owned = resourcesOn(work);
  /** Buffer of the status word that launches of `encode` write. */
  let status: GPUBuffer | undefined;
  /** The latest launch of `encode`. */
  let latest: { readonly launch: Launch; readonly bound: readonly GPUBuffer[] } | undefined;
  let isDisposed = false;

  const checkUsable = (): void => {
    if (isDisposed) throw new GatherError("TC702", `${plan.name} was disposed of`);
    work.lifetime.check();
  };
  const launchOf = (sizes: Numbers = {}): Launch => {
    checkUsable();
    return launchAt(sizes, (contents) =>
      resourcesOn(work).buffer(contents.byteLength, uniformUsage, contents),
    );
  };
  /**
   * Returns the error for an index that the kernel rejected. The index is searched among the elements of the
   * access that reported it.
   */
  const badIndexOf = async (launch: Launch, element: number, read: ReadIndex): Promise<GatherError> =>
    (await badIndexIn(plan, launch, [element, element + maxPerAccess], read)) ?? badElement(launch, element);

  return {
    async run(inputs, sizes) {
      const launch = launchOf(sizes);
      const { bytes: given, strings } = bytesOf(launch, inputs);
      const { output } = launch;
      const done = (bytes: Uint8Array<ArrayBuffer>) => ({
        outputs: { [output.key]: outputOf(launch, bytes, strings) },
      });
      if (launch.dispatch[0] === 0) return done(new Uint8Array(output.bytes));
      const made = resourcesOn(work);
      try {
        const [result, word] = await launchOnce(
          work,
          made,
          pipeline,
          launch,
          () =>
            bindings.map(({ access }, k) =>
              access === "uniform"
                ? (launch.uniform as GPUBuffer)
                : made.buffer(
                    launch.bytes[k] as number,
                    storageUsage | copySrcUsage,
                    launch.operands[k] === undefined ? unwritten() : given[k],
                  ),
            ),
          buffersRefused,
        );
        const element = statusIn(word);
        if (element !== noneBad) throw await badIndexOf(launch, element, readingBytes(given));
        return done(new Uint8Array((result as Uint8Array).slice(0, output.bytes).buffer));
      } finally {
        made.destroy();
      }
    },

    encode(pass, buffers, sizes) {
      const launch = launchOf(sizes);
      if (launch.dispatch[0] === 0) return;
      const keys = launch.operands.map(({ key }) => key);
      const bound = bindings.map(({ access }, k) => {
        if (access === "uniform") return launch.uniform as GPUBuffer;
        const operand = launch.operands[k];
        // Behind the operands lies the status word.
        if (operand === undefined)
          return (status ??= owned.buffer(4, storageUsage | copySrcUsage | copyDstUsage, unwritten()));
        return bufferFor(entryCalled(buffers, operand, keys), operand.key, launch.bytes[k] ?? 0);
      });
      const at = launch.operands.length - 1;
      const shared = bound.findIndex((buffer, k) => k !== at && buffer === bound[at]);
      if (shared !== -1) {
        const roles = [keys[at], keys[shared]];
        throw new GatherError("TC702", `buffers.${roles.join(" and buffers.")} are one buffer`, { roles });
      }
      recordLaunch(work, pass, pipeline, launch, bound);
      latest = { launch, bound };
    },

    async check() {
      checkUsable();
      if (status === undefined || latest === undefined) return;
      const { launch, bound } = latest;
      const element = statusIn(await readBuffer(work, status, [0, 4], buffersRefused, unwritten()));
      if (element === noneBad) return;
      const tables = new Set(plan.sites.map(({ table }) => table));
      const readable = bound.every((buffer, k) => !tables.has(k) || (buffer.usage & copySrcUsage) !== 0);
      if (!readable) throw badElement(launch, element);
      throw await badIndexOf(launch, element, (operand, table, position) =>
        readIndex(work, bound[table] as GPUBuffer, operand, position, buffersRefused),
      );
    },

    dispose() {
      isDisposed = true;
      owned.destroy();
      latest = undefined;
    },
  };
}
