/** A runner on the WebGPU device of this machine. */
import { RunError } from "../../ir/index.js";
import { createRunner, type Runner, type RunnerOptions } from "../../backends/webgpu/index.js";
import { acquireGpu } from "../device/index.js";

/** Runner on an open WebGPU device. */
export interface DeviceRunner {
  readonly runner: Runner;
  /** Description of the device. */
  readonly description: string;
  /** Closes the device. */
  readonly close: () => void;
}

/**
 * Opens the best available WebGPU device and resolves to its runner. Rejects with a RunError if no device
 * exists (TC503) or a package is missing (TC703).
 */
export async function openRunner(options: RunnerOptions = {}): Promise<DeviceRunner> {
  const gpu = await acquireGpu();
  if (!gpu.ok) throw new RunError([gpu.problem]);
  const { device, description } = gpu.gpu;
  const runner = await createRunner(device, options);
  const close = (): void => {
    device.destroy();
  };
  return { runner, description, close };
}
