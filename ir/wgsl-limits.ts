/** Limits of WebGPU devices that kernels meet: what rules, kernels, modules and the runner judge by. */
import type { Write } from "./access.js";
import { counted } from "./counted.js";
import { error, type Diagnostic, type DiagnosticData } from "./diagnostic.js";
import type { Span } from "./types.js";

/** Limits that every WebGPU device has (gpuweb specification, section 3.6.2). */
export const defaultLimits = {
  maxBindingsPerBindGroup: 1000,
  maxBufferSize: 268435456,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeWorkgroupsPerDimension: 65535,
  maxStorageBufferBindingSize: 134217728,
  maxStorageBuffersPerShaderStage: 8,
  maxUniformBufferBindingSize: 65536,
  maxUniformBuffersPerShaderStage: 12,
};

/** Limits of a WebGPU device, with the member names of GPUSupportedLimits. */
export type WgslLimits = Readonly<Record<keyof typeof defaultLimits, number>>;

/** The largest buffer that 32 bits address in whole words, in bytes. */
const largestBuffer = 2 ** 32 - 4;

/**
 * Limits of the target `webgpu`: the default limits of WebGPU, but with the largest buffers that 32-bit
 * addresses allow.
 */
export const requestedLimits: WgslLimits = {
  ...defaultLimits,
  maxBufferSize: largestBuffer,
  maxStorageBufferBindingSize: largestBuffer,
};

/** Names of all WebGPU limits that kernels must respect. */
export const limitNames = Object.keys(defaultLimits) as readonly (keyof WgslLimits)[];

/**
 * Returns the WebGPU limits that a kernel exceeds, with the values that the kernel needs. The object is empty
 * if no limit is exceeded.
 */
export const overLimits = (needed: Partial<WgslLimits>, limits: WgslLimits): Partial<WgslLimits> =>
  Object.fromEntries(
    limitNames.flatMap((name) => {
      const value = needed[name] ?? 0;
      return value > limits[name] ? [[name, value] as const] : [];
    }),
  );

/**
 * Formats WebGPU limits as for the flag `--limits`: `maxBufferSize=64,maxStorageBuffersPerShaderStage=10`.
 */
export const formatLimits = (limits: Partial<WgslLimits>): string =>
  Object.entries(limits)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");

/** Number of storage buffers that a WebGPU kernel binds, and a list of the buffers' purposes as text. */
export interface StorageBuffers {
  readonly count: number;
  /** `12 inputs, the output, the status of index errors`. */
  readonly bindings: string;
}

/**
 * True if a kernel must store, for each output element, the point that determines the element. `bytes`: size
 * of an element.
 */
export const needsOwners = ({ combine, duplicates }: Write, bytes: number): boolean =>
  combine === "set" && (duplicates !== "unique" || bytes > 4);

/** Storage buffers that a kernel binds in addition to the inputs. */
export interface OtherBuffers {
  /** False for a scatter that is written in the memory of an input. */
  readonly output: boolean;
  /** True if an error of an index, or a duplicate, may be reported. */
  readonly status: boolean;
  /** True for a scatter that must store, for each output element, the point that determines the element. */
  readonly owner: boolean;
}

/**
 * Returns the number of storage buffers of a WebGPU kernel and a list of the buffers' purposes as text.
 * `inputs`: number of inputs.
 */
export function storageBuffersOf(inputs: number, { output, status, owner }: OtherBuffers): StorageBuffers {
  const bindings = [
    counted(inputs, "input"),
    ...(output ? ["the output"] : []),
    ...(status ? ["the status of index errors"] : []),
    ...(owner ? ["the owners of elements"] : []),
  ];
  return { count: inputs + bindings.length - 1, bindings: bindings.join(", ") };
}

/**
 * Returns the error (TC502) for a WebGPU kernel that binds more storage buffers than a shader stage may have.
 * `limit`: maximum number of storage buffers.
 */
export function tooManyBuffers({ count, bindings }: StorageBuffers, limit: number, span?: Span): Diagnostic {
  const name = "maxStorageBuffersPerShaderStage";
  const message = `the kernel binds ${count} storage buffers (${bindings}), over the device's ${name} of ${limit}`;
  return beyondDevice(message, { [name]: count }, "split the program", { count, limit }, span);
}

/**
 * Returns the error (TC502) for a tensor that exceeds the buffer limits of a WebGPU device; undefined if the
 * tensor fits. `tensor`: name of the tensor, for the message. `bytes`: size of the tensor.
 */
export function tooLargeBuffer(
  tensor: string,
  bytes: number,
  limits: WgslLimits,
  span?: Span,
): Diagnostic | undefined {
  const over = overLimits({ maxStorageBufferBindingSize: bytes, maxBufferSize: bytes }, limits);
  const [name] = Object.keys(over) as (keyof typeof over)[];
  if (name === undefined) return undefined;
  const limit = limits[name];
  const message = `%${tensor} takes ${bytes} B, over the device's ${name} of ${limit} B`;
  return beyondDevice(message, over, "split the tensor", { bytes, limit }, span);
}

/**
 * Returns the error (TC502), with `message`, for a kernel that exceeds limits of a WebGPU device. `needed`:
 * the limits, with the values that the kernel needs. `otherwise`: text of the hint that suggests a remedy
 * other than a different device.
 */
export function beyondDevice(
  message: string,
  needed: Partial<WgslLimits>,
  otherwise: string,
  data: DiagnosticData,
  span?: Span,
): Diagnostic {
  const addressed = Object.values(needed).every((value) => value <= largestBuffer);
  const hint = addressed
    ? `${otherwise}, or take a device with more; to compile for it, --limits ${formatLimits(needed)}`
    : `${otherwise}: 32 bits address ${largestBuffer} B`;
  return error("TC502", message, { span, hint, data });
}
