/** Limits of WebGPU devices that kernels meet: what rules, kernels, modules and the runner judge by. */
import type { Write } from "./access.js";
import { counted } from "./counted.js";
import { error, type Diagnostic, type DiagnosticData } from "./diagnostic.js";
import type { Span } from "./types.js";

/**
 * Limits of a WebGPU device, named as in GPUSupportedLimits. With these values, kernels can be compiled
 * without a device.
 */
export interface WgslLimits {
  readonly maxBindingsPerBindGroup: number;
  readonly maxBufferSize: number;
  readonly maxComputeInvocationsPerWorkgroup: number;
  readonly maxComputeWorkgroupSizeX: number;
  readonly maxComputeWorkgroupSizeY: number;
  readonly maxComputeWorkgroupStorageSize: number;
  readonly maxComputeWorkgroupsPerDimension: number;
  readonly maxStorageBufferBindingSize: number;
  readonly maxStorageBuffersPerShaderStage: number;
  readonly maxUniformBufferBindingSize: number;
  readonly maxUniformBuffersPerShaderStage: number;
}

/** Limits that every WebGPU device has (gpuweb specification, section 3.6.2). */
export const defaultLimits: WgslLimits = {
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

/** The largest buffer that 32 bits address in whole words, in bytes. */
const largestBuffer = 2 ** 32 - 4;

/**
 * Limits of the target `webgpu`: the limits that every device has, but with larger buffers. Buffer sizes are
 * the largest that 32 bits address in whole words. Most adapters offer these sizes; few offer more than the
 * default of any other limit.
 */
export const requestedLimits: WgslLimits = {
  ...defaultLimits,
  maxBufferSize: largestBuffer,
  maxStorageBufferBindingSize: largestBuffer,
};

/** Names of all WebGPU limits that kernels must respect. */
export const limitNames = Object.keys(defaultLimits) as readonly (keyof WgslLimits)[];

/**
 * Returns the WebGPU limits that a kernel exceeds, each with the value that the kernel needs; an empty object
 * if it exceeds none.
 */
export const overLimits = (needed: Partial<WgslLimits>, limits: WgslLimits): Partial<WgslLimits> =>
  Object.fromEntries(
    limitNames.flatMap((name) => {
      const value = needed[name] ?? 0;
      return value > limits[name] ? [[name, value] as const] : [];
    }),
  );

/**
 * Returns WebGPU limits as text in the form of the flag `--limits`:
 * `maxBufferSize=64,maxStorageBuffersPerShaderStage=10`.
 */
export const formatLimits = (limits: Partial<WgslLimits>): string =>
  Object.entries(limits)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");

/** Number of storage buffers that a WebGPU kernel binds, with a text that lists their purposes. */
export interface StorageBuffers {
  readonly count: number;
  /** `12 inputs, the output, the status of index errors`. */
  readonly bindings: string;
}

/**
 * True if a kernel needs to know the point that owns each element. The points of `set` are ordered, or reject
 * duplicates; and elements of several words could be torn by two lanes where a promise is broken. `bytes`:
 * those of an element.
 */
export const needsOwners = ({ combine, duplicates }: Write, bytes: number): boolean =>
  combine === "set" && (duplicates !== "unique" || bytes > 4);

/** Storage buffers that a kernel binds beside its inputs. */
export interface OtherBuffers {
  /** False for a scatter that is written in the memory of an input. */
  readonly output: boolean;
  /** True if an error of an index, or a duplicate, may be reported. */
  readonly status: boolean;
  /** True for a scatter whose elements are owned by points. */
  readonly owner: boolean;
}

/**
 * Returns the number of storage buffers of a WebGPU kernel and their purposes: one for each input, and the
 * others.
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
 * The caller has compared the number with `limit`, the maximum number of storage buffers.
 */
export function tooManyBuffers({ count, bindings }: StorageBuffers, limit: number, span?: Span): Diagnostic {
  const name = "maxStorageBuffersPerShaderStage";
  const message = `the kernel binds ${count} storage buffers (${bindings}), over the device's ${name} of ${limit}`;
  return beyondDevice(message, { [name]: count }, "split the program", { count, limit }, span);
}

/**
 * Returns an error (TC502) if a tensor exceeds the largest buffer or the largest storage buffer binding of a
 * WebGPU device. Undefined if the tensor fits. `bytes`: size of the tensor.
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
 * Returns the error (TC502) for a kernel that exceeds limits of a WebGPU device; the caller has checked this.
 * `needed`: values that the kernel requires of these limits. `otherwise`: a remedy that does not require
 * another device, for the error's hint.
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
