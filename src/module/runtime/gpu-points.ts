/** A module's scatter on a GPUDevice: it writes points in memory of its own, or in that of an input. */
import { coordinates } from "../../../backends/memory.js";
import { duplicateIn, noneBad, statusIn } from "../../../backends/webgpu/status.js";
import { copyDstUsage, copySrcUsage, storageUsage, uniformUsage } from "../../../backends/webgpu/usage.js";
import {
  launchOnce,
  readBuffer,
  readIndex,
  recordLaunch,
  resourcesOn,
} from "../../../backends/webgpu/work.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { elementCount } from "../../../ir/types.js";
import { readingBytes, type ReadIndex } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import { bufferFor, buffersRefused, createPipeline, workOfModule, type Gather } from "./gpu-gather.js";
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

/**
 * Resolves to the object that runs the scatter of a WebGPU module: a {@link Gather}, as for all modules.
 * Rejects with a GatherError if the device is lost (TC504), or if a device limit is below the limit that the
 * kernel requires (TC502).
 */
export async function createScatter(
  device: GPUDevice,
  plan: PointsPlan,
  launchAt: LaunchAt<ScatterLaunch>,
): Promise<Gather> {
  const work = workOfModule(device);
  const pipeline = await createPipeline(work, plan);
  const owned = resourcesOn(work);
  const { bindings, sites } = plan;
  /** Buffers of the status words and the owners, for launches of `encode`. */
  const kept: GPUBuffer[] = [];
  /** The latest launch of `encode`. */
  let latest: { readonly launch: ScatterLaunch; readonly bound: readonly GPUBuffer[] } | undefined;
  let isDisposed = false;

  const checkUsable = (): void => {
    if (isDisposed) throw new GatherError("TC702", `${plan.name} was disposed of`);
    work.lifetime.check();
  };
  const launchOf = (sizes: Numbers = {}): ScatterLaunch => {
    checkUsable();
    return launchAt(sizes, (contents) =>
      resourcesOn(work).buffer(contents.byteLength, uniformUsage, contents),
    );
  };
  /** Throws the error for the first bad index of the points of a range, if there is one. */
  const throwBadIndex = async (
    launch: ScatterLaunch,
    range: readonly [number, number],
    read: ReadIndex,
  ): Promise<void> => {
    const bad = await badPointIn(plan, launch, launch.points, range, read);
    if (bad) throw bad;
  };
  /** Throws the error for the first bad index of a launch that writes no element, if there is one. */
  const throwIdle = (launch: ScatterLaunch, read: ReadIndex): Promise<void> =>
    throwBadIndex(launch, [0, sites.length > 0 ? elementCount(launch.points) : 0], read);
  /** Throws the error that status words name, if they name one. */
  const throwRejection = async (
    launch: ScatterLaunch,
    words: Uint8Array | undefined,
    read: ReadIndex | undefined,
  ): Promise<void> => {
    const from = statusIn(words);
    if (words === undefined || from === noneBad) return;
    const { output, points } = launch;
    const duplicate = duplicateIn(words);
    if (duplicate) {
      throw duplicateError(output, points, duplicate);
    }
    if (read) await throwBadIndex(launch, [from, from + 1], read);
    const point = coordinates(from, points);
    throw new GatherError("TC601", `an index for point [${point.join(", ")}] is out of range`, { point });
  };
  /** The words of a status before a launch. */
  const unset = (bytes: number | undefined): Uint8Array<ArrayBuffer> =>
    new Uint8Array(bytes as number).fill(255);

  return {
    async run(arrays: Arrays, sizes) {
      const launch = launchOf(sizes);
      const { bytes, operands, output } = launch;
      const { bytes: given, strings } = bytesOf(launch, arrays);
      if (plan.inPlace) checkOverlap(launch, arrays);
      const read = readingBytes(given);
      const done = (written: Uint8Array<ArrayBuffer>) => {
        const made = outputOf(launch, written, strings);
        const inputs = operands.slice(0, -1);
        const keys = inputs.map(({ key }) => key);
        return {
          outputs: {
            [output.key]: plan.inPlace
              ? writtenOver(entryCalled(arrays, inputs[0] as SizedOperand, keys), made)
              : made,
          },
        };
      };
      if (launch.dispatch[0] === 0) {
        await throwIdle(launch, read);
        return done(plan.inPlace ? (given[0] as Uint8Array).slice() : new Uint8Array(output.bytes));
      }
      const made = resourcesOn(work);
      try {
        const [result, words] = await launchOnce(
          work,
          made,
          pipeline,
          launch,
          () =>
            bindings.map(({ access, role }, k) =>
              access === "uniform"
                ? (launch.uniform as GPUBuffer)
                : made.buffer(
                    bytes[k] as number,
                    storageUsage | copySrcUsage,
                    role === "status" ? unset(bytes[k]) : role ? undefined : given[k],
                  ),
            ),
          buffersRefused,
        );
        await throwRejection(launch, words, read);
        return done(new Uint8Array((result as Uint8Array).slice(0, output.bytes).buffer));
      } finally {
        made.destroy();
      }
    },

    encode(pass, buffers, sizes) {
      const launch = launchOf(sizes);
      const { bytes, operands } = launch;
      const usage = storageUsage | copySrcUsage | copyDstUsage;
      const bound = bindings.map(({ access, role }, k) => {
        if (access === "uniform") return launch.uniform as GPUBuffer;
        const operand = operands[k];
        const size = role === "owner" ? (plan.ownerBytes ?? bytes[k]) : bytes[k];
        return role || operand === undefined
          ? (kept[k] ??= owned.buffer(size as number, usage, unset(size)))
          : bufferFor(
              entryCalled(
                buffers,
                operand,
                operands.map(({ key }) => key),
              ),
              operand.key,
              bytes[k] as number,
            );
      });
      const target = bindings.findIndex(({ access }) => access === "read_write");
      const shared = bound.findIndex((buffer, k) => k !== target && buffer === bound[target]);
      if (shared !== -1) {
        const roles = [operands[target]?.key ?? "", operands[shared]?.key ?? ""];
        throw new GatherError("TC702", `buffers.${roles.join(" and buffers.")} are one buffer`, { roles });
      }
      if (launch.dispatch[0] !== 0) recordLaunch(work, pass, pipeline, launch, bound);
      latest = { launch, bound };
    },

    async check() {
      checkUsable();
      if (latest === undefined) return;
      const { launch, bound } = latest;
      const read: ReadIndex = (operand, table, position) =>
        readIndex(work, bound[table] as GPUBuffer, operand, position, buffersRefused);
      if (launch.dispatch[0] === 0) return throwIdle(launch, read);
      const k = bindings.findIndex(({ role }) => role === "status");
      const status = kept[k];
      if (status === undefined) return;
      const size = launch.bytes[k] as number;
      const words = await readBuffer(work, status, [0, size], buffersRefused, unset(size));
      const readable = sites.every(
        ({ table = -1 }) => !bound[table] || (bound[table].usage & copySrcUsage) !== 0,
      );
      await throwRejection(launch, words, readable ? read : undefined);
    },

    dispose() {
      isDisposed = true;
      owned.destroy();
      latest = undefined;
    },
  };
}
