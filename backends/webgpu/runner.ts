/**
 * webgpu: runs kernels on any GPUDevice, in a browser or through Dawn in Node. The only code that touches a device.
 *
 * Pipelines are cached by their text. `run` takes host arrays; `encode` takes buffers that already live on the device
 * and adds one dispatch and nothing else.
 */
import "../platform.js";
import { CompileError, error, throwIfErrors } from "../../ir/diagnostic.js";
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { entryOf } from "../../ir/entry-of.js";
import { inputsOf, keyOf, outputOf, type DynamicTile, type TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { indexBytes, mayReject } from "../../ir/policy.js";
import { verifyOnce } from "../../ir/verify/verify-once.js";
import { taskOfTile } from "../../ir/task/index.js";
import type { GatherStmt } from "../../ir/tile.js";
import { at, byteCount, elementCount, invariant, type DType } from "../../ir/types.js";
import { BoundedCache } from "../cache.js";
import { checkKernel, checkRunnable } from "../check-kernel.js";
import { emptyOutputSteps } from "../empty-output.js";
import { checkFields, isObject, shownValue, integer, type Fields } from "../fields.js";
import { inSlices } from "../long-run.js";
import { badIndex, indexReader, pointOf, indicesAt, type HostInputs } from "../memory.js";
import { indexSources } from "../index-inputs.js";
import { checkTensors, fromHost, stringsOf, toHosts, type GatherData, type TensorData } from "../values.js";
import {
  emitDynamic,
  emitWgsl,
  kernelAt,
  type DynamicKernel,
  type WgslBinding,
  type WgslKernel,
  type WgslLimits,
  type WgslOptions,
} from "../wgsl/index.js";
import { bufferTypes, bufferUsage, computeStage, requireBuffers, type GpuBuffers } from "./buffers.js";
import { buffersRefused, deviceLost, kernelRefused, orLost, orRefused, refusalError } from "./errors.js";
import { DeviceLifetime } from "./lifetime.js";
import { Resources } from "./resources.js";
import { scoped } from "./scoped.js";
import { settle, type AtFault } from "./settle.js";
import { maxPerAccess, noneBad } from "./status.js";
import { limitsOf, targetOf } from "./target.js";

/** What a run needs of a kernel. One for another target is compiled again for the device, through `forTarget`. */
export interface GpuKernel {
  readonly tile: TileFunc;
  /** The same program compiled for another target; absent for one that runs as it stands. */
  readonly forTarget?: (target: Target) => GpuKernel;
}

/** How long one launch took, in nanoseconds. */
export interface LaunchTime {
  readonly nanoseconds: number;
  /** `timestamp-query`: the device's own clock. `wall clock`: from submission to completion, queueing included. */
  readonly clock: "timestamp-query" | "wall clock";
  readonly runs: number;
  /**
   * Launches that each run took together: implementations round timestamps, and a short launch alone reads as nothing. 0 for
   * an empty output, which is never launched and takes 0 ns.
   */
  readonly launches: number;
}

/** What a runner keeps. */
export interface RunnerOptions {
  /** Pipelines kept for kernels that come again, at least 1; the least recently used makes room. Default 256. */
  readonly pipelines?: number;
}

/**
 * Every call rejects or throws a RunError (TC504) once the device is lost or when it runs out of memory, a CompileError
 * for a kernel that the device has no room for (TC502) and for arguments that do not fit the kernel (TC702), and an
 * InternalError for a kernel that the device finds invalid.
 */
export interface Runner {
  readonly device: GPUDevice;
  readonly limits: WgslLimits;
  /** The target to compile for: the device's limits. */
  readonly target: Target;
  /**
   * Uploads within the call, dispatches once, reads back; runs may overlap. Rejects with a RunError (TC601) for an index
   * out of range.
   */
  run(kernel: GpuKernel, inputs: GatherData): Promise<{ readonly outputs: { readonly output: TensorData } }>;
  /** The same on bytes. */
  runBytes(kernel: GpuKernel, inputs: HostInputs): Promise<Uint8Array>;
  /**
   * Has a kernel's pipeline made beside the calling thread, which the first run or `encode` of a kernel otherwise holds up for it.
   * They find it once this resolves.
   */
  prepare(kernel: GpuKernel): Promise<void>;
  /**
   * One dispatch on device-resident buffers: no copies, no synchronization. Buffers need the sizes and usages of GpuBuffers;
   * those that are destroyed or another device's are told by the caller's own error scopes.
   */
  encode(pass: GPUComputePassEncoder, kernel: GpuKernel, buffers: GpuBuffers): void;
  /**
   * Reads the status word of launches on these buffers. Rejects with a RunError (TC601) that names the lowest index out of
   * range; nothing to read under other policies than `error`. Launches need no round trip of their own. `status` and
   * `indices` need `COPY_SRC`.
   */
  checkStatus(kernel: GpuKernel, buffers: GpuBuffers): Promise<void>;
  /** Median time of one launch on device-resident buffers over some runs, in nanoseconds, and the clock that gave it. */
  time(kernel: GpuKernel, buffers: GpuBuffers, runs?: number): Promise<LaunchTime>;
  /** The WGSL and bindings a kernel gets on this device. */
  wgsl(kernel: GpuKernel): WgslKernel;
  /**
   * Lets go of the pipelines; the device stays the caller's. Runs under way end, later calls are refused with TC702. It is
   * `Symbol.dispose` too, where the platform has that symbol.
   */
  dispose(): void;
}

const runnerFields: Fields<RunnerOptions> = { pipelines: integer(1) };

/** Rejects with a RunError (TC504) on a lost device, with a CompileError (TC702) for what is no device. */
export async function createRunner(device: GPUDevice, options: RunnerOptions = {}): Promise<Runner> {
  checkDevice(device);
  throwIfErrors(checkFields("createRunner", options, runnerFields));
  const { pipelines = 256 } = options;
  const lost = await Promise.race([device.lost, Promise.resolve(undefined)]);
  if (lost !== undefined) throw deviceLost(lost.message);
  return new DeviceRunner(device, pipelines);
}

function checkDevice(device: unknown): void {
  if (isObject(device) && isObject(device["limits"]) && isObject(device["queue"])) return;
  const hint = "a browser's adapter.requestDevice() gives one, and in Node acquireGpu() of tilec/node";
  throw new CompileError([error("TC702", `the device is ${shownValue(device)}, no GPUDevice`, { hint })]);
}

function checkPass(pass: unknown): void {
  if (isObject(pass) && typeof pass["setPipeline"] === "function") return;
  const hint = "pass what beginComputePass() of a command encoder gives";
  throw new CompileError([
    error("TC702", `the pass is ${shownValue(pass)}, no GPUComputePassEncoder`, { hint }),
  ]);
}

interface Pipeline {
  readonly gpu: GPUComputePipeline;
  /** Why the device refused the kernel, if it did. Never rejects. */
  readonly fault: Promise<Error | undefined>;
}

class DeviceRunner implements Runner {
  readonly limits: WgslLimits;
  readonly target: Target;
  private readonly kernels = new WeakMap<TileFunc, WgslKernel>();
  /** By the program over symbols. */
  private readonly dynamic = new WeakMap<DynamicTile, DynamicKernel>();
  /** What `sizes` binds, by kernel. */
  private readonly sizes = new WeakMap<WgslKernel, GPUBuffer>();
  /** Programs of kernels for other targets, compiled again for this device. */
  private readonly compiled = new WeakMap<TileFunc, TileFunc>();
  /** By their text. One that is evicted lives as long as the work it is part of. */
  private readonly pipelines: BoundedCache<string, Pipeline>;
  /** Pipelines that are being made, by their text. */
  private readonly preparing = new Map<string, Promise<void>>();
  private readonly lifetime: DeviceLifetime;
  private disposed = false;

  constructor(
    readonly device: GPUDevice,
    pipelines: number,
  ) {
    this.limits = limitsOf(device.limits);
    this.target = targetOf(this.limits, device.adapterInfo?.isFallbackAdapter);
    this.pipelines = new BoundedCache({ limit: pipelines });
    this.lifetime = new DeviceLifetime(device, deviceLost);
    // Not every platform has the symbol, nor every `lib` its type.
    const { dispose } = Symbol as { readonly dispose?: symbol };
    if (dispose !== undefined) Object.defineProperty(this, dispose, { value: this.dispose.bind(this) });
  }

  dispose(): void {
    this.disposed = true;
    this.pipelines.clear();
  }

  wgsl(kernel: GpuKernel): WgslKernel {
    this.checkNotDisposed();
    return this.emitted(this.tileOf(kernel));
  }

  private emitted(tile: TileFunc): WgslKernel {
    const cached = this.kernels.get(tile);
    if (cached !== undefined) return cached;
    const form = dynamicFormOf(tile);
    const shared = form === undefined ? undefined : this.dynamicKernel(form.program);
    const emitted = shared === undefined ? emitWgsl(tile, this.wgslOptions) : kernelAt(shared, tile);
    this.kernels.set(tile, emitted);
    return emitted;
  }

  /** What all sizes of a program share. */
  private dynamicKernel(program: DynamicTile): DynamicKernel | undefined {
    const cached = this.dynamic.get(program);
    if (cached !== undefined) return cached;
    const kernel = emitDynamic(program, this.wgslOptions);
    if (kernel !== undefined) this.dynamic.set(program, kernel);
    return kernel;
  }

  private get wgslOptions(): WgslOptions {
    return { limits: this.limits, target: this.target };
  }

  private tileOf(kernel: GpuKernel): TileFunc {
    checkKernel(kernel, ["tile"]);
    const cached = this.compiled.get(kernel.tile);
    if (cached !== undefined) return cached;
    const tile = kernel.forTarget?.(this.target).tile ?? kernel.tile;
    verifyOnce(tile, this.target);
    this.compiled.set(kernel.tile, tile);
    return tile;
  }

  async run(kernel: GpuKernel, inputs: GatherData) {
    this.checkUsable(kernel);
    const { tile } = kernel;
    const hosts = toHosts(tile, inputs);
    const output = await this.runBytes(kernel, hosts);
    return { outputs: { output: fromHost(outputOf(tile).type, output, stringsOf(hosts)) } };
  }

  async runBytes(kernel: GpuKernel, inputs: HostInputs): Promise<Uint8Array> {
    this.checkUsable(kernel);
    const tile = this.tileOf(kernel);
    const wgsl = this.emitted(tile);
    checkTensors(tile, inputs);
    const bytes = byteCount(outputOf(tile).type);
    if (isEmpty(wgsl)) {
      await inSlices(emptyOutputSteps(tile, inputs), () => 0, 0, {});
      return new Uint8Array(bytes);
    }
    const pipeline = this.pipeline(wgsl);
    const { device } = this;
    const resources = new Resources(device);
    const contents = ({ role, key }: WgslBinding): Uint8Array | undefined => {
      if (role === "status") return new Uint8Array(4).fill(0xff);
      return role === "output" ? undefined : entryOf(inputs, key)?.bytes;
    };
    const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC;
    const bound: GPUBuffer[] = [];
    try {
      const [output, status] = await this.settle(
        () => {
          for (const binding of ofCaller(wgsl))
            bound.push(resources.buffer(binding.bytes, usage, contents(binding)));
          const encoder = device.createCommandEncoder();
          const pass = encoder.beginComputePass();
          this.record(pass, wgsl, pipeline, bound, 1);
          pass.end();
          const written = wgsl.bindings.flatMap((binding, k) =>
            binding.access !== "read_write"
              ? []
              : [resources.readback(encoder, at(bound, k), 0, binding.bytes)],
          );
          device.queue.submit([encoder.finish()]);
          return Promise.all(written.map((read) => read()));
        },
        async (message) => (await pipeline.fault) ?? kernelRefused(message, wgsl.code),
      );
      invariant(output !== undefined, "a kernel writes its output");
      const firstBad = status === undefined ? noneBad : firstWord(status);
      if (firstBad === noneBad) return output.subarray(0, bytes);
      throw await this.outOfRange(tile, firstBad, boundBy(ofCaller(wgsl), bound));
    } finally {
      resources.destroy();
    }
  }

  async prepare(kernel: GpuKernel): Promise<void> {
    this.checkUsable(kernel);
    const wgsl = this.wgsl(kernel);
    if (isEmpty(wgsl) || this.pipelines.get(wgsl.code) !== undefined) return;
    const begun = this.preparing.get(wgsl.code);
    if (begun !== undefined) return begun;
    const made = this.makeConcurrently(wgsl).finally(() => this.preparing.delete(wgsl.code));
    this.preparing.set(wgsl.code, made);
    return made;
  }

  private async makeConcurrently(wgsl: WgslKernel): Promise<void> {
    const { device } = this;
    const atFault = (message: string): Error => kernelRefused(message, wgsl.code);
    const gpu = await this.settle(
      () => orRefused(device.createComputePipelineAsync(this.described(wgsl)), atFault),
      atFault,
    );
    if (!this.disposed) this.pipelines.set(wgsl.code, { gpu, fault: Promise.resolve(undefined) });
  }

  encode(pass: GPUComputePassEncoder, kernel: GpuKernel, buffers: GpuBuffers): void {
    this.checkUsable(kernel);
    const wgsl = this.wgsl(kernel);
    if (isEmpty(wgsl)) return;
    checkPass(pass);
    const bound = requireBuffers(buffers, ofCaller(wgsl), "STORAGE");
    this.record(pass, wgsl, this.pipeline(wgsl), bound, 1);
  }

  private record(
    pass: GPUComputePassEncoder,
    wgsl: WgslKernel,
    { gpu }: Pipeline,
    bound: readonly GPUBuffer[],
    launches: number,
  ): void {
    const entries = wgsl.bindings.map((binding, k) => ({
      binding: binding.binding,
      resource: {
        buffer: binding.access === "uniform" ? this.sizesOf(wgsl, binding) : at(bound, k),
        size: binding.bytes,
      },
    }));
    pass.setPipeline(gpu);
    pass.setBindGroup(0, this.device.createBindGroup({ layout: gpu.getBindGroupLayout(0), entries }));
    for (let launch = 0; launch < launches; launch++) pass.dispatchWorkgroups(...wgsl.dispatch);
  }

  /** A few bytes, which live as long as the kernel: passes that the caller has not submitted yet read them. */
  private sizesOf(wgsl: WgslKernel, { bytes, values = [] }: WgslBinding): GPUBuffer {
    const cached = this.sizes.get(wgsl);
    if (cached !== undefined) return cached;
    const contents = new Uint8Array(Uint32Array.from(values).buffer);
    const buffer = new Resources(this.device).buffer(bytes, bufferUsage.UNIFORM, contents);
    this.sizes.set(wgsl, buffer);
    return buffer;
  }

  async checkStatus(kernel: GpuKernel, buffers: GpuBuffers): Promise<void> {
    this.checkUsable(kernel);
    const tile = this.tileOf(kernel);
    const wgsl = this.emitted(tile);
    const keys = new Set(indexSources(tile).map(keyOf));
    const status = ofCaller(wgsl).find(({ role }) => role === "status");
    const indices = ofCaller(wgsl).filter(({ role, key }) => role !== "status" && keys.has(key));
    if (isEmpty(wgsl)) return this.checkEmpty(tile, indices, buffers);
    if (status === undefined) return;
    const checked = [status, ...indices];
    const bound = requireBuffers(buffers, checked, "COPY_SRC");
    const bufferOf = boundBy(checked, bound);
    const element = firstWord(await this.read(bufferOf(status.key), 0, 4));
    if (element === noneBad) return;
    throw element < elementCount(outputOf(tile).type.shape)
      ? await this.outOfRange(tile, element, bufferOf)
      : staleStatus(element, "which the output does not have");
  }

  /** Looks up the index values of an output without elements, for which nothing is launched. */
  private async checkEmpty(
    tile: TileFunc,
    indices: readonly WgslBinding[],
    buffers: GpuBuffers,
  ): Promise<void> {
    const map = taskOfTile(tile).gather?.stmt.map;
    if (map === undefined || !mayReject(map)) return;
    const bound = requireBuffers(buffers, indices, "COPY_SRC");
    const read = await Promise.all(
      indices.map(async ({ key, bytes }, k) => [key, await this.read(at(bound, k), 0, bytes)] as const),
    );
    const contents = new Map<string, Uint8Array>(read);
    const inputs = inputsOf(tile).flatMap((operand) => {
      const bytes = contents.get(keyOf(operand))?.subarray(0, byteCount(operand.type));
      return bytes === undefined ? [] : [[keyOf(operand), { type: operand.type, bytes }] as const];
    });
    await inSlices(emptyOutputSteps(tile, Object.fromEntries(inputs)), () => 0, 0, {});
  }

  /**
   * What an access from an output element on was reported for: of its first element that has one, the first index that its policy
   * rejects.
   */
  private async outOfRange(
    tile: TileFunc,
    from: number,
    bufferOf: (key: string) => GPUBuffer,
  ): Promise<Error> {
    const { map } = gatherOf(tile);
    const sizes = new Map<string, bigint>();
    const end = Math.min(from + maxPerAccess, elementCount(outputOf(tile).type.shape));
    for (let element = from; element < end; element++) {
      const walk = indicesAt({ map, operands: tile.operands, tile }, pointOf(tile, element));
      let step = walk.next();
      while (step.done !== true) {
        const { table, position } = step.value;
        const key = `${table.name} ${position}`;
        const value =
          sizes.get(key) ?? (await this.indexAt(bufferOf(keyOf(table)), table.type.dtype, position));
        sizes.set(key, value);
        step = walk.next(value);
      }
      const bad = step.value.find(({ rejected }) => rejected);
      if (bad !== undefined) return badIndex(bad);
    }
    return staleStatus(from);
  }

  private async indexAt(buffer: GPUBuffer, dtype: DType, position: number): Promise<bigint> {
    const size = indexBytes(dtype);
    const read = Math.max(4, size);
    const offset = Math.floor((position * size) / read) * read;
    return indexReader(await this.read(buffer, offset, read), dtype).exact(position - offset / size);
  }

  /** A few bytes of a device-resident buffer, at a multiple of 4. */
  private async read(buffer: GPUBuffer, offset: number, size: number): Promise<Uint8Array> {
    const { device } = this;
    const resources = new Resources(device);
    try {
      return await this.settle(() => {
        const encoder = device.createCommandEncoder();
        const read = resources.readback(encoder, buffer, offset, size);
        device.queue.submit([encoder.finish()]);
        return read();
      }, buffersRefused);
    } finally {
      resources.destroy();
    }
  }

  async time(kernel: GpuKernel, buffers: GpuBuffers, runs = 9): Promise<LaunchTime> {
    this.checkUsable(kernel);
    throwIfErrors(checkFields("time", { runs }, { runs: integer(1) }));
    const clock = this.device.features.has("timestamp-query") ? "timestamp-query" : "wall clock";
    const wgsl = this.wgsl(kernel);
    if (isEmpty(wgsl)) return { nanoseconds: 0, clock, runs, launches: 0 };
    const bound = requireBuffers(buffers, ofCaller(wgsl), "STORAGE");
    const pipeline = this.pipeline(wgsl);
    const span = (launches: number): Promise<number> =>
      this.span(clock, pipeline, (pass) => {
        this.record(pass, wgsl, pipeline, bound, launches);
      });
    let launches = 1;
    // Warms up too: the first launch compiles.
    while ((await span(launches)) < leastSpan && launches < maxLaunches) launches *= 2;
    const times: number[] = [];
    for (let run = 0; run < runs; run++) times.push((await span(launches)) / launches);
    times.sort((a, b) => a - b);
    return { nanoseconds: at(times, Math.floor(runs / 2)), clock, runs, launches };
  }

  /** Nanoseconds that a pass takes. */
  private async span(
    clock: LaunchTime["clock"],
    { fault }: Pipeline,
    fill: (pass: GPUComputePassEncoder) => void,
  ): Promise<number> {
    const { device } = this;
    const resources = new Resources(device);
    try {
      return await this.settle(
        () => {
          const querySet = clock === "wall clock" ? undefined : resources.timestamps(2);
          const encoder = device.createCommandEncoder();
          const pass = encoder.beginComputePass(
            querySet === undefined
              ? {}
              : { timestampWrites: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } },
          );
          fill(pass);
          pass.end();
          const stamps = querySet === undefined ? undefined : resources.resolved(encoder, querySet);
          const start = performance.now();
          device.queue.submit([encoder.finish()]);
          return stamps === undefined
            ? orLost(device.queue.onSubmittedWorkDone()).then(() => (performance.now() - start) * 1e6)
            : stamps().then(([begin = 0n, end = 0n]) => Number(end - begin));
        },
        async (message) => (await fault) ?? buffersRefused(message),
      );
    } finally {
      resources.destroy();
    }
  }

  private settle<T>(begin: () => Promise<T>, atFault: AtFault): Promise<T> {
    return settle(this.device, this.lifetime, begin, atFault);
  }

  private pipeline(wgsl: WgslKernel): Pipeline {
    const cached = this.pipelines.get(wgsl.code);
    if (cached !== undefined) return cached;
    const { value: gpu, refusal } = scoped(this.device, () =>
      this.device.createComputePipeline(this.described(wgsl)),
    );
    const fault = refusal.then((refused) => {
      if (refused === undefined) return undefined;
      this.pipelines.take(wgsl.code);
      return refusalError(refused, (message) => kernelRefused(message, wgsl.code));
    });
    const pipeline = { gpu, fault };
    this.pipelines.set(wgsl.code, pipeline);
    return pipeline;
  }

  private described(wgsl: WgslKernel): GPUComputePipelineDescriptor {
    const module = this.device.createShaderModule({ code: wgsl.code });
    // Not "auto": that drops a binding that an empty tensor leaves unused.
    const layout = this.device.createBindGroupLayout({
      entries: wgsl.bindings.map(({ binding, access }) => ({
        binding,
        visibility: computeStage,
        buffer: { type: bufferTypes[access] },
      })),
    });
    return {
      layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: wgsl.entryPoint },
    };
  }

  private checkUsable(kernel: GpuKernel): void {
    this.checkNotDisposed();
    this.lifetime.check();
    checkRunnable(kernel, ["tile"]);
  }

  private checkNotDisposed(): void {
    if (!this.disposed) return;
    const hint = "make another with `await createRunner(device)`; the device was left as it is";
    throw new CompileError([error("TC702", "the runner was disposed of", { hint })]);
  }
}

/** Returns the buffers of some bindings by the keys of these. */
function boundBy(
  bindings: readonly WgslBinding[],
  buffers: readonly GPUBuffer[],
): (key: string) => GPUBuffer {
  const byKey = new Map(bindings.map(({ key }, k) => [key, at(buffers, k)]));
  return (key) => {
    const buffer = byKey.get(key);
    invariant(buffer !== undefined, `a kernel binds ${key}`);
    return buffer;
  };
}

/** The buffers that are not the runner's own. */
const ofCaller = ({ bindings }: WgslKernel): readonly WgslBinding[] =>
  bindings.filter(({ access }) => access !== "uniform");

/** Nothing is written, so nothing is launched. */
const isEmpty = ({ dispatch }: WgslKernel): boolean => dispatch[0] === 0;

const firstWord = (bytes: Uint8Array): number =>
  new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);

function gatherOf(tile: TileFunc): GatherStmt {
  const stmt = taskOfTile(tile).gather?.stmt;
  invariant(stmt !== undefined, "a program that found a bad index has a gather");
  return stmt;
}

function staleStatus(element: number, why = "whose indices are in range"): CompileError {
  return new CompileError([
    error("TC702", `the status word names output element ${element}, ${why}: no launch wrote that`, {
      hint: "write 0xffffffff to it before the launch, and leave it and the indices alone until checkStatus ends",
      data: { element },
    }),
  ]);
}

/** Nanoseconds below which rounded timestamps say too little, and the launches that may be spent to get there. */
const leastSpan = 2e6;
const maxLaunches = 4096;
