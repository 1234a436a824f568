/**
 * Modules for WebGPU whose sizes are open, or whose output has no elements. It is built into one expression,
 * which the compiler prints beside the kernel.
 */
import { dispatchOf } from "../../../backends/wgsl/grid.js";
import { gridSizes } from "../../../backends/wgsl/sizes.js";
import { alignUp } from "../../../ir/types.js";
import { GatherOfAnySize } from "./empty-outputs.js";
import { GatherError } from "./gather-error.js";
import { createGather } from "./gpu-gather.js";
import type { Launch } from "./launch.js";
import { sizedAt } from "./open-sizes.js";
import type { Numbers, OpenPlan } from "./plan.js";

export { GatherError };

/** Sizes whose launches are kept; what is evicted lives as long as the passes that it is recorded in. */
const mostKept = 64;

export const create = async (device: GPUDevice, plan: OpenPlan) => {
  const kept = new Map<string, Launch>();
  const gather = await createGather(device, plan, (sizes, uniform) => {
    const key = JSON.stringify(sizes);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const { words, ...launch } = launchAt(plan, sizes);
    const made = words.length === 0 ? launch : { ...launch, uniform: uniform(new Uint8Array(words.buffer)) };
    const [oldest] = kept.keys();
    if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
    kept.set(key, made);
    return made;
  });
  return new GatherOfAnySize(gather, plan);
};

/** `words`: what the uniform buffer holds. */
function launchAt(
  plan: OpenPlan,
  sizes: Numbers,
): Omit<Launch, "uniform"> & { readonly words: Uint32Array<ArrayBuffer> } {
  const sized = sizedAt(plan, sizes);
  const { numbers, operands, output } = sized;
  const trips = plan.trips(numbers);
  const tasks = output.elements === 0 ? 0 : trips.reduce((product, own) => product * own, 1);
  const nest = { loops: trips.map((own) => ({ trips: own })), tasks };
  const { maxComputeWorkgroupsPerDimension: most = 0 } = plan.requiredLimits;
  const dispatch = dispatchOf(nest, plan.folded, most);
  if (dispatch === undefined) {
    const message = `${plan.name} has ${tasks} workgroups, and a dispatch ${most} x ${most}`;
    throw new GatherError("TC502", message, { tasks });
  }
  const told: Numbers = {
    ...numbers,
    [gridSizes.tasks]: tasks,
    [gridSizes.columns]: dispatch[0],
    ...Object.fromEntries(trips.map((own, k) => [gridSizes.trips(k), own])),
  };
  const words = Uint32Array.from(plan.told, (name) => told[name] ?? 0);
  const bytes = plan.bindings.map(({ access, width = 1 }, k) =>
    access === "uniform" ? words.byteLength : Math.max(4 * width, alignUp(operands[k]?.bytes ?? 4, 4)),
  );
  return { ...sized, dispatch, bytes, words };
}
