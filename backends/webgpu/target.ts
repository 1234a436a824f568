/** A device's limits as data, and the target they make. */
import "../platform.js";
import { webgpu, withLimits, type Target } from "../../ir/target.js";
import { limitNames, type WgslLimits } from "../../ir/wgsl-limits.js";

/** Returns the limits of a device on which the planning of kernels depends, as a plain object. */
export function limitsOf(limits: GPUSupportedLimits): WgslLimits {
  return Object.fromEntries(limitNames.map((name) => [name, limits[name]])) as unknown as WgslLimits;
}

/**
 * Costs of the kernels of a software adapter, in nanoseconds. It runs lanes one after the other on a CPU,
 * four at once, so few large workgroups of four lanes, each along a row of its own, and nothing staged: a
 * barrier costs so much that memory of a workgroup, and lanes that wait, do not count.
 */
const onCpu = {
  cores: 16,
  tasksPerCore: 1,
  directElements: 262144,
  lanes: 4,
  laneBytes: 16,
  gmReadBytesPerCycle: 320,
  gmMixedBytesPerCycle: 320,
  loadIssueCycles: 13,
  loadBytesPerCycle: 20,
  storeIssueCycles: 13,
  storeBytesPerCycle: 20,
  gatherRowCycles: 10,
  gatherRepeatCycles: 64,
  scalarCycles: 10,
  firstLevelBytes: 49152,
  secondLevelBytes: 1048576,
  syncCycles: 1_000_000,
  taskCycles: 600,
  launchCycles: 22_000,
  laneStorageBytes: 1048576,
  clearBytesPerCycle: 1048576,
} satisfies Partial<Target>;

/**
 * Returns the `webgpu` target for devices with the given limits. `software`: true for an adapter that runs on
 * a CPU.
 */
export function targetOf(limits: WgslLimits, software = false, name = "webgpu"): Target {
  const fallback = {
    source: "GPUAdapterInfo.isFallbackAdapter; npm run bench:sweep -- --webgpu on SwiftShader",
    kind: "board",
  } as const;
  const title = `WebGPU device with ${limits.maxComputeWorkgroupStorageSize} B of workgroup memory`;
  const target: Target = { ...withLimits(webgpu, limits), name, title };
  if (!software) return target;
  const launch = { ...fallback, source: "npm run bench:webgpu -- --folds on SwiftShader" };
  const measured = Object.keys(onCpu).map((figure) => [
    figure,
    figure === "launchCycles" ? launch : fallback,
  ]);
  return {
    ...target,
    ...onCpu,
    overlaps: false,
    title: `${target.title}, in software`,
    sources: { ...target.sources, ...(Object.fromEntries(measured) as Partial<Target["sources"]>) },
  };
}
