/**
 * Modules for WebGPU that write points, of sizes that are dynamic. It is built into one expression, which the
 * compiler prints beside the kernel.
 */
import { dispatchOf } from "../../../backends/wgsl/grid.js";
import type { Numbers } from "../../../backends/bad-index.js";
import { alignUp } from "../../../ir/types.js";
import { GatherError } from "./gather-error.js";
import type { Gather } from "./gpu-gather.js";
import { createScatter, type ScatterLaunch } from "./gpu-points.js";
import { workOfModule } from "./gpu-kernel.js";
import { keptLaunches } from "./launch.js";
import type { DynamicScatterPlan } from "./plan.js";
import { pointsAt } from "./scatter-points.js";

export { GatherError };

/** Creates the scatter of a WebGPU module with dynamic sizes: an object that runs the kernel. */
export function create(device: GPUDevice, plan: DynamicScatterPlan): Promise<Gather> {
  const work = workOfModule(device);
  return createScatter(
    work,
    plan,
    keptLaunches(work, (sizes) => launchAt(plan, sizes)),
  );
}

/**
 * Returns the launch of a scatter's kernel for given sizes. `words` is the content of the uniform buffer.
 * Throws a GatherError for sizes that the program does not accept (TC107), or for more points than elements
 * where points are unique (TC204).
 */
function launchAt(
  plan: DynamicScatterPlan,
  sizes: Numbers,
): Omit<ScatterLaunch, "uniform"> & { readonly words: Uint32Array<ArrayBuffer> } {
  const sized = pointsAt(plan, sizes);
  const { numbers, operands, output } = sized;
  const { maxComputeWorkgroupsPerDimension: max = 0 } = plan.requiredLimits;
  // The largest sizes fit the device, and no step of others has more workgroups.
  const dispatches = plan.groups(numbers).map((trips) => ({
    dispatch: dispatchOf(
      { loops: [{ trips }], tasks: output.elements && trips },
      trips > max,
      max,
    ) as Dispatch,
  }));
  const words = Uint32Array.from(plan.told, (name) => numbers[name] ?? 0);
  const bytes = plan.bindings.map(({ access, width = 1, bytes: ofSizes }, k) =>
    access === "uniform"
      ? words.byteLength
      : (ofSizes?.(numbers) ?? Math.max(4 * width, alignUp(operands[k]?.bytes ?? 0, 4))),
  );
  const { dispatch } = dispatches.pop() as { readonly dispatch: Dispatch };
  return { ...sized, dispatch, before: dispatches, bytes, words };
}

type Dispatch = ScatterLaunch["dispatch"];
