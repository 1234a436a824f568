/** A device's limits as data, and the target they make. */
import "../platform.js";
import { webgpu, type Target } from "../../ir/target.js";
import { defaultLimits, type WgslLimits } from "../wgsl/index.js";

export function limitsOf(limits: GPUSupportedLimits): WgslLimits {
  const names = Object.keys(defaultLimits) as (keyof WgslLimits)[];
  return Object.fromEntries(names.map((name) => [name, limits[name]])) as unknown as WgslLimits;
}

/**
 * The `webgpu` target with a device's workgroup memory for its unified buffer. A software adapter runs lanes one after
 * the other on a CPU: few large workgroups, each lane along a row of its own.
 */
export function targetOf(limits: WgslLimits, software = false, name = "webgpu"): Target {
  const bytes = limits.maxComputeWorkgroupStorageSize;
  const device = (source: string) => ({ source, kind: "device" }) as const;
  const storage = device("GPUSupportedLimits.maxComputeWorkgroupStorageSize");
  const fallback = device("GPUAdapterInfo.isFallbackAdapter, measured on SwiftShader");
  const target: Target = {
    ...webgpu,
    name,
    title: `WebGPU device with ${bytes} B of workgroup memory`,
    ubBytes: bytes,
    ubSafeBytes: bytes,
    sources: { ...webgpu.sources, ubBytes: storage, ubSafeBytes: storage },
  };
  if (!software) return target;
  return {
    ...target,
    title: `${target.title}, in software`,
    directElements: 65536,
    lanes: 16,
    laneBytes: 16,
    sources: { ...target.sources, directElements: fallback, lanes: fallback, laneBytes: fallback },
  };
}
