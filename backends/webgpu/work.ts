/**
 * Work on a device: pipelines, buffers, launches and what is read back of them. Runners and emitted modules
 * share it; each has its own errors.
 */
import "../platform.js";
import type { WgslBinding } from "../wgsl/index.js";
import { valueIn, type IndexElement } from "../bad-index.js";
import { lifetimeOf, type DeviceLifetime } from "./lifetime.js";
import { scoped, type Refusal } from "./scoped.js";
import { computeStage, copyDstUsage, mapReadUsage } from "./usage.js";

/**
 * Functions that make the error for each kind of device fault. The argument is the device's message, which
 * may be empty.
 */
export type DeviceFaults = Readonly<
  Record<"lost" | Exclude<GPUErrorFilter, "validation">, (message: string) => Error>
>;

/**
 * Function that makes the error for a validation error of the device. The cause may be an argument of the
 * caller or a bug in tilec. `message`: the device's message.
 */
export type AtFault = (message: string) => Error | Promise<Error>;

/**
 * WebGPU device, an observer of the loss of the device, and functions that make the errors for device faults.
 */
export interface DeviceWork {
  readonly device: GPUDevice;
  readonly lifetime: DeviceLifetime;
  readonly faults: DeviceFaults;
}

/**
 * Returns a WebGPU device with an observer of the loss of the device and functions that make the errors for
 * device faults.
 */
export const workOn = (device: GPUDevice, faults: DeviceFaults): DeviceWork => ({
  device,
  lifetime: lifetimeOf(device, faults.lost),
  faults,
});

/**
 * Returns the error for work that the device refused: from `atFault` for a validation error, from `faults`
 * for lack of memory or a driver error.
 */
export const faultOf = (
  { faults }: Pick<DeviceWork, "faults">,
  { kind, message }: Refusal,
  atFault: AtFault,
): Error | Promise<Error> => (kind === "validation" ? atFault : faults[kind])(message);

/**
 * Calls `begin` synchronously and resolves to the result of the started work. Rejects with an error by {@link
 * faultOf} if the device refuses the work, and immediately if the device is lost.
 */
export async function settle<T>(work: DeviceWork, begin: () => Promise<T>, atFault: AtFault): Promise<T> {
  const { value, refusal } = scoped(work.device, begin);
  const [[ended], refused] = await work.lifetime.until(Promise.all([Promise.allSettled([value]), refusal]));
  if (refused !== undefined) throw await faultOf(work, refused, atFault);
  if (ended.status === "rejected") throw ended.reason;
  return ended.value;
}

/**
 * Resolves to the result of `promise`, which a WebGPU call returned. A refused pipeline (a rejection with a
 * `reason`) becomes the error of {@link faultOf}; any other rejection becomes the error for a lost device.
 */
export async function orRefused<T>(
  work: Pick<DeviceWork, "faults">,
  promise: Promise<T>,
  atFault: AtFault,
): Promise<T> {
  try {
    return await promise;
  } catch (thrown) {
    const { reason, message = "" } = thrown as Partial<GPUPipelineError>;
    throw reason === undefined
      ? work.faults.lost(message)
      : await faultOf(work, { kind: reason, message }, atFault);
  }
}

/** Types of buffer bindings, by how a kernel accesses them. */
const bufferTypes = {
  read: "read-only-storage",
  read_write: "storage",
  uniform: "uniform",
} as const satisfies Readonly<Record<WgslBinding["access"], GPUBufferBindingType>>;

/** WGSL text of a kernel, with the entry point, override values and the bindings of group 0. */
export interface KernelText {
  readonly code: string;
  readonly entryPoint: string;
  /** Values of `override` declarations, by name. */
  readonly constants?: Readonly<Record<string, number>>;
  /**
   * Bindings in order. Without `binding`, the number is the position in the list; without `access`, the
   * access is read.
   */
  readonly bindings: readonly Partial<Pick<WgslBinding, "binding" | "access" | "role">>[];
  /** Entry points of the steps that run before the kernel. */
  readonly before?: readonly { readonly entryPoint: string }[];
}

/** Descriptors of pipelines that are not yet created, with the layout of the bind group. */
export interface DescribedPipeline {
  /** One for each step, in order; the last is the kernel's own. */
  readonly descriptors: readonly GPUComputePipelineDescriptor[];
  readonly layout: GPUBindGroupLayout;
}

/**
 * Returns the descriptors of a kernel's compute pipelines, with the bind group layout. Layout and shader
 * module are created on the device; pipelines are not.
 */
export function describePipeline(
  { device }: Pick<DeviceWork, "device">,
  { code, bindings, before = [], ...entry }: KernelText,
): DescribedPipeline {
  // Not "auto": that drops a binding that an empty tensor leaves unused.
  const layout = device.createBindGroupLayout({
    entries: bindings.map(({ access = "read", binding }, k) => ({
      binding: binding ?? k,
      visibility: computeStage,
      buffer: { type: bufferTypes[access] },
    })),
  });
  const module = device.createShaderModule({ code });
  const ofAll = device.createPipelineLayout({ bindGroupLayouts: [layout] });
  const descriptors = [...before, entry].map(({ entryPoint }) => ({
    layout: ofAll,
    compute: { module, ...entry, entryPoint },
  }));
  return { descriptors, layout };
}

/** Creates the pipelines of a kernel asynchronously, one for each descriptor. */
export const pipelinesOf = (
  work: DeviceWork,
  descriptors: readonly GPUComputePipelineDescriptor[],
  atFault: AtFault,
): Promise<readonly GPUComputePipeline[]> =>
  Promise.all(
    descriptors.map((descriptor) =>
      orRefused(work, work.device.createComputePipelineAsync(descriptor), atFault),
    ),
  );

/** Collection of a device's buffers and query sets that are destroyed together. */
export interface Resources {
  track<T extends { destroy(): undefined }>(resource: T): T;
  /**
   * Returns a new buffer of `size` bytes that begins with `contents`. Throws the error for lack of memory.
   */
  buffer(size: number, usage: GPUBufferUsageFlags, contents?: Uint8Array): GPUBuffer;
  /**
   * Records a copy of bytes to the host. Returns a function that reads the bytes once the copy is submitted.
   */
  readback(
    encoder: GPUCommandEncoder,
    from: GPUBuffer,
    offset: number,
    size: number,
  ): () => Promise<Uint8Array<ArrayBuffer>>;
  destroy(): void;
}

/** Returns an empty collection of buffers and query sets on a device, which `destroy` destroys together. */
export function resourcesOn(work: Pick<DeviceWork, "device" | "faults">): Resources {
  const { device, faults } = work;
  const kept: { destroy(): undefined }[] = [];
  const track = <T extends { destroy(): undefined }>(resource: T): T => {
    kept.push(resource);
    return resource;
  };
  const buffer = (size: number, usage: GPUBufferUsageFlags, contents?: Uint8Array): GPUBuffer => {
    const made = track(createBuffer({ size, usage, mappedAtCreation: contents !== undefined }));
    if (contents !== undefined) {
      new Uint8Array(made.getMappedRange()).set(contents);
      made.unmap();
    }
    return made;
  };
  // Memory that is mapped when it is made is taken at once: the specification has it throw a RangeError.
  const createBuffer = (descriptor: GPUBufferDescriptor): GPUBuffer => {
    try {
      return device.createBuffer(descriptor);
    } catch (thrown) {
      const { name, message } = thrown as Error;
      throw name === "RangeError" ? faults["out-of-memory"](message) : thrown;
    }
  };
  return {
    track,
    buffer,
    readback(encoder, from, offset, size) {
      const host = buffer(size, copyDstUsage | mapReadUsage);
      encoder.copyBufferToBuffer(from, offset, host, 0, size);
      return async () => {
        await orRefused(work, host.mapAsync(mapReadUsage), faults.lost);
        return new Uint8Array(host.getMappedRange().slice(0));
      };
    },
    destroy() {
      for (const resource of kept) resource.destroy();
    },
  };
}

/**
 * Compute pipelines on a device, one for each step of a kernel, with the bindings and the bind group layout.
 */
export interface Pipeline extends Pick<DescribedPipeline, "layout">, Pick<KernelText, "bindings"> {
  readonly steps: readonly GPUComputePipeline[];
}

/**
 * Sizes of a launch: numbers of workgroups along x, y and z (`dispatch`), and the bytes of each binding.
 * `before`: dispatches of earlier steps.
 */
export interface LaunchSizes {
  readonly dispatch: readonly [number, number, number];
  readonly before?: readonly Pick<LaunchSizes, "dispatch">[];
  readonly bytes: readonly number[];
}

/**
 * Records `launches` launches of a pipeline in a compute pass. `bound`: one buffer for each binding, in
 * order.
 */
export function recordLaunch(
  { device }: Pick<DeviceWork, "device">,
  pass: GPUComputePassEncoder,
  { steps, layout }: Pipeline,
  { dispatch, before = [], bytes }: LaunchSizes,
  bound: readonly GPUBuffer[],
  launches = 1,
): void {
  const entries = bound.map((buffer, binding) => ({
    binding,
    resource: { buffer, size: bytes[binding] as number },
  }));
  const dispatches = [...before, { dispatch }];
  pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
  for (let launch = 0; launch < launches; launch++)
    steps.forEach((gpu, k) => {
      pass.setPipeline(gpu);
      pass.dispatchWorkgroups(...(dispatches[k] as LaunchSizes).dispatch);
    });
}

/**
 * Launches a pipeline once, and resolves to the contents of the written buffers, in the order of their
 * bindings. The buffer `owner` is left out. `bind`: called synchronously; returns a buffer for each binding.
 */
export const launchOnce = (
  work: DeviceWork,
  made: Resources,
  pipeline: Pipeline,
  launch: LaunchSizes,
  bind: () => readonly GPUBuffer[],
  atFault: AtFault,
): Promise<readonly Uint8Array<ArrayBuffer>[]> =>
  settle(
    work,
    () => {
      const bound = bind();
      const encoder = work.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      recordLaunch(work, pass, pipeline, launch, bound);
      pass.end();
      const reads = bound.flatMap((buffer, k) =>
        pipeline.bindings[k]?.access === "read_write" && pipeline.bindings[k].role !== "owner"
          ? [made.readback(encoder, buffer, 0, launch.bytes[k] as number)]
          : [],
      );
      work.device.queue.submit([encoder.finish()]);
      return Promise.all(reads.map((read) => read()));
    },
    atFault,
  );

/**
 * Resolves to `size` bytes of a buffer, from byte `offset` on; both must be multiples of 4. `after`: bytes to
 * write to the start of the buffer once it is read.
 */
export async function readBuffer(
  work: DeviceWork,
  from: GPUBuffer,
  [offset, size]: readonly [number, number],
  atFault: AtFault,
  after?: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { device } = work;
  const made = resourcesOn(work);
  try {
    return await settle(
      work,
      () => {
        const encoder = device.createCommandEncoder();
        const read = made.readback(encoder, from, offset, size);
        device.queue.submit([encoder.finish()]);
        if (after !== undefined) device.queue.writeBuffer(from, 0, after);
        return read();
      },
      atFault,
    );
  } finally {
    made.destroy();
  }
}

/**
 * Resolves to the index value at `position` in a buffer, as an exact bigint. `position`: index of the
 * element, from 0. `element`: typed array and size of the index values.
 */
export async function readIndex(
  work: DeviceWork,
  from: GPUBuffer,
  element: IndexElement,
  position: number,
  atFault: AtFault,
): Promise<bigint> {
  const byte = (position * element.bits) / 8;
  const start = byte - (byte % 4);
  const bytes = await readBuffer(work, from, [start, Math.max(4, element.bits / 8)], atFault);
  return valueIn(element, bytes, byte - start);
}
