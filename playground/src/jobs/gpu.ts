/** The visitor's GPU. A device that is lost is forgotten, and the next call asks for another one. */
import { createRunner, limitsOf, type Runner } from "../../../backends/webgpu/index.js";

/**
 * Result of acquiring a GPU: a runner for kernels and a description of the GPU, or the reason why no GPU is
 * available.
 */
export type Gpu =
  | { readonly ok: true; readonly runner: Runner; readonly description: string }
  | { readonly ok: false; readonly reason: string };

let current: Promise<Gpu> | undefined;

/**
 * Resolves to the visitor's GPU, which later calls reuse. If no GPU is available, the promise resolves to a
 * result with the reason.
 */
export function acquire(): Promise<Gpu> {
  current ??= open().then((gpu) => {
    if (!gpu.ok) current = undefined;
    return gpu;
  });
  return current;
}

/**
 * Requests a WebGPU device from the browser. Resolves to a runner for kernels on the device, or to the reason
 * why no device is available.
 */
async function open(): Promise<Gpu> {
  // Absent where a browser lacks WebGPU, and on pages that are neither on loopback nor https.
  const gpu = navigator.gpu as GPU | undefined;
  if (gpu === undefined)
    return {
      ok: false,
      reason:
        "this browser has no WebGPU on this page: Chrome or Edge 113, Safari 26 or Firefox 141 have it, on https and on loopback",
    };
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" });
  if (adapter === null) return { ok: false, reason: "this browser has WebGPU and finds no GPU for it" };
  const { maxBufferSize } = adapter.limits;
  const device = await adapter.requestDevice({
    requiredLimits: { ...limitsOf(adapter.limits), maxBufferSize },
  });
  void device.lost.then(() => {
    current = undefined;
  });
  const { description, device: name, architecture, vendor } = adapter.info;
  const described = [description, name, `${vendor} ${architecture}`.trim()].find((text) => text !== "");
  return { ok: true, runner: await createRunner(device), description: described ?? "an unnamed GPU" };
}
