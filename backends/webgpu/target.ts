/** A device's limits as data, and the target they make. */
import { webgpu, type Target } from "../../ir/target.js";
import { defaultLimits, type WgslLimits } from "../wgsl/index.js";

export function limitsOf(limits: GPUSupportedLimits): WgslLimits {
  const names = Object.keys(defaultLimits) as (keyof WgslLimits)[];
  return Object.fromEntries(names.map((name) => [name, limits[name]])) as unknown as WgslLimits;
}

/** The `webgpu` target with a device's workgroup memory for its unified buffer. */
export function targetOf(limits: WgslLimits, name = "webgpu"): Target {
  const bytes = limits.maxComputeWorkgroupStorageSize;
  const source = { source: "GPUSupportedLimits.maxComputeWorkgroupStorageSize", kind: "device" } as const;
  return {
    ...webgpu,
    name,
    title: `WebGPU device with ${bytes} B of workgroup memory`,
    ubBytes: bytes,
    ubSafeBytes: bytes,
    sources: { ...webgpu.sources, ubBytes: source, ubSafeBytes: source },
  };
}
