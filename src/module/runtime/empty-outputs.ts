/**
 * Outputs without elements: nothing runs, and the index values that no empty dim follows are looked up on the
 * host.
 */
import { pointsAlong } from "../../../ir/access.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { alignUp, elementCount } from "../../../ir/types.js";
import { badIndexIn, readingBytes } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import { copySrcUsage } from "../../../backends/webgpu/usage.js";
import { readBuffer, type DeviceWork } from "../../../backends/webgpu/work.js";
import type { Gather } from "./gpu-gather.js";
import { buffersRefused } from "./gpu-kernel.js";
import { bytesOf, type Sized } from "./host.js";
import { sizedAt } from "./dynamic-sizes.js";
import type { GpuPlan, ModulePlan } from "./plan.js";

/**
 * Checks the index values of a call whose output has no elements. `given` has the bytes of the inputs.
 * Rejects with a GatherError (TC601) for the first index value out of range.
 */
export async function lookUpEmpty(
  plan: ModulePlan,
  sized: Sized,
  given: readonly Uint8Array[],
): Promise<void> {
  const points = pointsOf(plan, sized);
  const bad = await badIndexIn(plan, sized, [0, elementCount(points)], readingBytes(given), points);
  if (bad !== undefined) throw bad;
}

/**
 * Returns the extents of the points at which an empty output has index values; none where it has elements.
 */
const pointsOf = ({ indexed }: ModulePlan, { output: { elements, type } }: Sized): readonly number[] =>
  // Index values that follow no output dim, those of a 0-dim tensor, have one point.
  elements > 0 || indexed === undefined ? [0] : pointsAlong(new Set(indexed), type.shape);

type Buffers = Readonly<Record<string, GPUBuffer>>;

/**
 * Returns a gather that also accepts sizes for which the output has no elements. An empty output launches no
 * kernel; the index values are checked on the host.
 */
export function gatherOfAnySize(gather: Gather, work: DeviceWork, plan: GpuPlan): Gather {
  /** Latest call of `encode` with an empty output, whose index values are not checked yet. */
  let idle: { readonly sized: Sized; readonly buffers: Buffers } | undefined;

  /**
   * Returns the bytes of the inputs that hold index values. Throws a GatherError (TC702) for a buffer that
   * cannot be read.
   */
  const contentsOf = async (sized: Sized, buffers: Buffers): Promise<readonly Uint8Array[]> => {
    const contents: Uint8Array[] = [];
    const { operands } = sized;
    for (const { table = -1 } of plan.sites) {
      const operand = operands[table];
      if (operand === undefined || contents[table] !== undefined) continue;
      const { key, bytes } = operand;
      const buffer = entryCalled(buffers, operand, operands);
      if (buffer === undefined || (buffer.usage & copySrcUsage) === 0)
        throw new GatherError("TC702", `buffers.${key} needs usage COPY_SRC, to look up its indices`, {
          key,
        });
      contents[table] = await readBuffer(work, buffer, [0, alignUp(bytes, 4)], buffersRefused);
    }
    return contents;
  };

  return {
    async run(inputs, sizes) {
      const result = await gather.run(inputs, sizes);
      const sized = sizedAt(plan, sizes);
      if (sized.output.elements === 0) await lookUpEmpty(plan, sized, bytesOf(sized, inputs).bytes);
      return result;
    },

    encode(pass, buffers, sizes) {
      gather.encode(pass, buffers, sizes);
      const sized = sizedAt(plan, sizes);
      if (sized.output.elements === 0) idle = { sized, buffers };
    },

    async check() {
      await gather.check();
      const latest = idle;
      idle = undefined;
      if (latest !== undefined && elementCount(pointsOf(plan, latest.sized)) > 0)
        await lookUpEmpty(plan, latest.sized, await contentsOf(latest.sized, latest.buffers));
    },

    dispose() {
      gather.dispose();
      idle = undefined;
    },
  };
}
