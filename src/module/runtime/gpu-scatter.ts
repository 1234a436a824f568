/**
 * Modules for WebGPU that write points, of sizes that are numbers. It is built into one expression, which the
 * compiler prints beside the kernel.
 */
import { GatherError } from "./gather-error.js";
import type { Gather } from "./gpu-gather.js";
import { workOfModule } from "./gpu-kernel.js";
import { createScatter } from "./gpu-points.js";
import { sizedWith } from "./host.js";
import type { GpuScatterPlan } from "./plan.js";

export { GatherError };

/**
 * Creates the scatter of a WebGPU module with static sizes: an object that runs the kernel. A call with a
 * dynamic size fails with a GatherError (TC107).
 */
export function create(device: GPUDevice, plan: GpuScatterPlan): Promise<Gather> {
  const { dispatch, before, bytes, points } = plan;
  const launch = { ...sizedWith(plan, {}), dispatch, before, bytes, points: points({}) };
  return createScatter(workOfModule(device), plan, (sizes) => {
    const [given] = Object.keys(sizes);
    if (given !== undefined) throw new GatherError("TC107", `${plan.name} has no size ${given}`, { given });
    return launch;
  });
}
