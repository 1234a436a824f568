/**
 * Modules for WebGPU whose sizes are open, or whose output has no elements. It is built into one expression,
 * which the compiler prints beside the kernel.
 */
import { dispatchOf } from "../../../backends/wgsl/grid.js";
import { gridSizes } from "../../../backends/wgsl/sizes.js";
import { alignUp, elementCount } from "../../../ir/types.js";
import { gatherOfAnySize } from "./empty-outputs.js";
import { GatherError } from "./gather-error.js";
import { createGather } from "./gpu-gather.js";
import { workOfModule } from "./gpu-kernel.js";
import { keptLaunches, type Launch } from "./launch.js";
import { sizedAt } from "./dynamic-sizes.js";
import type { Numbers } from "../../../backends/bad-index.js";
import type { DynamicPlan } from "./plan.js";

export { GatherError };

/**
 * Creates the gather of a WebGPU module with dynamic sizes or an empty output: an object that runs the
 * kernel.
 */
export const create = async (device: GPUDevice, plan: DynamicPlan) => {
  const work = workOfModule(device);
  const gather = await createGather(
    work,
    plan,
    keptLaunches(work, (sizes) => launchAt(plan, sizes)),
  );
  return gatherOfAnySize(gather, work, plan);
};

/**
 * Returns the launch of a module's kernel for given sizes. `words` is the content of the uniform buffer.
 * Throws a GatherError for invalid sizes (TC107) or too many workgroups (TC502).
 */
function launchAt(
  plan: DynamicPlan,
  sizes: Numbers,
): Omit<Launch, "uniform"> & { readonly words: Uint32Array<ArrayBuffer> } {
  const sized = sizedAt(plan, sizes);
  const { numbers, operands, output } = sized;
  const trips = plan.trips(numbers);
  const tasks = output.elements === 0 ? 0 : elementCount(trips);
  const nest = { loops: trips.map((count) => ({ trips: count })), tasks };
  const { maxComputeWorkgroupsPerDimension: max = 0 } = plan.requiredLimits;
  const dispatch = dispatchOf(nest, plan.folded, max);
  if (dispatch === undefined) {
    const message = `${plan.name} has ${tasks} workgroups, and a dispatch ${max} x ${max}`;
    throw new GatherError("TC502", message, { tasks });
  }
  const params: Numbers = {
    ...numbers,
    [gridSizes.tasks]: tasks,
    [gridSizes.columns]: dispatch[0],
    ...Object.fromEntries(trips.map((count, k) => [gridSizes.trips(k), count])),
  };
  const words = Uint32Array.from(plan.told, (name) => params[name] ?? 0);
  const bytes = plan.bindings.map(({ access, width = 1 }, k) =>
    access === "uniform" ? words.byteLength : Math.max(4 * width, alignUp(operands[k]?.bytes ?? 4, 4)),
  );
  return { ...sized, dispatch, bytes, words };
}
