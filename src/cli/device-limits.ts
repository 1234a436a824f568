/** `--limits`: limits of a WebGPU device, in place of those that its target has. */
import { hintFor } from "../../ir/did-you-mean.js";
import {
  defaultLimits,
  deviceLimits,
  limitNames,
  targetFacts,
  withLimits,
  type Target,
  type WgslLimits,
} from "../../ir/index.js";
import { readText } from "../formats/files.js";
import { UsageError } from "./usage-error.js";

/** Help text for the value of the flag `--limits`. */
export const limitsHelp = "WebGPU limits: default, name=number, or a .json file";

const example = "--limits maxStorageBuffersPerShaderStage=10, --limits device.json, --limits default";

/**
 * Parses the value of `--limits` (`default`, a list `name=value`, or a JSON file) and returns the stated
 * limits. Limits in a file that do not apply to kernels are omitted. Throws a UsageError for an invalid
 * limit, and a CompileError (TC010) for a file that cannot be read.
 */
function parseLimits(text: string): Partial<WgslLimits> {
  if (text.trim() === "default") return defaultLimits;
  const entries = text.includes("=") ? inline(text) : inFile(text);
  const limits = entries.map(([name, value]) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return [name, value] as const;
    throw new UsageError(
      `--limits ${text}: ${name} is ${String(value)}; it must be a whole number, 1 or more`,
      example,
    );
  });
  return Object.fromEntries(limits);
}

type Entry = readonly [name: keyof WgslLimits, value: unknown];

const inline = (text: string): Entry[] =>
  text.split(",").map((entry): Entry => {
    const [written = "", value = "", ...more] = entry.split("=").map((piece) => piece.trim());
    const name = limitNames.find((other) => other === written);
    if (name !== undefined && more.length === 0) return [name, value === "" ? value : Number(value)];
    const hint = hintFor(written, limitNames, `the limits are ${limitNames.join(", ")}`);
    throw new UsageError(`--limits ${text}: ${entry.trim()} is not a limit that kernels depend on`, hint);
  });

/**
 * Returns the WebGPU limits of a JSON file, as pairs of name and value. Throws a UsageError if the file is
 * not JSON or has no limit that applies to kernels.
 */
function inFile(file: string): Entry[] {
  let document: unknown;
  try {
    document = JSON.parse(readText(file));
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    throw new UsageError(`--limits ${file}: not JSON: ${thrown.message}`, example);
  }
  const limits = limitsIn(document);
  const entries = limitNames.flatMap((name): Entry[] => (name in limits ? [[name, limits[name]]] : []));
  if (entries.length === 0)
    throw new UsageError(
      `--limits ${file} has no limit that kernels depend on`,
      `such as ${limitNames[0] ?? ""}`,
    );
  return entries;
}

/** Returns the object of limits in a document. */
function limitsIn(document: unknown): Readonly<Record<string, unknown>> {
  const { devices, limits } = asObject(document);
  const [device] = Array.isArray(devices) ? (devices as readonly unknown[]) : [];
  return asObject(asObject(device)["limits"] ?? limits ?? document);
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/**
 * Returns the target with the limits of `text` (the value of `--limits`); the unchanged target if `text` is
 * undefined. Throws a UsageError for a target that is not a WebGPU device.
 */
export function limitedTo(target: Target, text: string | undefined): Target {
  if (text === undefined) return target;
  if (!targetFacts[target.kind].runsOnWebgpu)
    throw new UsageError(`--limits needs target webgpu, and the target is ${target.name}`, "--target webgpu");
  const limits = { ...deviceLimits(target), maxComputeWorkgroupStorageSize: target.ubBytes };
  return withLimits(target, { ...limits, ...parseLimits(text) });
}
