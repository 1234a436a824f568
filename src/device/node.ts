/**
 * A GPUDevice in Node, through Dawn (`webgpu` on npm): a real GPU first, else SwiftShader, Chromium's software Vulkan,
 * which `@sparticuz/chromium` ships. Neither package is a dependency of tilec; without them the answer says so.
 */
import "../../backends/platform.js";
import { brotliDecompressSync } from "node:zlib";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { constants, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { oneOf, type Fields } from "../../backends/index.js";
import { throwIfErrors } from "../../ir/index.js";
import { checkOptions } from "../api/check-options.js";

export interface NodeGpu {
  readonly device: GPUDevice;
  /** What the adapter calls itself. */
  readonly description: string;
  /** A CPU that plays a GPU. */
  readonly software: boolean;
}

export type NodeGpuResult =
  { readonly ok: true; readonly gpu: NodeGpu } | { readonly ok: false; readonly reason: string };

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

/** Never throws for want of a device: `reason` says what was tried. */
export async function acquireGpu(options: NodeGpuOptions = {}): Promise<NodeGpuResult> {
  throwIfErrors(checkOptions("acquireGpu", options, gpuFields));
  const dawn = await loadDawn();
  if (dawn === undefined) {
    return { ok: false, reason: "the optional package `webgpu` (Dawn for Node) is not installed" };
  }
  const system = hasVulkanLoader() ? await requestAdapter(dawn, options) : undefined;
  if (system !== undefined && !isSoftware(system)) return open(system, options);
  const prepared = await prepareSwiftShader();
  if (prepared !== undefined) {
    const adapter = await requestAdapter(dawn, options);
    if (adapter !== undefined) return open(adapter, options);
  }
  if (system !== undefined) return open(system, options);
  const swiftShader =
    prepared === undefined
      ? "`@sparticuz/chromium`, which ships SwiftShader, is not installed"
      : "SwiftShader gave no adapter";
  return { ok: false, reason: `no GPU adapter found, and ${swiftShader}` };
}

async function loadDawn(): Promise<DawnModule | undefined> {
  try {
    return await import("webgpu");
  } catch {
    return undefined;
  }
}

async function requestAdapter(dawn: DawnModule, options: NodeGpuOptions): Promise<GPUAdapter | undefined> {
  const toggles = options.toggles ?? [];
  const gpu = dawn.create(toggles.length === 0 ? [] : [`enable-dawn-features=${toggles.join(",")}`]);
  instances.push(gpu);
  return (await gpu.requestAdapter()) ?? undefined;
}

function isSoftware(adapter: GPUAdapter): boolean {
  const { description, architecture, device } = adapter.info;
  return /swiftshader|llvmpipe|software|\bcpu\b/i.test(`${description} ${architecture} ${device}`);
}

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
  return { ok: true, gpu: { device, description, software: isSoftware(adapter) } };
}

let swiftShader: Promise<string | undefined> | undefined;

/** Makes Dawn's Vulkan loader find SwiftShader; the folder it lies in, or undefined when the package is absent. */
function prepareSwiftShader(): Promise<string | undefined> {
  swiftShader ??= unpackSwiftShader().then((folder) => {
    if (folder === undefined) return undefined;
    process.env["VK_ICD_FILENAMES"] = join(folder, "vk_swiftshader_icd.json");
    preload(join(folder, "libvulkan.so.1"));
    return folder;
  });
  return swiftShader;
}

/** Without a loader Dawn would complain on stderr before it finds no adapter. */
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
 * Dawn opens libvulkan.so.1 by its bare name, and the search path is fixed when the process starts. A library of that
 * name that is loaded already is found first. Node refuses the file as an addon, but it stays loaded.
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

async function unpackSwiftShader(): Promise<string | undefined> {
  const require = createRequire(import.meta.url);
  let root: string;
  try {
    root = dirname(dirname(dirname(require.resolve("@sparticuz/chromium"))));
  } catch {
    return undefined;
  }
  const packageRoot = [root, dirname(root)].find((folder) =>
    existsSync(join(folder, "bin", "swiftshader.tar.br")),
  );
  if (packageRoot === undefined || process.platform !== "linux") return undefined;
  const { version } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as {
    version: string;
  };
  const folder = join(tmpdir(), `tilec-swiftshader-${version}-${process.getuid?.() ?? 0}`);
  if (existsSync(join(folder, "vk_swiftshader_icd.json"))) return folder;
  const { extract } = await import("tar");
  mkdirSync(dirname(folder), { recursive: true });
  const fresh = mkdtempSync(`${folder}-`);
  const unpacked = brotliDecompressSync(readFileSync(join(packageRoot, "bin", "swiftshader.tar.br")));
  await new Promise<void>((resolve, reject) => {
    const stream = extract({ cwd: fresh, sync: false });
    stream.on("close", resolve);
    stream.on("error", reject);
    stream.end(unpacked);
  });
  try {
    renameSync(fresh, folder);
  } catch {
    // Another process was first; its files are the same.
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}
