/**
 * Modules for WebGPU whose sizes are numbers. It is built into one expression, which the compiler prints
 * beside the kernel.
 */
import { GatherError } from "./gather-error.js";
import { createGather } from "./gpu-gather.js";
import { workOfModule } from "./gpu-kernel.js";
import { sizedWith } from "./host.js";
import type { FixedPlan } from "./plan.js";

export { GatherError };

/**
 * Creates the gather of a WebGPU module with static sizes: an object that runs the kernel. A call with a
 * dynamic size fails with a GatherError (TC107).
 */
export const create = (device: GPUDevice, plan: FixedPlan) =>
  createGather(workOfModule(device), plan, (sizes) => {
    const [given] = Object.keys(sizes);
    if (given !== undefined) throw new GatherError("TC107", `${plan.name} has no size ${given}`, { given });
    return { ...plan, ...sizedWith(plan, {}) };
  });
