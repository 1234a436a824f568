/** The device of Dawn that benchmarks measure. */
import { acquireGpu, type NodeGpu } from "../src/device/index.js";

/** Resolves to a WebGPU device of Dawn in this process. Rejects with the reason if there is none. */
export async function openGpu(options?: Parameters<typeof acquireGpu>[0]): Promise<NodeGpu> {
  const found = await acquireGpu(options);
  if (!found.ok) throw new Error(found.problem.message);
  return found.gpu;
}
