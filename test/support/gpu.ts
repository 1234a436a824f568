/** The device for tests: one a process, and a loud absence. */
import type { TestContext } from "vitest";
import { asGpu } from "../../bench/as-gpu.js";
import { createRunner, type Runner } from "../../backends/webgpu/index.js";
import { acquireGpu, type NodeGpu, type NodeGpuOptions } from "../../src/device/node.js";

/** Devices stay referenced here as long as the process runs: Dawn crashes it when one is collected. */
const devices = new Map<string, Promise<NodeGpu | undefined>>();
const runners = new WeakMap<NodeGpu, Promise<Runner>>();

/** Undefined, with the reason printed, where there is no device; an error where CI=true, since CI must not skip. */
export function requireGpu(options: NodeGpuOptions = {}): Promise<NodeGpu | undefined> {
  const key = JSON.stringify(options);
  const known = devices.get(key);
  if (known !== undefined) return known;
  const opened = acquireGpu(options).then((found) => {
    if (found.ok) return found.gpu;
    if (process.env["CI"] === "true") throw new Error(`no WebGPU device in CI: ${found.problem.message}`);
    console.warn(`SKIPPED, no WebGPU device: ${found.problem.message}`);
    return undefined;
  });
  devices.set(key, opened);
  return opened;
}

/** A runner on that device, one a process. */
export async function testRunner(options: NodeGpuOptions = {}): Promise<Runner | undefined> {
  const gpu = await requireGpu(options);
  if (gpu === undefined) return undefined;
  const runner = runners.get(gpu) ?? createRunner(gpu.device);
  runners.set(gpu, runner);
  return runner;
}

/** That runner; the test is skipped where there is no device. */
export async function runnerOr(context: TestContext, options: NodeGpuOptions = {}): Promise<Runner> {
  const runner = await testRunner(options);
  if (runner === undefined) context.skip();
  return runner;
}

/** Runners by the device that they share. */
const hardwareRunners = new WeakMap<NodeGpu, Promise<Runner>>();

/** A runner on the device for tests that emits kernels as for a GPU, whatever the device runs on; the test is skipped where there is none. */
export async function hardwareRunnerOr(context: TestContext): Promise<Runner> {
  const gpu = await requireGpu();
  if (gpu === undefined) {
    context.skip();
    throw new Error("a skipped test goes on");
  }
  const runner = hardwareRunners.get(gpu) ?? createRunner(asGpu(gpu.device));
  hardwareRunners.set(gpu, runner);
  return runner;
}
