/** Adapters that run on a CPU. */
import "../platform.js";

/** Fields of a `GPUAdapterInfo` that tell an adapter in software. */
export type AdapterInfo = Partial<
  Pick<GPUAdapterInfo, "architecture" | "description" | "device" | "isFallbackAdapter">
>;

/**
 * True if an adapter runs on a CPU: it says that it is a fallback adapter, or has the name of a renderer in
 * software. Not every implementation of WebGPU marks such an adapter.
 */
export const isSoftwareAdapter = (info: AdapterInfo = {}): boolean =>
  info.isFallbackAdapter === true ||
  /swiftshader|llvmpipe|lavapipe|software|basic render|\bcpu\b/i.test(
    [info.description, info.architecture, info.device].join(" "),
  );
