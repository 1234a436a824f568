/** Adapters that run on a CPU. */
import "../platform.js";

/** Fields of a `GPUAdapterInfo` that identify a software adapter. */
export type AdapterInfo = Partial<
  Pick<GPUAdapterInfo, "architecture" | "description" | "device" | "isFallbackAdapter">
>;

/** True if an adapter runs on a CPU: a fallback adapter, or one with the name of a software renderer. */
export const isSoftwareAdapter = (info: AdapterInfo = {}): boolean =>
  info.isFallbackAdapter === true ||
  /swiftshader|llvmpipe|lavapipe|software|basic render|\bcpu\b/i.test(
    [info.description, info.architecture, info.device].join(" "),
  );
