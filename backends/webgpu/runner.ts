/**
 * webgpu: runs kernels on any GPUDevice, in a browser or through Dawn in Node. The only code that touches a
 * device.
 *
 * Pipelines are cached by their text. `run` takes host arrays; `encode` takes buffers that already live on
 * the device and adds one dispatch and nothing else.
 */
import "../platform.js";
import { derivedOnce } from "../../ir/derived-once.js";
import { CompileError, error, throwIfErrors } from "../../ir/diagnostic.js";
import { dynamicFormOf } from "../../ir/symbols/dynamic.js";
import { entryOf } from "../../ir/entry-of.js";
import { keyOf, outputOf, inoutOf, type DynamicTile, type TileFunc } from "../../ir/func.js";
import type { Target } from "../../ir/target.js";
import { isScatter, writtenIndices } from "../../ir/access.js";
import { mayReject } from "../../ir/policy.js";
import { verifyOnce } from "../../ir/verify/verify-once.js";
import { taskOfTile } from "../../ir/task/index.js";
import { hasScatter } from "../../ir/tile.js";
import { alignUp, at, byteCount, elementCount, elementTypes, invariant, type Shape } from "../../ir/types.js";
import { BoundedCache } from "../cache.js";
import { checkKernel, checkRunnable } from "../check-kernel.js";
import { emptyOutputSteps } from "../empty-output.js";
import { checkFields, isObject, shownValue, integer, oneOf, type Fields } from "../fields.js";
import { inSlices } from "../long-run.js";
import { findBadIndex } from "../bad-index.js";
import { checkScatter } from "../check-points.js";
import { scatterMapOf } from "../scatter-map.js";
import { inputTensor, type HostInputs } from "../memory.js";
import { badIndex, duplicateWrite, indicesAt, type MappedOperands } from "../resolved-indices.js";
import { indexSources } from "../index-inputs.js";
import { checkTensors, outputData, toHosts, type GatherData, type TensorData } from "../values.js";
import {
  arithmetics,
  emitDynamic,
  emitWgsl,
  kernelAt,
  type Arithmetic,
  type WgslBinding,
  type WgslKernel,
  type WgslLimits,
  type WgslOptions,
} from "../wgsl/index.js";
import { bufferUsage, requireBuffers, type GpuBuffers } from "./buffers.js";
import { buffersRefused, deviceFaults, deviceLost, kernelRefused } from "./errors.js";
import { scoped } from "./scoped.js";
import { duplicateIn, maxPerAccess, noneBad, statusIn, unwritten } from "./status.js";
import { isSoftwareAdapter } from "./software.js";
import { limitsOf, targetOf } from "./target.js";
import {
  describePipeline,
  faultOf,
  launchOnce,
  orRefused,
  pipelinesOf,
  readBuffer,
  readIndex,
  recordLaunch,
  resourcesOn,
  settle,
  workOn,
  type DeviceWork,
  type LaunchSizes,
  type Pipeline,
  type Resources,
} from "./work.js";

/**
 * Kernel that a runner can execute. `forTarget`: compiles the kernel again for a target; absent if the kernel
 * runs as compiled.
 */
export interface GpuKernel {
  readonly tile: TileFunc;
  /** Returns the program compiled again for `target`; absent for a kernel that runs as compiled. */
  readonly forTarget?: (target: Target) => GpuKernel;
}

/** Measured duration of one launch, in nanoseconds, and the method of measurement. */
export interface LaunchTime {
  readonly nanoseconds: number;
  /**
   * `timestamp-query`: the device's own clock. `wall clock`: from submission to completion, queueing included.
   */
  readonly clock: "timestamp-query" | "wall clock";
  readonly runs: number;
  /**
   * Launches that each run took together: implementations round timestamps, and a short launch alone reads as
   * nothing. 0 for an empty output, which is never launched and takes 0 ns.
   */
  readonly launches: number;
}

/** Options of a runner: the number of cached pipelines, and the arithmetic of f32 values. */
export interface RunnerOptions {
  /**
   * Maximum number of cached pipelines, at least 1; the least recently used pipeline is evicted. Default 256.
   */
  readonly pipelines?: number;
  /**
   * `native`: f32 as the device has it. WGSL fixes neither the direction of rounding, nor subnormals, nor whether a product and a sum are
   * fused, so that its bits are the device's own. Default `proved`: the bits of the reference.
   */
  readonly arithmetic?: Arithmetic;
}

/**
 * Runner of kernels on a WebGPU device. All methods throw or reject with a RunError (TC504) for a lost device
 * or a lack of memory. Exceeded limits (TC502) and wrong arguments (TC702) give a CompileError; a kernel that
 * the device finds invalid gives an InternalError.
 */
export interface Runner {
  readonly device: GPUDevice;
  readonly limits: WgslLimits;
  /** Target for kernels that run on this runner, with the limits of the device. */
  readonly target: Target;
  /**
   * Uploads within the call, dispatches once, reads back; runs may overlap. Rejects with a RunError (TC601)
   * for an index out of range.
   */
  run(kernel: GpuKernel, inputs: GatherData): Promise<{ readonly outputs: { readonly output: TensorData } }>;
  /** The same on bytes. */
  runBytes(kernel: GpuKernel, inputs: HostInputs): Promise<Uint8Array>;
  /**
   * Has a kernel's pipeline made beside the calling thread, which the first run or `encode` of a kernel
   * otherwise holds up for it. They find it once this resolves.
   */
  prepare(kernel: GpuKernel): Promise<void>;
  /**
   * One dispatch on device-resident buffers: no copies, no synchronization. Buffers need the sizes and usages
   * of GpuBuffers; those that are destroyed or another device's are told by the caller's own error scopes.
   */
  encode(pass: GPUComputePassEncoder, kernel: GpuKernel, buffers: GpuBuffers): void;
  /**
   * Reads the status word of launches on these buffers. Rejects with a RunError (TC601) that names the lowest
   * index out of range; nothing to read under other policies than `error`. Launches need no round trip of
   * their own. `status` and
   * `indices` need `COPY_SRC`.
   */
  checkStatus(kernel: GpuKernel, buffers: GpuBuffers): Promise<void>;
  /**
   * Median time of one launch on device-resident buffers over some runs, in nanoseconds, and the clock that
   * gave it.
   */
  time(kernel: GpuKernel, buffers: GpuBuffers, runs?: number): Promise<LaunchTime>;
  /** The WGSL and bindings a kernel gets on this device. */
  wgsl(kernel: GpuKernel): WgslKernel;
  /**
   * Lets go of the pipelines; the device stays the caller's. Runs under way end, later calls are refused with
   * TC702. It is
   * `Symbol.dispose` too, where the platform has that symbol.
   */
  dispose(): void;
}

const runnerFields: Fields<RunnerOptions> = { pipelines: integer(1), arithmetic: oneOf(arithmetics) };

/**
 * Creates a runner on a device. Rejects with a RunError (TC504) if the device is lost, and with a
 * CompileError (TC702) for an invalid device or option.
 */
export async function createRunner(device: GPUDevice, options: RunnerOptions = {}): Promise<Runner> {
  checkDevice(device);
  throwIfErrors(checkFields("createRunner", options, runnerFields));
  const { pipelines = 256, arithmetic = "proved" } = options;
  const lost = await Promise.race([device.lost, Promise.resolve(undefined)]);
  if (lost !== undefined) throw deviceLost(lost.message);
  return new DeviceRunner(device, pipelines, arithmetic);
}

function checkDevice(device: unknown): void {
  if (isObject(device) && isObject(device["limits"]) && isObject(device["queue"])) return;
  const hint = "a browser's adapter.requestDevice() gives one, and in Node acquireGpu() of tilec/node";
  throw new CompileError([error("TC702", `the device is ${shownValue(device)}, no GPUDevice`, { hint })]);
}

/** Throws a CompileError (TC702) if `pass` is not a GPUComputePassEncoder. */
function checkPass(pass: unknown): void {
  if (isObject(pass) && typeof pass["setPipeline"] === "function") return;
  const hint = "pass what beginComputePass() of a command encoder gives";
  throw new CompileError([
    error("TC702", `the pass is ${shownValue(pass)}, no GPUComputePassEncoder`, { hint }),
  ]);
}

interface FaultyPipeline extends Pipeline {
  /**
   * Promise of the error with which the device refused the kernel; undefined if it accepted the kernel. Never
   * rejects.
   */
  readonly fault: Promise<Error | undefined>;
}

/** A kernel on the runner's device. */
interface Prepared {
  readonly tile: TileFunc;
  readonly wgsl: WgslKernel;
  /** The sizes that `sizes` binds, from the first launch on. */
  sizes: GPUBuffer | undefined;
}

class DeviceRunner implements Runner {
  readonly limits: WgslLimits;
  readonly target: Target;
  /**
   * By the program of the caller's kernel, which holds nothing of a runner. Weak: a runner outlives kernels.
   */
  private readonly prepared = new WeakMap<TileFunc, Prepared>();
  /** Returns the kernel that all sizes of a program share; undefined if there is none. */
  private readonly dynamicKernel = derivedOnce((program: DynamicTile) =>
    emitDynamic(program, this.wgslOptions),
  );
  /** By their text. One that is evicted lives as long as the work it is part of. */
  private readonly pipelines: BoundedCache<string, FaultyPipeline>;
  /** Pipelines that are being made, by their text. */
  private readonly preparing = new Map<string, Promise<void>>();
  private readonly work: DeviceWork;
  private disposed = false;

  constructor(
    readonly device: GPUDevice,
    pipelines: number,
    private readonly arithmetic: Arithmetic,
  ) {
    this.limits = limitsOf(device.limits);
    this.target = targetOf(this.limits, isSoftwareAdapter(device.adapterInfo));
    this.pipelines = new BoundedCache({ limit: pipelines });
    this.work = workOn(device, deviceFaults);
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
    return this.preparedOf(kernel).wgsl;
  }

  /** Compiles a kernel for another target again for the device, and emits its text; once. */
  private preparedOf(kernel: GpuKernel): Prepared {
    checkKernel(kernel, ["tile"]);
    const cached = this.prepared.get(kernel.tile);
    if (cached !== undefined) return cached;
    const tile = kernel.forTarget?.(this.target).tile ?? kernel.tile;
    verifyOnce(tile, this.target);
    const form = dynamicFormOf(tile);
    const shared = form === undefined ? undefined : this.dynamicKernel(form.program);
    const wgsl = shared === undefined ? emitWgsl(tile, this.wgslOptions) : kernelAt(shared, tile);
    const prepared: Prepared = { tile, wgsl, sizes: undefined };
    this.prepared.set(kernel.tile, prepared);
    return prepared;
  }

  private get wgslOptions(): WgslOptions {
    return { limits: this.limits, target: this.target, arithmetic: this.arithmetic };
  }

  async run(kernel: GpuKernel, inputs: GatherData) {
    this.checkUsable(kernel);
    const { tile } = kernel;
    const hosts = toHosts(tile, inputs);
    const output = await this.runBytes(kernel, hosts);
    return { outputs: { output: outputData(tile, inputs, hosts, output) } };
  }

  async runBytes(kernel: GpuKernel, inputs: HostInputs): Promise<Uint8Array> {
    this.checkUsable(kernel);
    const prepared = this.preparedOf(kernel);
    const { tile, wgsl } = prepared;
    checkTensors(tile, inputs);
    const bytes = byteCount(outputOf(tile).type);
    if (isEmpty(wgsl)) {
      await inSlices(unwrittenSteps(tile, inputs), () => 0, 0, {});
      return writtenInput(tile, inputs) ?? new Uint8Array(bytes);
    }
    const pipeline = this.pipeline(wgsl);
    const made = resourcesOn(this.work);
    const contents = ({ role, key }: WgslBinding): Uint8Array | undefined => {
      if (role === "status") return unwritten();
      return role === "output" ? undefined : entryOf(inputs, key)?.bytes;
    };
    const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC;
    let bound: readonly GPUBuffer[] = [];
    try {
      const [output, status] = await launchOnce(
        this.work,
        made,
        pipeline,
        launchOf(wgsl),
        () => {
          bound = ofCaller(wgsl).map((binding) => made.buffer(binding.bytes, usage, contents(binding)));
          return this.withSizes(prepared, bound);
        },
        async (message) => (await pipeline.fault) ?? kernelRefused(message, wgsl.code),
      );
      invariant(output !== undefined, "a kernel writes its output");
      if (statusIn(status) !== noneBad)
        throw await this.rejection(tile, status ?? unwritten(), boundBy(ofCaller(wgsl), bound));
      const written = writtenInput(tile, inputs);
      written?.set(output.subarray(0, bytes));
      return written ?? output.subarray(0, bytes);
    } finally {
      made.destroy();
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
    const atFault = (message: string): Error => kernelRefused(message, wgsl.code);
    const { work } = this;
    const pipeline = await settle(
      work,
      async () => {
        const { descriptors, layout } = describePipeline(work, wgsl);
        const steps = await pipelinesOf(work, descriptors, atFault);
        return { steps, layout, bindings: wgsl.bindings, fault: Promise.resolve(undefined) };
      },
      atFault,
    );
    if (!this.disposed) this.pipelines.set(wgsl.code, pipeline);
  }

  encode(pass: GPUComputePassEncoder, kernel: GpuKernel, buffers: GpuBuffers): void {
    this.checkUsable(kernel);
    const prepared = this.preparedOf(kernel);
    const { wgsl } = prepared;
    if (isEmpty(wgsl)) return;
    checkPass(pass);
    const bound = requireBuffers(buffers, ofCaller(wgsl), "STORAGE");
    this.record(pass, prepared, this.pipeline(wgsl), bound, 1);
  }

  private record(
    pass: GPUComputePassEncoder,
    prepared: Prepared,
    pipeline: Pipeline,
    bound: readonly GPUBuffer[],
    launches: number,
  ): void {
    recordLaunch(
      this.work,
      pass,
      pipeline,
      launchOf(prepared.wgsl),
      this.withSizes(prepared, bound),
      launches,
    );
  }

  /** Returns a buffer for each binding: the caller's, and what the runner tells the kernel. */
  private withSizes(prepared: Prepared, bound: readonly GPUBuffer[]): readonly GPUBuffer[] {
    return prepared.wgsl.bindings.map((binding, k) =>
      binding.access === "uniform" ? this.sizesOf(prepared, binding) : at(bound, k),
    );
  }

  /**
   * Returns a few bytes, which live as long as the kernel: passes that the caller has not submitted yet read
   * them.
   */
  private sizesOf(prepared: Prepared, { bytes, values = [] }: WgslBinding): GPUBuffer {
    const contents = new Uint8Array(Uint32Array.from(values).buffer);
    return (prepared.sizes ??= resourcesOn(this.work).buffer(bytes, bufferUsage.UNIFORM, contents));
  }

  async checkStatus(kernel: GpuKernel, buffers: GpuBuffers): Promise<void> {
    this.checkUsable(kernel);
    const { tile, wgsl } = this.preparedOf(kernel);
    const keys = new Set(indexSources(tile).map(keyOf));
    const status = ofCaller(wgsl).find(({ role }) => role === "status");
    const indices = ofCaller(wgsl).filter(({ role, key }) => role !== "status" && keys.has(key));
    if (isEmpty(wgsl)) return this.checkEmpty(tile, indices, buffers);
    if (status === undefined) return;
    const checked = [status, ...indices];
    const bound = requireBuffers(buffers, checked, "COPY_SRC");
    const bufferOf = boundBy(checked, bound);
    const range = [0, status.bytes] as const;
    const words = await readBuffer(this.work, bufferOf(status.key), range, buffersRefused);
    if (statusIn(words) !== noneBad) throw await this.rejection(tile, words, bufferOf);
  }

  /** Looks up the index values of an output without elements, for which nothing is launched. */
  private async checkEmpty(
    tile: TileFunc,
    indices: readonly WgslBinding[],
    buffers: GpuBuffers,
  ): Promise<void> {
    const map = hasScatter(tile.body) ? scatterMapOf(tile) : taskOfTile(tile).gather?.stmt.map;
    if (map === undefined || !mayReject(map)) return;
    const bufferOf = boundBy(indices, requireBuffers(buffers, indices, "COPY_SRC"));
    const inputs = await this.indexInputsOf(tile, bufferOf);
    await inSlices(unwrittenSteps(tile, inputs), () => 0, 0, {});
  }

  /** Reads the inputs with index values from their buffers. */
  private async indexInputsOf(tile: TileFunc, bufferOf: (key: string) => GPUBuffer): Promise<HostInputs> {
    const read = indexSources(tile).map(async (operand) => {
      const bytes = byteCount(operand.type);
      const range = [0, alignUp(Math.max(4, bytes), 4)] as const;
      const all = await readBuffer(this.work, bufferOf(keyOf(operand)), range, buffersRefused);
      return [keyOf(operand), { type: operand.type, bytes: all.subarray(0, bytes) }] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  }

  /**
   * Returns the error for a reported access, which begins at an output element or at a point of a scatter. It
   * names the first element with a rejected index, and the first of its indices that a policy rejects; or the
   * points of a scatter that write one element.
   */
  private async rejection(
    tile: TileFunc,
    status: Uint8Array,
    bufferOf: (key: string) => GPUBuffer,
  ): Promise<Error> {
    const { mapped, extents, perAccess } = reportedBy(tile);
    const duplicate = duplicateIn(status);
    if (duplicate !== undefined) {
      const { point, earlier, element } = duplicate;
      const isOfLaunch =
        point < elementCount(extents) && earlier < point && element < elementCount(outputOf(tile).type.shape);
      return isOfLaunch
        ? duplicateWrite(mapped, extents, duplicate)
        : staleStatus(point, "whose element no point before it writes");
    }
    const from = statusIn(status);
    if (from >= elementCount(extents)) return staleStatus(from, "which the output does not have");
    const values = new Map<string, bigint>();
    const bad = await findBadIndex(
      (point) => indicesAt(mapped, point),
      extents,
      [from, from + perAccess],
      async (table, position) => {
        const key = `${table} ${position}`;
        const operand = at(tile.operands, table);
        const { array, bits } = elementTypes[operand.type.dtype];
        const element = { array: array.name, bits };
        const value =
          values.get(key) ??
          (await readIndex(this.work, bufferOf(keyOf(operand)), element, position, buffersRefused));
        values.set(key, value);
        return value;
      },
    );
    return bad === undefined
      ? staleStatus(from)
      : badIndex(bad, isScatter(mapped.map) && writtenIndices(mapped.map).has(bad.at.index));
  }

  async time(kernel: GpuKernel, buffers: GpuBuffers, runs = 9): Promise<LaunchTime> {
    this.checkUsable(kernel);
    throwIfErrors(checkFields("time", { runs }, { runs: integer(1) }));
    const clock = this.device.features.has("timestamp-query") ? "timestamp-query" : "wall clock";
    const prepared = this.preparedOf(kernel);
    const { wgsl } = prepared;
    if (isEmpty(wgsl)) return { nanoseconds: 0, clock, runs, launches: 0 };
    const bound = requireBuffers(buffers, ofCaller(wgsl), "STORAGE");
    const pipeline = this.pipeline(wgsl);
    const span = (launches: number): Promise<number> =>
      this.span(clock, pipeline, (pass) => {
        this.record(pass, prepared, pipeline, bound, launches);
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
    { fault }: FaultyPipeline,
    fill: (pass: GPUComputePassEncoder) => void,
  ): Promise<number> {
    const { device, work } = this;
    const resources = resourcesOn(work);
    try {
      return await settle(
        work,
        () => {
          const querySet =
            clock === "wall clock"
              ? undefined
              : resources.track(device.createQuerySet({ type: "timestamp", count: 2 }));
          const encoder = device.createCommandEncoder();
          const pass = encoder.beginComputePass(
            querySet === undefined
              ? {}
              : { timestampWrites: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 } },
          );
          fill(pass);
          pass.end();
          const stamps = querySet === undefined ? undefined : resolvedStamps(resources, encoder, querySet);
          const start = performance.now();
          device.queue.submit([encoder.finish()]);
          return stamps === undefined
            ? orRefused(work, device.queue.onSubmittedWorkDone(), deviceLost).then(
                () => (performance.now() - start) * 1e6,
              )
            : stamps().then(([begin = 0n, end = 0n]) => Number(end - begin));
        },
        async (message) => (await fault) ?? buffersRefused(message),
      );
    } finally {
      resources.destroy();
    }
  }

  private pipeline(wgsl: WgslKernel): FaultyPipeline {
    const cached = this.pipelines.get(wgsl.code);
    if (cached !== undefined) return cached;
    const { value, refusal } = scoped(this.device, (): Pipeline => {
      const { descriptors, layout } = describePipeline(this.work, wgsl);
      const steps = descriptors.map((descriptor) => this.device.createComputePipeline(descriptor));
      return { steps, layout, bindings: wgsl.bindings };
    });
    const fault = refusal.then((refused) => {
      if (refused === undefined) return undefined;
      this.pipelines.take(wgsl.code);
      return faultOf(this.work, refused, (message) => kernelRefused(message, wgsl.code));
    });
    const pipeline = { ...value, fault };
    this.pipelines.set(wgsl.code, pipeline);
    return pipeline;
  }

  private checkUsable(kernel: GpuKernel): void {
    this.checkNotDisposed();
    this.work.lifetime.check();
    checkRunnable(kernel, ["tile"]);
  }

  private checkNotDisposed(): void {
    if (!this.disposed) return;
    const hint = "make another with `await createRunner(device)`; the device was left as it is";
    throw new CompileError([error("TC702", "the runner was disposed of", { hint })]);
  }
}

/**
 * Returns a function that maps the key of a binding to the buffer. The function throws an InternalError for
 * an unknown key.
 */
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

/** Returns the buffers that are not the runner's own. */
const ofCaller = ({ bindings }: WgslKernel): readonly WgslBinding[] =>
  bindings.filter(({ access }) => access !== "uniform");

/** True if a kernel writes nothing, so that nothing is launched. */
const isEmpty = ({ dispatch }: WgslKernel): boolean => dispatch[0] === 0;

/** Returns what a launch of a kernel takes. */
const launchOf = ({ dispatch, before = [], bindings }: WgslKernel): LaunchSizes => ({
  dispatch,
  before,
  bytes: bindings.map(({ bytes }) => bytes),
});

/**
 * Records a copy of a query set's timestamps to the host. Returns a function that reads the timestamps, in
 * nanoseconds, once the copy is submitted.
 */
function resolvedStamps(
  resources: Resources,
  encoder: GPUCommandEncoder,
  querySet: GPUQuerySet,
): () => Promise<BigUint64Array> {
  const size = 8 * querySet.count;
  const resolved = resources.buffer(size, bufferUsage.QUERY_RESOLVE | bufferUsage.COPY_SRC);
  encoder.resolveQuerySet(querySet, 0, querySet.count, resolved, 0);
  const read = resources.readback(encoder, resolved, 0, size);
  return async () => new BigUint64Array((await read()).buffer);
}

/** Returns the steps that look up the index values of a program that writes no element. */
const unwrittenSteps = (tile: TileFunc, inputs: HostInputs): Generator<number, void> =>
  hasScatter(tile.body)
    ? checkScatter({ map: scatterMapOf(tile), operands: tile.operands, inputs })
    : emptyOutputSteps(tile, inputs);

/** Returns the memory of the input that a program writes in place; undefined where it writes none. */
function writtenInput(tile: TileFunc, inputs: HostInputs): Uint8Array | undefined {
  const written = inoutOf(tile);
  return written === undefined ? undefined : inputTensor(inputs, written).bytes;
}

/** Map that a status word speaks of: its extents, and how many of its elements one report stands for. */
interface Reported {
  readonly mapped: MappedOperands;
  readonly extents: Shape;
  readonly perAccess: number;
}

/**
 * Returns the access map of a program, and the extents in which elements are numbered in error reports: those
 * of the output for a gather, of the domain for a scatter.
 */
function reportedBy(tile: TileFunc): Reported {
  const { operands } = tile;
  if (hasScatter(tile.body)) {
    const map = scatterMapOf(tile);
    return { mapped: { map, operands }, extents: map.domain, perAccess: 1 };
  }
  const stmt = taskOfTile(tile).gather?.stmt;
  invariant(stmt !== undefined, "a program that found a bad index has a gather");
  const extents = outputOf(tile).type.shape;
  return { mapped: { map: stmt.map, operands, tile }, extents, perAccess: maxPerAccess };
}

/**
 * Returns the error (TC702) for a status word that no launch of the kernel can have written. `element`: the
 * output element that the status word names. `why`: phrase on the element for the message.
 */
function staleStatus(element: number, why = "whose indices are in range"): CompileError {
  return new CompileError([
    error("TC702", `the status word names output element ${element}, ${why}: no launch wrote that`, {
      hint: "write 0xffffffff to it before the launch, and leave it and the indices alone until checkStatus ends",
      data: { element },
    }),
  ]);
}

/**
 * Nanoseconds below which rounded timestamps say too little, and the launches that may be spent to get there.
 */
const leastSpan = 2e6;
const maxLaunches = 4096;
