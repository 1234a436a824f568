/**
 * A GPUDevice in Node, through Dawn (`webgpu` on npm): a real GPU first, else SwiftShader, Chromium's
 * software Vulkan, which `@sparticuz/chromium` ships. Both packages are optional peers of tilec; without them
 * the answer says so.
 */
import "../../backends/platform.js";
import { constants } from "node:os";
import { isSoftwareAdapter } from "../../backends/webgpu/software.js";
import { oneOf, type Fields } from "../../backends/index.js";
import { error, throwIfErrors, type Diagnostic } from "../../ir/index.js";
import { checkOptions } from "../api/check-options.js";
import { isAbsent, missingPeer } from "../api/missing-peer.js";
import { unpackSwiftShader, type SwiftShader } from "./swift-shader.js";
import { messageOf } from "../../ir/faults.js";

/** WebGPU device opened in Node, with a description. */
export interface NodeGpu {
  readonly device: GPUDevice;
  /** Description that the adapter gives of itself. */
  readonly description: string;
  /** True if a CPU emulates the GPU. */
  readonly software: boolean;
}

/**
 * Result of {@link acquireGpu}: an open WebGPU device, or a diagnostic. Diagnostic codes: TC703 for a missing
 * package, TC503 for any other problem.
 */
export type NodeGpuResult =
  { readonly ok: true; readonly gpu: NodeGpu } | { readonly ok: false; readonly problem: Diagnostic };

/**
 * Options of {@link acquireGpu}: the requested device limits and the toggles of Dawn, the WebGPU
 * implementation.
 */
export interface NodeGpuOptions {
  /** `adapter` (default): every limit the adapter has; `default`: the limits all devices have. */
  readonly limits?: "adapter" | "default";
  /** Dawn toggles such as `disable_robustness`. */
  readonly toggles?: readonly string[];
}

interface DawnModule {
  create(flags: string[]): GPU;
}

/** Dawn frees its instance with the object; a device that outlives it crashes the process. */
const instances: GPU[] = [];

const gpuFields: Fields<NodeGpuOptions> = {
  limits: oneOf(["adapter", "default"]),
  toggles: {
    code: "TC702",
    takes: "a list of toggles",
    holds: (value) => Array.isArray(value) && value.every((toggle) => typeof toggle === "string"),
  },
};

/**
 * Requests the best available WebGPU device: a GPU, or else a software adapter. Resolves to a diagnostic if
 * there is no device. Rejects with a CompileError for invalid options.
 */
export async function acquireGpu(options: NodeGpuOptions = {}): Promise<NodeGpuResult> {
  throwIfErrors(checkOptions("acquireGpu", options, gpuFields));
  const dawn = await loadDawn();
  if ("problem" in dawn) return none(dawn.problem);
  const system = hasVulkanLoader() ? await requestAdapter(dawn, options) : undefined;
  if (system !== undefined && !isSoftwareAdapter(system.info)) return open(system, options);
  if (process.platform !== "linux")
    return system === undefined ? none(noDevice("no GPU adapter found")) : open(system, options);
  const prepared = await prepareSwiftShader();
  const adapter = prepared.status === "ready" ? await requestAdapter(dawn, options) : undefined;
  if (adapter !== undefined) return open(adapter, options);
  if (system !== undefined) return open(system, options);
  switch (prepared.status) {
    case "absent":
      return none(missingPeer("WebGPU without a GPU"));
    case "unusable":
      return none(noDevice(`no GPU adapter found, and ${prepared.reason}`));
    case "ready":
      return none(noDevice("no GPU adapter found, and SwiftShader gave no adapter"));
  }
}

const none = (problem: Diagnostic): NodeGpuResult => ({ ok: false, problem });

const noDevice = (reason: string): Diagnostic =>
  error("TC503", `no WebGPU device: ${reason}`, { hint: "leave webgpu out of --backend, or of backends" });

/** Resolves to the module of Dawn (WebGPU for Node), or to a diagnostic if Dawn cannot be loaded. */
async function loadDawn(): Promise<DawnModule | { readonly problem: Diagnostic }> {
  try {
    return await import("webgpu");
  } catch (thrown) {
    return {
      problem: isAbsent(thrown, "WebGPU in Node")
        ? missingPeer("WebGPU in Node", "WebGPU without a GPU")
        : noDevice(`the package webgpu (Dawn for Node) cannot be loaded: ${messageOf(thrown)}`),
    };
  }
}

async function requestAdapter(dawn: DawnModule, options: NodeGpuOptions): Promise<GPUAdapter | undefined> {
  const toggles = options.toggles ?? [];
  const gpu = dawn.create(toggles.length === 0 ? [] : [`enable-dawn-features=${toggles.join(",")}`]);
  instances.push(gpu);
  return (await gpu.requestAdapter()) ?? undefined;
}

/**
 * Opens a WebGPU device on an adapter, with the limits that the options select. Timestamp queries and f16
 * shaders are requested if the adapter has the features.
 */
async function open(adapter: GPUAdapter, options: NodeGpuOptions): Promise<NodeGpuResult> {
  const wanted: GPUFeatureName[] = ["timestamp-query", "shader-f16"];
  const requiredLimits: Record<string, number> = {};
  if (options.limits !== "default") {
    for (const name of Object.keys(
      Object.getPrototypeOf(adapter.limits) as object,
    ) as (keyof GPUSupportedLimits)[]) {
      const value = adapter.limits[name];
      if (typeof value === "number" && name.startsWith("max")) requiredLimits[name] = value;
    }
  }
  const device = await adapter.requestDevice({
    requiredFeatures: wanted.filter((feature) => adapter.features.has(feature)),
    requiredLimits,
  });
  const { info } = adapter;
  const description = info.description || info.device || info.vendor || "unnamed adapter";
  return { ok: true, gpu: { device, description, software: isSoftwareAdapter(info) } };
}

let swiftShader: Promise<SwiftShader> | undefined;

/**
 * Unpacks SwiftShader, a software GPU, once per process and sets the environment for Dawn. Resolves to the
 * paths of the files, or to the reason why SwiftShader cannot be used.
 */
function prepareSwiftShader(): Promise<SwiftShader> {
  swiftShader ??= unpackSwiftShader().then((driver) => {
    if (driver.status !== "ready") return driver;
    process.env["VK_ICD_FILENAMES"] = driver.driver;
    try {
      preload(driver.loader);
    } catch (thrown) {
      return { status: "unusable", reason: `SwiftShader cannot be loaded: ${messageOf(thrown)}` };
    }
    return driver;
  });
  return swiftShader;
}

/** True if Dawn can run: the Vulkan loader library can be loaded, or the platform is not Linux. */
function hasVulkanLoader(): boolean {
  if (process.platform !== "linux") return true;
  try {
    preload("libvulkan.so.1");
    return true;
  } catch {
    return false;
  }
}

/**
 * Loads a shared library into the process, where Dawn finds the library later. Throws an error if the library
 * cannot be loaded.
 */
function preload(library: string): void {
  const rtldNodelete = 0x1000;
  const { RTLD_NOW, RTLD_GLOBAL } = constants.dlopen;
  try {
    process.dlopen({ exports: {} }, library, RTLD_NOW | RTLD_GLOBAL | rtldNodelete);
  } catch (thrown) {
    if (!(thrown instanceof Error) || !/self-register/.test(thrown.message)) throw thrown;
  }
}
