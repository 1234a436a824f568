/** The device for tests: one a process, and a loud absence. */
import { createRunner, type Runner } from "../../backends/webgpu/index.js";
import { acquireGpu, type NodeGpuOptions } from "../../src/device/node.js";

const runners = new Map<string, Promise<Runner | undefined>>();

/** Undefined, with the reason printed, where there is no device; an error where CI=true, since CI must not skip. */
export function testRunner(options: NodeGpuOptions = {}): Promise<Runner | undefined> {
  const key = JSON.stringify(options);
  const known = runners.get(key);
  if (known !== undefined) return known;
  const opened = acquireGpu(options).then((found) => {
    if (found.ok) return createRunner(found.gpu.device);
    if (process.env["CI"] === "true") throw new Error(`no WebGPU device in CI: ${found.reason}`);
    console.warn(`SKIPPED, no WebGPU device: ${found.reason}`);
    return undefined;
  });
  runners.set(key, opened);
  return opened;
}
