/** A module's scatter on a GPUDevice: it writes points in memory of its own, or in that of an input. */
import { coordinates } from "../../../backends/memory.js";
import { duplicateIn, noneBad, statusIn } from "../../../backends/webgpu/status.js";
import { copyDstUsage, copySrcUsage, storageUsage } from "../../../backends/webgpu/usage.js";
import { readBuffer, recordLaunch, resourcesOn, type DeviceWork } from "../../../backends/webgpu/work.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { elementCount } from "../../../ir/types.js";
import { readingBytes, type ReadIndex } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import type { Gather } from "./gpu-gather.js";
import {
  areReadable,
  bufferFor,
  buffersRefused,
  checkDistinct,
  createPipeline,
  readingBuffers,
  runOnce,
} from "./gpu-kernel.js";
import type { Numbers } from "../../../backends/bad-index.js";
import { bytesOf, outputOf, type HostArray, type SizedOperand } from "./host.js";
import type { Launch, LaunchAt } from "./launch.js";
import type { GpuPlan, ScatterPlan } from "./plan.js";
import { badPointIn, checkOverlap, duplicateError, writtenOver } from "./scatter-points.js";

type Arrays = Readonly<Record<string, HostArray>>;

/** Launch of a scatter's kernel: the points of its domain, and the dispatches before the last. */
export interface ScatterLaunch extends Launch {
  readonly points: readonly number[];
  readonly before: readonly Pick<Launch, "dispatch">[];
}

/** Description of a WebGPU scatter for {@link createScatter}. */
type PointsPlan = GpuPlan &
  ScatterPlan & {
    readonly before: readonly { readonly entryPoint: string }[];
    /** Bytes of the array of owners that serves every size; absent where sizes are fixed. */
    readonly ownerBytes?: number;
  };

/** Returns status words before a launch, of `bytes` bytes. */
const unset = (bytes: number | undefined): Uint8Array<ArrayBuffer> =>
  new Uint8Array(bytes as number).fill(255);

/** Rejects with the error for the first bad index of the points in `range`, if there is one. */
async function throwBadIndex(
  plan: ScatterPlan,
  launch: ScatterLaunch,
  range: readonly [number, number],
  read: ReadIndex,
): Promise<void> {
  const bad = await badPointIn(plan, launch, launch.points, range, read);
  if (bad) throw bad;
}

/** Rejects with the error for the first bad index of a launch that writes no element, if there is one. */
const throwIdle = (plan: ScatterPlan, launch: ScatterLaunch, read: ReadIndex): Promise<void> =>
  throwBadIndex(plan, launch, [0, plan.sites.length > 0 ? elementCount(launch.points) : 0], read);

/**
 * Rejects with the error that status words name, if they name one. Without `read`, the error for a bad index
 * does not state the index value.
 */
async function throwRejection(
  plan: ScatterPlan,
  launch: ScatterLaunch,
  words: Uint8Array | undefined,
  read: ReadIndex | undefined,
): Promise<void> {
  const from = statusIn(words);
  if (words === undefined || from === noneBad) return;
  const { output, points } = launch;
  const duplicate = duplicateIn(words);
  if (duplicate) throw duplicateError(output, points, duplicate);
  if (read) await throwBadIndex(plan, launch, [from, from + 1], read);
  const point = coordinates(from, points);
  throw new GatherError("TC601", `an index for point [${point.join(", ")}] is out of range`, { point });
}

/**
 * Returns the output of a run: an array that `bytes` hold, or the caller's array if it is written in place.
 */
function outputFor(
  { inPlace }: ScatterPlan,
  launch: ScatterLaunch,
  arrays: Arrays,
  [bytes, strings]: readonly [Uint8Array<ArrayBuffer>, readonly string[]],
): HostArray {
  const made = outputOf(launch, bytes, strings);
  if (!inPlace) return made;
  const inputs = launch.operands.slice(0, -1);
  return writtenOver(entryCalled(arrays, inputs[0] as SizedOperand, inputs), made);
}

/**
 * Resolves to the object that runs the scatter of a WebGPU module: a {@link Gather}, as for all modules.
 * Rejects with a GatherError if the device is lost (TC504), or if a device limit is below the limit that the
 * kernel requires (TC502).
 */
export async function createScatter(
  work: DeviceWork,
  plan: PointsPlan,
  launchAt: LaunchAt<ScatterLaunch>,
): Promise<Gather> {
  const pipeline = await createPipeline(work, plan);
  const owned = resourcesOn(work);
  const { bindings, inPlace } = plan;
  /** Buffers of the status words and the owners, for launches of `encode`. */
  const kept: GPUBuffer[] = [];
  /** The latest launch of `encode`. */
  let latest: { readonly launch: ScatterLaunch; readonly bound: readonly GPUBuffer[] } | undefined;
  let isDisposed = false;

  const checkUsable = (): void => {
    if (isDisposed) throw new GatherError("TC702", `${plan.name} was disposed of`);
    work.lifetime.check();
  };
  const launchOf = (sizes: Numbers | null | undefined): ScatterLaunch => {
    checkUsable();
    return launchAt(sizes ?? {});
  };

  /** Resolves to the bytes of the output of a launch whose inputs have the bytes `given`. */
  const bytesAfter = async (
    launch: ScatterLaunch,
    given: readonly Uint8Array[],
  ): Promise<Uint8Array<ArrayBuffer>> => {
    const read = readingBytes(given);
    if (launch.dispatch[0] === 0) {
      await throwIdle(plan, launch, read);
      return inPlace ? (given[0] as Uint8Array).slice() : new Uint8Array(launch.output.bytes);
    }
    const [result, words] = await runOnce(work, pipeline, launch, (k) => {
      const role = bindings[k]?.role;
      return role === "status" ? unset(launch.bytes[k]) : role ? undefined : given[k];
    });
    await throwRejection(plan, launch, words, read);
    return result;
  };

  return {
    async run(arrays: Arrays, sizes) {
      const launch = launchOf(sizes);
      const { bytes, strings } = bytesOf(launch, arrays);
      if (inPlace) checkOverlap(launch, arrays);
      const written = [await bytesAfter(launch, bytes), strings] as const;
      return { outputs: { [launch.output.key]: outputFor(plan, launch, arrays, written) } };
    },

    encode(pass, buffers, sizes) {
      const launch = launchOf(sizes);
      const { bytes, operands } = launch;
      const bound = bindings.map(({ access, role }, k) => {
        if (access === "uniform") return launch.uniform as GPUBuffer;
        if (!role && operands[k]) return bufferFor(buffers, launch, k);
        const size = role === "owner" ? (plan.ownerBytes ?? bytes[k]) : bytes[k];
        const usage = storageUsage | copySrcUsage | copyDstUsage;
        return (kept[k] ??= owned.buffer(size as number, usage, unset(size)));
      });
      const target = bindings.findIndex(({ access }) => access === "read_write");
      checkDistinct(launch, bound, target);
      if (launch.dispatch[0] !== 0) recordLaunch(work, pass, pipeline, launch, bound);
      latest = { launch, bound };
    },

    async check() {
      checkUsable();
      if (latest === undefined) return;
      const { launch, bound } = latest;
      const read = readingBuffers(work, bound);
      if (launch.dispatch[0] === 0) return throwIdle(plan, launch, read);
      const k = bindings.findIndex(({ role }) => role === "status");
      const status = kept[k];
      if (status === undefined) return;
      const size = launch.bytes[k] as number;
      const words = await readBuffer(work, status, [0, size], buffersRefused, unset(size));
      await throwRejection(plan, launch, words, areReadable(plan, bound) ? read : undefined);
    },

    dispose() {
      isDisposed = true;
      owned.destroy();
      latest = undefined;
    },
  };
}
