/**
 * Modules for WebGPU that write points: in memory of their own, or in that of an input. It is built into one
 * expression, which the compiler prints beside the kernel.
 */
import { coordinates } from "../../../backends/memory.js";
import { duplicateIn, noneBad, statusIn } from "../../../backends/webgpu/status.js";
import { copyDstUsage, copySrcUsage, storageUsage } from "../../../backends/webgpu/usage.js";
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
import { bytesOf, outputOf, sizedWith, type HostArray, type SizedOperand } from "./host.js";
import type { GpuScatterPlan } from "./plan.js";
import { badPointIn, duplicateError, writtenOver } from "./scatter-points.js";

export { GatherError };

type Arrays = Readonly<Record<string, HostArray>>;

/**
 * Resolves to the object that runs the scatter of a WebGPU module: a {@link Gather}, as for all modules.
 * Rejects with a GatherError if the device is lost (TC504), or if a device limit is below the limit that the
 * kernel requires (TC502).
 */
export const create = async (device: GPUDevice, plan: GpuScatterPlan): Promise<Gather> => {
  const work = workOfModule(device);
  const pipeline = await createPipeline(work, plan);
  const owned = resourcesOn(work);
  const { bindings, points, dispatch, before, bytes, sites } = plan;
  const sized = sizedWith(plan, {});
  const { operands, output } = sized;
  const inputs = operands.slice(0, -1);
  const keys = inputs.map(({ key }) => key);
  const isIdle = dispatch[0] === 0;
  const launch = { dispatch, before, bytes };
  /** Buffers of the status words and the owners, for launches of `encode`. */
  const kept: GPUBuffer[] = [];
  /** Buffers of the latest launch of `encode`. */
  let latest: readonly GPUBuffer[] | undefined;
  let isDisposed = false;

  const checkUsable = (sizes: object = {}): void => {
    if (isDisposed) throw new GatherError("TC702", `${plan.name} was disposed of`);
    work.lifetime.check();
    const [given] = Object.keys(sizes);
    if (given !== undefined) throw new GatherError("TC107", `${plan.name} has no size ${given}`, { given });
  };
  /** Throws the error for the first bad index of the points of a range, if there is one. */
  const throwBadIndex = async (from: number, to: number, read: ReadIndex): Promise<void> => {
    const bad = await badPointIn(plan, sized, [from, to], read);
    if (bad) throw bad;
  };
  /** Throws the error that status words name, if they name one. */
  const throwRejection = async (
    words: Uint8Array | undefined,
    read: ReadIndex | undefined,
  ): Promise<void> => {
    const from = statusIn(words);
    if (words === undefined || from === noneBad) return;
    const duplicate = duplicateIn(words);
    if (duplicate) {
      throw duplicateError(output, points, duplicate);
    }
    if (read) await throwBadIndex(from, from + 1, read);
    const point = coordinates(from, points);
    throw new GatherError("TC601", `an index for point [${point.join(", ")}] is out of range`, { point });
  };
  /** The words of a status before a launch: `bytes` of them. */
  const unset = (k: number): Uint8Array => new Uint8Array(bytes[k] as number).fill(255);

  return {
    async run(arrays: Arrays, sizes) {
      checkUsable(sizes);
      const { bytes: given, strings } = bytesOf(sized, arrays);
      if (isIdle) await throwBadIndex(0, sites.length > 0 ? elementCount(points) : 0, readingBytes(given));
      const done = (written: Uint8Array<ArrayBuffer>) => {
        const made = outputOf(sized, written, strings);
        return {
          outputs: {
            [output.key]: plan.inPlace
              ? writtenOver(entryCalled(arrays, inputs[0] as SizedOperand, keys), made)
              : made,
          },
        };
      };
      if (isIdle) return done(plan.inPlace ? (given[0] as Uint8Array).slice() : new Uint8Array(output.bytes));
      const made = resourcesOn(work);
      try {
        const [result, words] = await launchOnce(
          work,
          made,
          pipeline,
          launch,
          () =>
            bindings.map(({ role }, k) =>
              made.buffer(
                bytes[k] as number,
                storageUsage | copySrcUsage,
                role === "status" ? unset(k) : role ? undefined : given[k],
              ),
            ),
          buffersRefused,
        );
        await throwRejection(words, readingBytes(given));
        return done(new Uint8Array((result as Uint8Array).slice(0, output.bytes).buffer));
      } finally {
        made.destroy();
      }
    },

    encode(pass, buffers, sizes) {
      checkUsable(sizes);
      const usage = storageUsage | copySrcUsage | copyDstUsage;
      const bound = bindings.map(({ role }, k) => {
        const operand = operands[k];
        return role === "status" || role === "owner" || operand === undefined
          ? (kept[k] ??= owned.buffer(bytes[k] as number, usage, unset(k)))
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
      if (!isIdle) recordLaunch(work, pass, pipeline, launch, bound);
      latest = bound;
    },

    async check() {
      checkUsable();
      const bound = latest;
      if (bound === undefined) return;
      const read: ReadIndex = (operand, table, position) =>
        readIndex(work, bound[table] as GPUBuffer, operand, position, buffersRefused);
      if (isIdle) return throwBadIndex(0, sites.length > 0 ? elementCount(points) : 0, read);
      const k = bindings.findIndex(({ role }) => role === "status");
      const status = kept[k];
      if (status === undefined) return;
      const words = await readBuffer(
        work,
        status,
        [0, bytes[k] as number],
        buffersRefused,
        new Uint8Array(unset(k)),
      );
      const readable = sites.every(
        ({ table = -1 }) => !bound[table] || (bound[table].usage & copySrcUsage) !== 0,
      );
      await throwRejection(words, readable ? read : undefined);
    },

    dispose() {
      isDisposed = true;
      owned.destroy();
      latest = undefined;
    },
  };
};
