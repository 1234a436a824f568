/**
 * Outputs without elements: nothing runs, and the index values that no empty dim follows are looked up on the
 * host.
 */
import { pointsAlong } from "../../../ir/access.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { alignUp, elementCount } from "../../../ir/types.js";
import { badIndexIn, readingBytes } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import type { Gather } from "./gpu-gather.js";
import { bytesOf, type HostArray, type Sized } from "./host.js";
import { sizedAt } from "./dynamic-sizes.js";
import type { GpuPlan, ModulePlan, Numbers } from "./plan.js";

/**
 * Throws TC601 for the first index out of range of an empty output. `given`: of the inputs, those that
 * indices are read from.
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
const pointsOf = ({ indexed }: ModulePlan, { output: { elements, extents } }: Sized): readonly number[] =>
  // Index values that follow no output dim, those of a 0-dim tensor, have one point.
  elements > 0 || indexed === undefined ? [0] : pointsAlong(new Set(indexed), extents);

/** Usage of a buffer that is copied from. */
const copySrc = 4;

type Arrays = Readonly<Record<string, HostArray>>;
type Buffers = Readonly<Record<string, GPUBuffer>>;

/** A gather on a device whose output may be empty. */
export class GatherOfAnySize {
  readonly #gather: Gather;
  readonly #plan: GpuPlan;
  /** The latest launch of `encode` without output elements, whose index values nothing has looked up yet. */
  #idle: { readonly sized: Sized; readonly buffers: Buffers } | undefined;

  constructor(gather: Gather, plan: GpuPlan) {
    this.#gather = gather;
    this.#plan = plan;
  }

  async run(inputs: Arrays, sizes?: Numbers): Promise<{ readonly outputs: Arrays }> {
    const result = await this.#gather.run(inputs, sizes);
    const sized = sizedAt(this.#plan, sizes);
    if (sized.output.elements === 0) await lookUpEmpty(this.#plan, sized, bytesOf(sized, inputs).bytes);
    return result;
  }

  encode(pass: GPUComputePassEncoder, buffers: Buffers, sizes?: Numbers): void {
    this.#gather.encode(pass, buffers, sizes);
    const sized = sizedAt(this.#plan, sizes);
    if (sized.output.elements === 0) this.#idle = { sized, buffers };
  }

  async check(): Promise<void> {
    await this.#gather.check();
    const idle = this.#idle;
    this.#idle = undefined;
    if (idle !== undefined && elementCount(pointsOf(this.#plan, idle.sized)) > 0)
      await lookUpEmpty(this.#plan, idle.sized, await this.#contents(idle.sized, idle.buffers));
  }

  /**
   * Returns the contents of the inputs that index values are read from. Throws TC702 for a buffer that cannot
   * be read.
   */
  async #contents(sized: Sized, buffers: Buffers): Promise<readonly Uint8Array[]> {
    const contents: Uint8Array[] = [];
    const keys = sized.operands.map(({ key }) => key);
    for (const { table } of this.#plan.sites) {
      const operand = sized.operands[table];
      if (operand === undefined || contents[table] !== undefined) continue;
      const { key, bytes } = operand;
      const buffer = entryCalled(buffers, operand, keys);
      if (buffer === undefined || (buffer.usage & copySrc) === 0)
        throw new GatherError("TC702", `buffers.${key} needs usage COPY_SRC, to look up its indices`, {
          key,
        });
      contents[table] = await this.#gather.read(buffer, 0, alignUp(bytes, 4));
    }
    return contents;
  }

  dispose(): void {
    this.#gather.dispose();
    this.#idle = undefined;
  }
}
