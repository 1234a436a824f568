/** Buffers and queries of the runner's own, destroyed together. */
import { bufferUsage } from "./buffers.js";
import { orLost, outOfMemory } from "./errors.js";

export class Resources {
  private readonly kept: { destroy(): undefined }[] = [];

  constructor(private readonly device: GPUDevice) {}

  destroy(): void {
    for (const resource of this.kept) resource.destroy();
  }

  /** A buffer of some bytes, which begins with `contents`. Throws a RunError (TC504). */
  buffer(size: number, usage: GPUBufferUsageFlags, contents?: Uint8Array): GPUBuffer {
    const buffer = this.track(
      createBuffer(this.device, { size, usage, mappedAtCreation: contents !== undefined }),
    );
    if (contents !== undefined) {
      new Uint8Array(buffer.getMappedRange()).set(contents);
      buffer.unmap();
    }
    return buffer;
  }

  timestamps(count: number): GPUQuerySet {
    return this.track(this.device.createQuerySet({ type: "timestamp", count }));
  }

  /** Records that bytes are copied to the host. What it returns reads them once the copy is submitted. */
  readback(
    encoder: GPUCommandEncoder,
    from: GPUBuffer,
    offset: number,
    size: number,
  ): () => Promise<Uint8Array> {
    const host = this.buffer(size, bufferUsage.COPY_DST | bufferUsage.MAP_READ);
    encoder.copyBufferToBuffer(from, offset, host, 0, size);
    return async () => {
      await orLost(host.mapAsync(mapRead));
      return new Uint8Array(host.getMappedRange()).slice();
    };
  }

  /** Records that timestamps, in nanoseconds, are copied to the host, and returns as `readback` does. */
  resolved(encoder: GPUCommandEncoder, querySet: GPUQuerySet): () => Promise<BigUint64Array> {
    const size = 8 * querySet.count;
    const resolved = this.buffer(size, bufferUsage.QUERY_RESOLVE | bufferUsage.COPY_SRC);
    encoder.resolveQuerySet(querySet, 0, querySet.count, resolved, 0);
    const read = this.readback(encoder, resolved, 0, size);
    return async () => new BigUint64Array((await read()).buffer);
  }

  private track<T extends { destroy(): undefined }>(resource: T): T {
    this.kept.push(resource);
    return resource;
  }
}

/** Memory that is mapped when it is made is taken at once: the specification has it throw a RangeError. */
function createBuffer(device: GPUDevice, descriptor: GPUBufferDescriptor): GPUBuffer {
  try {
    return device.createBuffer(descriptor);
  } catch (thrown) {
    if (thrown instanceof Error && thrown.name === "RangeError") throw outOfMemory(thrown.message);
    throw thrown;
  }
}

const mapRead = 1;
