/** A module's gather on a GPUDevice. */
import "../../../backends/platform.js";
import { entryCalled } from "../../../ir/entry-of.js";
import { DeviceLifetime } from "../../../backends/webgpu/lifetime.js";
import { scoped, type Refusal } from "../../../backends/webgpu/scoped.js";
import { maxPerAccess, noneBad } from "../../../backends/webgpu/status.js";
import { badElement, badIndexIn, readingBytes, valueIn } from "./bad-index.js";
import { GatherError } from "./gather-error.js";
import { bytesOf, outputOf, type HostArray } from "./host.js";
import type { Launch, LaunchAt } from "./launch.js";
import type { GpuPlan, Numbers } from "./plan.js";

export { GatherError };

type Arrays = Readonly<Record<string, HostArray>>;
type Buffers = Readonly<Record<string, GPUBuffer>>;

const usage = { mapRead: 1, copySrc: 4, copyDst: 8, uniform: 64, storage: 128 } as const;

const lost = (message: string): GatherError =>
  new GatherError("TC504", `the device was lost${message === "" ? "" : `: ${message}`}`, { lost: true });
const full = (message: string): GatherError =>
  new GatherError("TC504", `the device is out of memory: ${message}`, { lost: false });

function refused({ kind, message }: Refusal, what: string): GatherError {
  if (kind === "out-of-memory") return full(message);
  return kind === "internal"
    ? new GatherError("TC502", `the device's driver gave up on the kernel: ${message}`)
    : new GatherError("TC702", `the device refused the ${what}: ${message}`);
}

/** Rejects for a device that is lost (TC504), or below the limits of the kernel (TC502). */
export async function createGather(device: GPUDevice, plan: GpuPlan, launchAt: LaunchAt): Promise<Gather> {
  const limits = device.limits as unknown as Numbers;
  for (const [limit, needed] of Object.entries(plan.requiredLimits)) {
    const has = limits[limit];
    if (has !== undefined && has < needed)
      throw new GatherError("TC502", `the device's ${limit} is ${has}, and ${plan.name} needs ${needed}`, {
        limit,
        has,
        needed,
      });
  }
  const lifetime = new DeviceLifetime(device, lost);
  const layout = device.createBindGroupLayout({
    entries: plan.bindings.map(({ access }, binding) => ({
      binding,
      visibility: 4,
      buffer: {
        type: access === "uniform" ? access : access === undefined ? "read-only-storage" : "storage",
      },
    })),
  });
  const { code } = plan;
  const pipeline = await settle(device, lifetime, "kernel", () =>
    device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
    }),
  );
  return new Gather(device, plan, launchAt, lifetime, layout, pipeline);
}

/** Begins work within the call and waits for its end; rejects with what the device refused of it. */
async function settle<T>(
  device: GPUDevice,
  lifetime: DeviceLifetime,
  what: string,
  begin: () => Promise<T>,
): Promise<T> {
  const { value, refusal } = scoped(device, begin);
  const [[ended], error] = await lifetime.until(Promise.all([Promise.allSettled([value]), refusal]));
  if (error !== undefined) throw refused(error, what);
  if (ended.status === "rejected") {
    const { reason = "internal", message = "" } = ended.reason as Partial<GPUPipelineError>;
    throw ended.reason instanceof GatherError ? ended.reason : refused({ kind: reason, message }, what);
  }
  return ended.value;
}

export class Gather {
  readonly #device: GPUDevice;
  readonly #plan: GpuPlan;
  readonly #launchAt: LaunchAt;
  readonly #lifetime: DeviceLifetime;
  readonly #layout: GPUBindGroupLayout;
  readonly #pipeline: GPUComputePipeline;
  /** What launches of `encode` report to. */
  #status: GPUBuffer | undefined;
  /** The latest launch of `encode`. */
  #latest: { readonly launch: Launch; readonly bound: readonly GPUBuffer[] } | undefined;
  #disposed = false;

  constructor(
    device: GPUDevice,
    plan: GpuPlan,
    launchAt: LaunchAt,
    lifetime: DeviceLifetime,
    layout: GPUBindGroupLayout,
    pipeline: GPUComputePipeline,
  ) {
    this.#device = device;
    this.#plan = plan;
    this.#launchAt = launchAt;
    this.#lifetime = lifetime;
    this.#layout = layout;
    this.#pipeline = pipeline;
  }

  async run(inputs: Arrays, sizes?: Numbers): Promise<{ readonly outputs: Arrays }> {
    const device = this.#usable();
    const plan = this.#plan;
    const launch = this.#launch(sizes);
    const { bytes: given, strings } = bytesOf(launch, inputs);
    const { output, dispatch } = launch;
    const made: GPUBuffer[] = [];
    const done = (bytes: Uint8Array<ArrayBuffer>) => ({
      outputs: { [output.key]: outputOf(launch, bytes, strings) },
    });
    if (dispatch[0] === 0) return done(new Uint8Array(output.bytes));
    const make = (size: number, use: number, contents?: Uint8Array): GPUBuffer => {
      const buffer = this.#buffer(size, use, contents);
      made.push(buffer);
      return buffer;
    };
    try {
      const [written, status] = await settle(device, this.#lifetime, "buffers", async () => {
        const bound = plan.bindings.map(({ access }, k) => {
          const contents = launch.operands[k] === undefined ? unwritten() : given[k];
          return access === "uniform"
            ? launch.uniform
            : make(launch.bytes[k] ?? 0, usage.storage | usage.copySrc, contents);
        });
        const encoder = device.createCommandEncoder();
        const pass = encoder.beginComputePass();
        this.#record(pass, launch, bound as GPUBuffer[]);
        pass.end();
        const reads = plan.bindings.flatMap(({ access }, k) => {
          const [from, size] = [bound[k], launch.bytes[k] ?? 0];
          if (access !== "read_write" || from === undefined) return [];
          const host = make(size, usage.copyDst | usage.mapRead);
          encoder.copyBufferToBuffer(from, 0, host, 0, size);
          return [host];
        });
        device.queue.submit([encoder.finish()]);
        return Promise.all(reads.map(mapped));
      });
      const element = firstWord(status);
      if (element !== noneBad) throw await this.#badIndex(launch, element, readingBytes(given));
      return done(new Uint8Array((written as Uint8Array).slice(0, output.bytes).buffer));
    } finally {
      for (const buffer of made) buffer.destroy();
    }
  }

  encode(pass: GPUComputePassEncoder, buffers: Buffers, sizes?: Numbers): void {
    this.#usable();
    const plan = this.#plan;
    const launch = this.#launch(sizes);
    if (launch.dispatch[0] === 0) return;
    const keys = launch.operands.map(({ key }) => key);
    const bound = plan.bindings.map(({ access }, k) => {
      if (access === "uniform") return launch.uniform as GPUBuffer;
      const operand = launch.operands[k];
      // Behind the operands lies the status word.
      if (operand === undefined)
        return (this.#status ??= this.#buffer(4, usage.storage | usage.copySrc | usage.copyDst, unwritten()));
      const { key } = operand;
      const buffer = entryCalled(buffers, operand, keys);
      const needed = launch.bytes[k] ?? 0;
      if (buffer === undefined || buffer.size < needed || (buffer.usage & usage.storage) === 0)
        throw new GatherError(
          "TC702",
          `buffers.${key} needs ${needed} B and usage STORAGE; it ${buffer === undefined ? "is missing" : `has ${buffer.size} B and usage ${buffer.usage}`}`,
          { role: key, bytes: needed, size: buffer?.size, usage: buffer?.usage },
        );
      return buffer;
    });
    const at = launch.operands.length - 1;
    const shared = bound.findIndex((buffer, k) => k !== at && buffer === bound[at]);
    if (shared !== -1) {
      const roles = [keys[at], keys[shared]];
      throw new GatherError("TC702", `buffers.${roles.join(" and buffers.")} are one buffer`, { roles });
    }
    this.#record(pass, launch, bound);
    this.#latest = { launch, bound };
  }

  async check(): Promise<void> {
    this.#usable();
    const [status, latest] = [this.#status, this.#latest];
    if (status === undefined || latest === undefined) return;
    const element = firstWord(await this.read(status, 0, 4, true));
    if (element === noneBad) return;
    const { launch, bound } = latest;
    const tables = new Set(this.#plan.sites.map(({ table }) => table));
    const readable = bound.every((buffer, k) => !tables.has(k) || (buffer.usage & usage.copySrc) !== 0);
    if (!readable) throw badElement(launch, element);
    throw await this.#badIndex(launch, element, async (operand, table, position) => {
      const byte = (position * operand.bits) / 8;
      const start = byte - (byte % 4);
      const bytes = await this.read(bound[table] as GPUBuffer, start, Math.max(4, operand.bits / 8));
      return valueIn(operand, bytes, byte - start);
    });
  }

  dispose(): void {
    this.#disposed = true;
    this.#status?.destroy();
    this.#latest = undefined;
  }

  #usable(): GPUDevice {
    if (this.#disposed) throw new GatherError("TC702", `${this.#plan.name} was disposed of`);
    this.#lifetime.check();
    return this.#device;
  }

  /** The index is looked for among the elements of the access that reported. */
  async #badIndex(
    launch: Launch,
    element: number,
    read: Parameters<typeof badIndexIn>[3],
  ): Promise<GatherError> {
    const badIndex = await badIndexIn(this.#plan, launch, [element, element + maxPerAccess], read);
    return badIndex ?? badElement(launch, element);
  }

  #launch(sizes: Numbers = {}): Launch {
    return this.#launchAt(sizes, (contents) => this.#buffer(contents.byteLength, usage.uniform, contents));
  }

  #record(pass: GPUComputePassEncoder, { dispatch, bytes }: Launch, bound: readonly GPUBuffer[]): void {
    const entries = bound.map((buffer, binding) => ({
      binding,
      resource: { buffer, size: bytes[binding] as number },
    }));
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, this.#device.createBindGroup({ layout: this.#layout, entries }));
    pass.dispatchWorkgroups(...dispatch);
  }

  #buffer(size: number, use: number, contents?: Uint8Array): GPUBuffer {
    try {
      const buffer = this.#device.createBuffer({
        size,
        usage: use,
        mappedAtCreation: contents !== undefined,
      });
      if (contents !== undefined) {
        new Uint8Array(buffer.getMappedRange()).set(contents);
        buffer.unmap();
      }
      return buffer;
    } catch (thrown) {
      // Memory that is mapped when it is made is taken at once.
      throw thrown instanceof RangeError ? full(thrown.message) : thrown;
    }
  }

  /**
   * Bytes of a buffer, at a multiple of 4. `fresh`: of a status word, which is written anew behind the read.
   */
  async read(from: GPUBuffer, offset: number, size: number, fresh = false): Promise<Uint8Array> {
    const device = this.#device;
    const host = this.#buffer(size, usage.copyDst | usage.mapRead);
    try {
      return await settle(device, this.#lifetime, "buffers", () => {
        const encoder = device.createCommandEncoder();
        encoder.copyBufferToBuffer(from, offset, host, 0, size);
        device.queue.submit([encoder.finish()]);
        if (fresh) device.queue.writeBuffer(from, 0, unwritten());
        return mapped(host);
      });
    } finally {
      host.destroy();
    }
  }
}

const unwritten = (): Uint8Array<ArrayBuffer> => new Uint8Array(4).fill(0xff);

async function mapped(host: GPUBuffer): Promise<Uint8Array<ArrayBuffer>> {
  try {
    await host.mapAsync(1);
  } catch (thrown) {
    throw lost(thrown instanceof Error ? thrown.message : "");
  }
  return new Uint8Array(host.getMappedRange().slice(0));
}

const firstWord = (bytes: Uint8Array | undefined): number =>
  bytes === undefined ? noneBad : new DataView(bytes.buffer).getUint32(0, true);
