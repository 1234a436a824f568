/**
 * webgpu: runs kernels on any GPUDevice, in a browser or through Dawn in Node. The only code that touches a device.
 *
 * Pipelines are cached by their text. `run` takes host arrays; `encode` takes buffers that already live on the device
 * and adds one dispatch and nothing else.
 */
import { CompileError, error, RunError } from "../../ir/diagnostic.js";
import type { TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { findGather } from "../../ir/tile.js";
import { alignUp, byteCount, dtypeBytes, InternalError, invariant } from "../../ir/types.js";
import { indexOutOfRange, indexReader, type HostInputs } from "../memory.js";
import { fromHost, toHost, type GatherData, type TensorData } from "../values.js";
import { emitWgsl, type WgslBinding, type WgslKernel, type WgslLimits } from "../wgsl/index.js";
import { limitsOf, targetOf } from "./target.js";

/** What a run needs of a kernel. One for another target is compiled again for the device, through `forTarget`. */
export interface GpuKernel {
  readonly tile: TileFunc;
  readonly forTarget?: (target: Target) => GpuKernel;
}

export interface GpuBuffers {
  readonly data: GPUBuffer;
  readonly indices: GPUBuffer;
  readonly output: GPUBuffer;
  /** 4 bytes, 0xffffffff before the dispatch, for kernels with policy `error`. */
  readonly status?: GPUBuffer;
}

export interface LaunchTime {
  readonly nanoseconds: number;
  /** `timestamp-query`: the device's own clock. `wall clock`: from submission to completion, queueing included. */
  readonly clock: "timestamp-query" | "wall clock";
  readonly runs: number;
  /** Launches that each run took together: implementations round timestamps, and a short launch alone reads as nothing. */
  readonly launches: number;
}

export interface Runner {
  readonly device: GPUDevice;
  readonly limits: WgslLimits;
  /** The target to compile for: the device's limits. */
  readonly target: Target;
  /** Uploads, dispatches once, reads back. Rejects with a RunError (TC601) for an index out of range. */
  run(kernel: GpuKernel, inputs: GatherData): Promise<{ readonly outputs: { readonly output: TensorData } }>;
  /** The same on bytes. */
  runBytes(kernel: GpuKernel, inputs: HostInputs): Promise<Uint8Array>;
  /** One dispatch on device-resident buffers: no copies, no synchronization. */
  encode(pass: GPUComputePassEncoder, kernel: GpuKernel, buffers: GpuBuffers): void;
  /**
   * Reads the status word of launches on these buffers. Rejects with a RunError (TC601) that names the lowest index out of
   * range; nothing to read under other policies than `error`. Launches need no round trip of their own.
   */
  checkStatus(kernel: GpuKernel, buffers: GpuBuffers): Promise<void>;
  /** Median time of one launch on device-resident buffers, in nanoseconds, and the clock that gave it. */
  time(kernel: GpuKernel, buffers: GpuBuffers, runs?: number): Promise<LaunchTime>;
  /** The WGSL and bindings a kernel gets on this device. */
  wgsl(kernel: GpuKernel): WgslKernel;
}

export async function createRunner(device: GPUDevice): Promise<Runner> {
  const lost = await Promise.race([device.lost, Promise.resolve(undefined)]);
  if (lost !== undefined) throw deviceError(`the device is lost: ${lost.message}`);
  return new DeviceRunner(device);
}

const deviceError = (message: string): RunError =>
  new RunError([
    error("TC504", message, { hint: "create a new device and a new runner; host arrays are unharmed" }),
  ]);

class DeviceRunner implements Runner {
  readonly limits: WgslLimits;
  readonly target: Target;
  private readonly kernels = new WeakMap<TileFunc, WgslKernel>();
  /** Programs of kernels for other targets, compiled again for this device. */
  private readonly own = new WeakMap<TileFunc, TileFunc>();
  private readonly pipelines = new Map<string, GPUComputePipeline>();
  private lost: string | undefined;

  constructor(readonly device: GPUDevice) {
    this.limits = limitsOf(device.limits);
    this.target = targetOf(this.limits, device.adapterInfo?.isFallbackAdapter);
    void device.lost.then((info) => {
      this.lost = info.message;
    });
  }

  wgsl(kernel: GpuKernel): WgslKernel {
    const tile = this.tileOf(kernel);
    const known = this.kernels.get(tile);
    if (known !== undefined) return known;
    const emitted = emitWgsl(tile, { limits: this.limits, target: this.target });
    this.kernels.set(tile, emitted);
    return emitted;
  }

  private tileOf(kernel: GpuKernel): TileFunc {
    const known = this.own.get(kernel.tile);
    if (known !== undefined) return known;
    const tile = kernel.forTarget?.(this.target).tile ?? kernel.tile;
    this.own.set(kernel.tile, tile);
    return tile;
  }

  async run(kernel: GpuKernel, inputs: GatherData) {
    const { tile } = kernel;
    const data = toHost("data", tile.data.type, inputs.data);
    const indices = toHost("indices", tile.indices.type, inputs.indices);
    const output = await this.runBytes(kernel, { data, indices });
    return { outputs: { output: fromHost(tile.output.type, output, data.strings) } };
  }

  async runBytes(kernel: GpuKernel, inputs: HostInputs): Promise<Uint8Array> {
    this.checkAlive();
    const wgsl = this.wgsl(kernel);
    const bytes = byteCount(kernel.tile.output.type);
    if (wgsl.dispatch[0] === 0) return new Uint8Array(bytes);
    const { device } = this;
    device.pushErrorScope("out-of-memory");
    device.pushErrorScope("validation");
    const owned: GPUBuffer[] = [];
    try {
      const buffer = (size: number, usage: GPUBufferUsageFlags, contents?: Uint8Array): GPUBuffer => {
        const created = device.createBuffer({ size, usage, mappedAtCreation: contents !== undefined });
        owned.push(created);
        if (contents !== undefined) {
          new Uint8Array(created.getMappedRange()).set(contents);
          created.unmap();
        }
        return created;
      };
      const sizeOf = (role: WgslBinding["role"]): number =>
        wgsl.bindings.find((binding) => binding.role === role)?.bytes ?? 0;
      const usage = GPUBufferUsages;
      const data = buffer(sizeOf("data"), usage.STORAGE, inputs.data.bytes);
      const indices = buffer(sizeOf("indices"), usage.STORAGE, inputs.indices.bytes);
      const output = buffer(sizeOf("output"), usage.STORAGE | usage.COPY_SRC);
      const checked = sizeOf("status") > 0;
      const status = checked
        ? buffer(4, usage.STORAGE | usage.COPY_SRC, new Uint8Array(4).fill(0xff))
        : undefined;
      const statusAt = alignUp(bytes, 4);
      const readback = buffer(statusAt + 4, usage.COPY_DST | usage.MAP_READ);
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      this.encode(pass, kernel, { data, indices, output, ...(status === undefined ? {} : { status }) });
      pass.end();
      encoder.copyBufferToBuffer(output, 0, readback, 0, statusAt);
      if (status !== undefined) encoder.copyBufferToBuffer(status, 0, readback, statusAt, 4);
      device.queue.submit([encoder.finish()]);
      const mapped = readback.mapAsync(mapRead);
      const [validation, memory] = [await device.popErrorScope(), await device.popErrorScope()];
      if (validation !== null)
        throw new InternalError(`WebGPU refused a kernel: ${validation.message}\n${wgsl.code}`);
      if (memory !== null) throw deviceError(`the device is out of memory: ${memory.message}`);
      await mapped;
      const result = new Uint8Array(readback.getMappedRange()).slice();
      readback.unmap();
      const firstBad = checked ? new DataView(result.buffer).getUint32(statusAt, true) : noneBad;
      if (firstBad !== noneBad) {
        const reader = indexReader(inputs.indices.bytes, kernel.tile.indices.type.dtype);
        throw this.outOfRange(kernel, firstBad, reader.exact(firstBad));
      }
      return result.subarray(0, bytes);
    } catch (thrown) {
      this.checkAlive();
      throw thrown;
    } finally {
      for (const created of owned) created.destroy();
    }
  }

  encode(pass: GPUComputePassEncoder, kernel: GpuKernel, buffers: GpuBuffers): void {
    this.checkAlive();
    const wgsl = this.wgsl(kernel);
    const [x, y, z] = wgsl.dispatch;
    if (x === 0) return;
    const pipeline = this.pipeline(wgsl);
    const entries = wgsl.bindings.map(({ binding, role, bytes }) => {
      const buffer = buffers[role];
      if (buffer === undefined) {
        const hint = "kernels with policy error record the first bad index there; pass 4 bytes of 0xff";
        throw new CompileError([error("TC702", `the kernel needs a ${role} buffer of ${bytes} B`, { hint })]);
      }
      return { binding, resource: { buffer, size: bytes } };
    });
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(x, y, z);
  }

  async checkStatus(kernel: GpuKernel, buffers: GpuBuffers): Promise<void> {
    this.checkAlive();
    if (buffers.status === undefined) return;
    const firstBad = new Uint32Array(await this.read(buffers.status, 0, 4))[0] ?? noneBad;
    if (firstBad === noneBad) return;
    const size = dtypeBytes[kernel.tile.indices.type.dtype];
    const bytes = new Uint8Array(await this.read(buffers.indices, firstBad * size, size));
    throw this.outOfRange(kernel, firstBad, indexReader(bytes, kernel.tile.indices.type.dtype).exact(0));
  }

  /** A few bytes of a device-resident buffer; at a multiple of 4. */
  private async read(buffer: GPUBuffer, offset: number, size: number): Promise<ArrayBuffer> {
    const { device } = this;
    const readback = device.createBuffer({
      size,
      usage: GPUBufferUsages.COPY_DST | GPUBufferUsages.MAP_READ,
    });
    const encoder = device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, offset, readback, 0, size);
    device.queue.submit([encoder.finish()]);
    try {
      await readback.mapAsync(mapRead);
      return readback.getMappedRange().slice(0);
    } catch (thrown) {
      this.checkAlive();
      throw thrown;
    } finally {
      readback.destroy();
    }
  }

  private outOfRange(kernel: GpuKernel, position: number, value: bigint): RunError {
    const stmt = findGather(this.tileOf(kernel).body);
    invariant(stmt !== undefined, "a program that found a bad index has a gather");
    const { data, indices } = kernel.tile;
    return indexOutOfRange(stmt.map, data.type, indices.type, position, value);
  }

  async time(kernel: GpuKernel, buffers: GpuBuffers, runs = 9): Promise<LaunchTime> {
    this.checkAlive();
    const { device } = this;
    const usage = GPUBufferUsages;
    const stamps = device.features.has("timestamp-query")
      ? {
          querySet: device.createQuerySet({ type: "timestamp", count: 2 }),
          resolved: device.createBuffer({ size: 16, usage: usage.QUERY_RESOLVE | usage.COPY_SRC }),
        }
      : undefined;
    const clock = stamps === undefined ? "wall clock" : "timestamp-query";
    const times: number[] = [];
    let launches = 1;
    try {
      // Warms up too: the first launch compiles.
      while ((await this.span(kernel, buffers, launches, stamps)) < leastSpan && launches < mostLaunches) {
        launches *= 2;
      }
      for (let run = 0; run < runs; run++) {
        times.push((await this.span(kernel, buffers, launches, stamps)) / launches);
      }
    } finally {
      stamps?.querySet.destroy();
      stamps?.resolved.destroy();
    }
    this.checkAlive();
    times.sort((a, b) => a - b);
    return { nanoseconds: times[Math.floor(times.length / 2)] ?? 0, clock, runs, launches };
  }

  /** Nanoseconds of some launches one after the other, by the device's clock or, without one, by the wall clock. */
  private async span(
    kernel: GpuKernel,
    buffers: GpuBuffers,
    launches: number,
    stamps: { readonly querySet: GPUQuerySet; readonly resolved: GPUBuffer } | undefined,
  ): Promise<number> {
    const { queue } = this.device;
    const encoder = this.device.createCommandEncoder();
    const pass = encoder.beginComputePass(
      stamps === undefined
        ? {}
        : {
            timestampWrites: {
              querySet: stamps.querySet,
              beginningOfPassWriteIndex: 0,
              endOfPassWriteIndex: 1,
            },
          },
    );
    for (let launch = 0; launch < launches; launch++) this.encode(pass, kernel, buffers);
    pass.end();
    if (stamps !== undefined) encoder.resolveQuerySet(stamps.querySet, 0, 2, stamps.resolved, 0);
    const start = performance.now();
    queue.submit([encoder.finish()]);
    await queue.onSubmittedWorkDone();
    if (stamps === undefined) return (performance.now() - start) * 1e6;
    const [begin = 0n, end = 0n] = new BigUint64Array(await this.read(stamps.resolved, 0, 16));
    return Number(end - begin);
  }

  private pipeline(wgsl: WgslKernel): GPUComputePipeline {
    const known = this.pipelines.get(wgsl.code);
    if (known !== undefined) return known;
    const module = this.device.createShaderModule({ code: wgsl.code });
    // Not "auto": that drops a binding that an empty tensor leaves unused.
    const layout = this.device.createBindGroupLayout({
      entries: wgsl.bindings.map(({ binding, access }) => ({
        binding,
        visibility: computeStage,
        buffer: { type: access === "read" ? "read-only-storage" : "storage" },
      })),
    });
    const pipeline = this.device.createComputePipeline({
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: wgsl.entryPoint },
    });
    this.pipelines.set(wgsl.code, pipeline);
    return pipeline;
  }

  private checkAlive(): void {
    if (this.lost !== undefined) throw deviceError(`the device was lost: ${this.lost}`);
  }
}

/** Nanoseconds below which rounded timestamps say too little, and the launches that may be spent to get there. */
const leastSpan = 2e6;
const mostLaunches = 4096;

/** What the status word holds when every index was in range. */
const noneBad = 0xffffffff;

/** The flag values of the specification; the global `GPUBufferUsage` exists in browsers alone. */
const GPUBufferUsages = {
  MAP_READ: 1,
  COPY_SRC: 4,
  COPY_DST: 8,
  STORAGE: 128,
  QUERY_RESOLVE: 512,
} as const;
const mapRead = 1;
const computeStage = 4;
