/** A module's gather on a GPUDevice. */
import { maxPerAccess, noneBad, statusIn, unwritten } from "../../../backends/webgpu/status.js";
import { copyDstUsage, copySrcUsage, storageUsage } from "../../../backends/webgpu/usage.js";
import { readBuffer, recordLaunch, resourcesOn, type DeviceWork } from "../../../backends/webgpu/work.js";
import { badElement, badIndexIn, readingBytes, type ReadIndex } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import {
  areReadable,
  bufferFor,
  buffersRefused,
  checkDistinct,
  createPipeline,
  readingBuffers,
  runOnce,
} from "./gpu-kernel.js";
import { bytesOf, outputOf, type HostArray } from "./host.js";
import type { Launch, LaunchAt } from "./launch.js";
import type { Numbers } from "../../../backends/bad-index.js";
import type { GpuPlan } from "./plan.js";

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
 * Rejects with a GatherError if the kernel reported an index out of range. The index is searched among the
 * elements of the access that reported it; without `read`, the error does not state it.
 */
async function throwBadIndex(
  plan: GpuPlan,
  launch: Launch,
  status: Uint8Array | undefined,
  read: ReadIndex | undefined,
): Promise<void> {
  const element = statusIn(status);
  if (element !== noneBad)
    throw (
      (read && (await badIndexIn(plan, launch, [element, element + maxPerAccess], read))) ??
      badElement(launch, element)
    );
}

/**
 * Creates the gather of a WebGPU module on a device, from the plan of the module. Rejects with a GatherError
 * if the device is lost (TC504), or if a device limit is below the limit that the kernel requires (TC502).
 */
export async function createGather(work: DeviceWork, plan: GpuPlan, launchAt: LaunchAt): Promise<Gather> {
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
  const launchOf = (sizes: Numbers | null | undefined): Launch => {
    checkUsable();
    return launchAt(sizes ?? {});
  };

  return {
    async run(inputs, sizes) {
      const launch = launchOf(sizes);
      const { bytes: given, strings } = bytesOf(launch, inputs);
      const { dispatch, operands, output } = launch;
      const [bytes, word] =
        dispatch[0] === 0
          ? [new Uint8Array(output.bytes)]
          : await runOnce(work, pipeline, launch, (k) => (operands[k] ? given[k] : unwritten()));
      await throwBadIndex(plan, launch, word, readingBytes(given));
      return { outputs: { [output.key]: outputOf(launch, bytes, strings) } };
    },

    encode(pass, buffers, sizes) {
      const launch = launchOf(sizes);
      const { dispatch, operands } = launch;
      if (dispatch[0] === 0) return;
      const bound = plan.bindings.map(({ access }, k) =>
        access === "uniform"
          ? (launch.uniform as GPUBuffer)
          : operands[k]
            ? bufferFor(buffers, launch, k)
            : // After the operands lies the status word.
              (status ??= owned.buffer(4, storageUsage | copySrcUsage | copyDstUsage, unwritten())),
      );
      checkDistinct(launch, bound, operands.length - 1);
      recordLaunch(work, pass, pipeline, launch, bound);
      latest = { launch, bound };
    },

    async check() {
      checkUsable();
      if (status === undefined || latest === undefined) return;
      const { launch, bound } = latest;
      const word = await readBuffer(work, status, [0, 4], buffersRefused, unwritten());
      const read = areReadable(plan, bound) ? readingBuffers(work, bound) : undefined;
      await throwBadIndex(plan, launch, word, read);
    },

    dispose() {
      isDisposed = true;
      owned.destroy();
      latest = undefined;
    },
  };
}
