/** The runner where something goes away or does not fit: lost devices, concurrent runs, the caller's buffers, memory. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, vi, type TestContext } from "vitest";
import { reference } from "../../backends/reference/index.js";
import {
  createRunner,
  webgpuBackend,
  type GpuBuffers,
  type Runner,
  type RunnerOptions,
} from "../../backends/webgpu/index.js";
import { deviceFaults } from "../../backends/webgpu/errors.js";
import { faultOf } from "../../backends/webgpu/work.js";
import { byteCount, InternalError, targets, type Diagnostic } from "../../ir/index.js";
import { CompileError, compile, onnx, RunError, type Kernel } from "../../src/index.js";
import { acquireGpu } from "../../src/device/node.js";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";
import { requireGpu } from "../support/gpu.js";
import { openRows } from "../support/open-programs.js";
import { operandOf } from "../support/operands.js";
import { parsed } from "../support/parsed.js";

/** Dawn crashes the process when a device is collected. */
const devices: unknown[] = [];

/** A device that the test may lose or break, apart from the one that tests share. */
async function ownDevice(context: TestContext): Promise<GPUDevice> {
  if ((await requireGpu()) === undefined) context.skip();
  const found = await acquireGpu();
  if (!found.ok) throw new Error(found.problem.message);
  devices.push(found.gpu.device);
  return found.gpu.device;
}

const ownRunner = async (context: TestContext, options?: RunnerOptions): Promise<Runner> =>
  createRunner(await ownDevice(context), options);

const gatherKernel = (rows: number, oob: "error" | "clamp" = "error"): Kernel => {
  const func = onnx.gather({ data: ["f32", [8, 16]], indices: ["i32", [rows]], axis: 0, oob });
  return compile(func, { target: targets.webgpu, residency: "gm" });
};
const kernel = gatherKernel(32);

const words = (rows: number): Int32Array<ArrayBuffer> =>
  Int32Array.from({ length: rows }, (_, k) => (k * 5) % 8);

function inputsOf({ tile }: Kernel, indices = words(byteCount(operandOf(tile, "indices").type) / 4)) {
  const bytes = Uint8Array.from(
    { length: byteCount(operandOf(tile, "data").type) },
    (_, k) => (k * 31) & 0xff,
  );
  return {
    data: { type: operandOf(tile, "data").type, bytes },
    indices: { type: operandOf(tile, "indices").type, bytes: new Uint8Array(indices.buffer) },
  };
}
const inputs = inputsOf(kernel);
const expected = reference(kernel.resolved!, inputs);

const outcome = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call();
  } catch (thrown) {
    return thrown;
  }
};

/** The diagnostics of a user's error of one type; anything else, a bug of ours included, fails the test. */
function diagnosticsOf(type: typeof CompileError | typeof RunError, thrown: unknown): readonly Diagnostic[] {
  expect(thrown).toBeInstanceOf(type);
  const { diagnostics } = thrown as CompileError | RunError;
  for (const { hint, message } of diagnostics) {
    // What an option takes stands in the message.
    expect(hint !== undefined || message.includes("; it takes ")).toBe(true);
  }
  return diagnostics;
}

const refusal = async (
  type: typeof CompileError | typeof RunError,
  call: () => unknown,
): Promise<readonly Diagnostic[]> => diagnosticsOf(type, await outcome(call));

const lost = [
  {
    code: "TC504",
    message: expect.stringContaining("lost"),
    hint: expect.stringContaining("createRunner(device)"),
    data: { lost: true },
  },
];

const { MAP_READ, COPY_SRC, COPY_DST, STORAGE } = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, STORAGE: 128 };

type Role = "data" | "indices" | "output" | "status";
interface Made {
  readonly size?: number;
  readonly usage?: number;
}

/** Buffers that fit the kernel, filled, but for those described. */
function buffersFor(device: GPUDevice, made: Partial<Record<Role, Made>> = {}, indices = words(32)) {
  const contents = {
    data: inputs.data.bytes,
    indices: new Uint8Array(indices.buffer),
    output: new Uint8Array(expected.byteLength),
    status: new Uint8Array(4).fill(0xff),
  };
  const buffer = (role: Role): GPUBuffer => {
    const bytes = contents[role];
    const { size = bytes.byteLength, usage = STORAGE | COPY_SRC | COPY_DST } = made[role] ?? {};
    const result = device.createBuffer({ size, usage });
    if ((usage & COPY_DST) !== 0 && size >= bytes.byteLength) device.queue.writeBuffer(result, 0, bytes);
    return result;
  };
  return {
    data: buffer("data"),
    indices: buffer("indices"),
    output: buffer("output"),
    status: buffer("status"),
  };
}

/** Encodes with `fill`, submits, and reads a buffer back. */
async function launch(device: GPUDevice, output: GPUBuffer, fill: (pass: GPUComputePassEncoder) => void) {
  const readback = device.createBuffer({ size: output.size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  fill(pass);
  pass.end();
  encoder.copyBufferToBuffer(output, 0, readback, 0, output.size);
  device.queue.submit([encoder.finish()]);
  await readback.mapAsync(1);
  return new Uint8Array(readback.getMappedRange()).slice();
}

/** What no error scope of anybody caught. */
function uncaptured(device: GPUDevice): string[] {
  const messages: string[] = [];
  device.addEventListener("uncapturederror", (event) => messages.push(event.error.message));
  return messages;
}

describe("a device lost during a run", () => {
  it("rejects every concurrent run and later calls, and a new device with a new runner goes on", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    const buffers = buffersFor(device);
    const runs = Array.from({ length: 10 }, () => outcome(() => runner.runBytes(kernel, inputs)));
    device.destroy();
    for (const run of runs) expect(diagnosticsOf(RunError, await run)).toMatchObject(lost);

    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    const data = new Float32Array(inputs.data.bytes.buffer);
    for (const call of [
      () => runner.run(kernel, { data, indices: words(32) }),
      () => runner.runBytes(kernel, inputs),
      () => runner.time(kernel, buffers),
      () => runner.checkStatus(kernel, buffers),
      () => {
        runner.encode(pass, kernel, buffers);
      },
      () => createRunner(device),
    ]) {
      expect(await refusal(RunError, call)).toMatchObject(lost);
    }
    const again = await ownRunner(context);
    expect(await again.runBytes(kernel, inputs)).toEqual(expected);
  });

  it("rejects times and statuses that are under way", async (context) => {
    const runner = await ownRunner(context);
    const buffers = buffersFor(runner.device);
    const calls = [
      outcome(() => runner.time(kernel, buffers)),
      outcome(() => runner.checkStatus(kernel, buffers)),
    ];
    runner.device.destroy();
    for (const call of calls) expect(diagnosticsOf(RunError, await call)).toMatchObject(lost);
  });

  it("rejects a run that begins before the loss is known", async (context) => {
    const runner = await ownRunner(context);
    runner.device.destroy();
    expect(await refusal(RunError, () => runner.runBytes(kernel, inputs))).toMatchObject(lost);
  });

  it("leaves the process of a caller who catches alive, with nothing unhandled", async (context) => {
    if ((await requireGpu()) === undefined) context.skip();
    const module = (path: string): string => new URL(`../../dist/${path}`, import.meta.url).href;
    const script = `
      import { acquireGpu } from "${module("src/device/index.js")}";
      import { createRunner } from "${module("backends/webgpu/index.js")}";
      import { compile, onnx, targets } from "${module("src/index.js")}";
      const func = onnx.gather({ data: ["f32", [8, 16]], indices: ["i32", [32]], axis: 0 });
      const kernel = compile(func, { target: targets.webgpu, residency: "gm" });
      const { gpu } = await acquireGpu();
      const runner = await createRunner(gpu.device);
      const inputs = { data: new Float32Array(128), indices: new Int32Array(32) };
      const run = async () => {
        try { await runner.run(kernel, inputs); } catch (error) { return error.diagnostics[0].code; }
      };
      const runs = Array.from({ length: 10 }, run);
      gpu.device.destroy();
      console.log((await Promise.all(runs)).join(" "));
      await new Promise((resolve) => setTimeout(resolve, 200));
      console.log("alive");
    `;
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      cwd: fileURLToPath(new URL("../../", import.meta.url)),
    });
    expect({ ...child, output: undefined, pid: undefined }).toMatchObject({
      status: 0,
      signal: null,
      stderr: "",
      stdout: `${Array.from({ length: 10 }, () => "TC504").join(" ")}\nalive\n`,
    });
  });
});

describe("a run on a device that is given up", () => {
  it("rejects with the signal's reason before the launch ends, and its buffers are destroyed when it has", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    let alive = 0;
    const createBuffer = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      const buffer = createBuffer(descriptor);
      const destroy = buffer.destroy.bind(buffer);
      alive++;
      buffer.destroy = () => {
        alive--;
        destroy();
      };
      return buffer;
    };
    const prepared = await webgpuBackend(runner).prepare(kernel);
    const abort = new AbortController();
    const run = outcome(() => prepared.run(inputs, { signal: abort.signal }));
    const reason = new Error("enough");
    expect(alive).toBeGreaterThan(0);
    abort.abort(reason);
    expect(await run).toBe(reason);
    await vi.waitFor(() => {
      expect(alive).toBe(0);
    });
    expect(await outcome(() => prepared.run(inputs, { signal: abort.signal }))).toBe(reason);
    expect(alive).toBe(0);
    expect(await prepared.run(inputs, { signal: new AbortController().signal })).toEqual({
      output: expected,
    });
    prepared.release();
  });
});

describe("error scopes", () => {
  /** An output of 2^30 bytes: within the limits of SwiftShader, and more than it has. */
  const tooMuch = (): { kernel: Kernel; inputs: ReturnType<typeof inputsOf> } => {
    const func = onnx.gather({ data: ["u8", [1, 32768]], indices: ["i32", [32768]], axis: 0 });
    const large = compile(func, { target: targets.webgpu, residency: "gm" });
    return { kernel: large, inputs: inputsOf(large, new Int32Array(32768)) };
  };

  it("of concurrent runs do not mix: the run without memory is refused, and the runs around it succeed", async (context) => {
    const runner = await ownRunner(context);
    if (runner.limits.maxStorageBufferBindingSize !== 2 ** 30) context.skip();
    const large = tooMuch();
    const [first, none, last] = await Promise.all([
      outcome(() => runner.runBytes(kernel, inputs)),
      outcome(() => runner.runBytes(large.kernel, large.inputs)),
      outcome(() => runner.runBytes(kernel, inputs)),
    ]);
    expect(first).toEqual(expected);
    expect(diagnosticsOf(RunError, none)).toMatchObject([
      { code: "TC504", message: expect.stringContaining("out of memory"), data: { lost: false } },
    ]);
    expect(last).toEqual(expected);
    // As the hint says, device and runner go on.
    expect(await runner.runBytes(kernel, inputs)).toEqual(expected);
  });

  it("of the caller catch the caller's errors, and those alone, while the runner works", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    device.pushErrorScope("validation");
    const run = runner.runBytes(kernel, inputs);
    device.createBuffer({ size: 4, usage: MAP_READ | STORAGE });
    const mine = await device.popErrorScope();
    expect(mine?.message).toContain("MapRead");
    expect(await run).toEqual(expected);
    expect(await device.popErrorScope().catch(String)).toContain("OperationError");
  });

  it("are popped when the device has no memory for the inputs, which createBuffer throws", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    const createBuffer = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      if (descriptor.mappedAtCreation === true) throw new RangeError("no memory to map");
      return createBuffer(descriptor);
    };
    expect(await refusal(RunError, () => runner.runBytes(kernel, inputs))).toMatchObject([
      { code: "TC504", message: expect.stringContaining("no memory to map") },
    ]);
    expect(await device.popErrorScope().catch(String)).toContain("OperationError");
    device.createBuffer = createBuffer;
    expect(await runner.runBytes(kernel, inputs)).toEqual(expected);
  });
});

describe("a kernel that the device finds invalid", () => {
  it("is a bug of ours, whoever owns the buffers, and is not kept", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    const missed = uncaptured(device);
    const buffers = buffersFor(device);
    const createShaderModule = device.createShaderModule.bind(device);
    device.createShaderModule = () => createShaderModule({ code: "no WGSL" });
    for (const call of [
      () => runner.runBytes(kernel, inputs),
      () => runner.time(kernel, buffers),
      () => runner.runBytes(kernel, inputs),
    ]) {
      const thrown = await outcome(call);
      expect(thrown).toBeInstanceOf(InternalError);
      expect((thrown as Error).message).toContain("fn main");
    }
    expect(missed).toEqual([]);
    device.createShaderModule = createShaderModule;
    expect(await runner.runBytes(kernel, inputs)).toEqual(expected);
  });

  it("is the device's limit when the driver gives up", async () => {
    const thrown: unknown = await faultOf(
      { faults: deviceFaults },
      { kind: "internal", message: "too many registers" },
      () => new InternalError(),
    );
    expect(diagnosticsOf(CompileError, thrown)).toMatchObject([
      { code: "TC502", message: expect.stringContaining("too many registers") },
    ]);
  });
});

describe("the caller's buffers", () => {
  const noStorage = COPY_SRC | COPY_DST;
  const { data, indices, output } = { data: 8 * 16 * 4, indices: 32 * 4, output: 32 * 16 * 4 };

  it.for([
    ["data", { size: data - 4 }, { bytes: data, size: data - 4 }, "it has 508 B"],
    ["indices", { size: 4 }, { bytes: indices, size: 4 }, "it has 4 B"],
    ["output", { size: output / 2 }, { bytes: output, size: output / 2 }, "it has 1024 B"],
    ["status", { size: 0 }, { bytes: 4, size: 0 }, "it has 0 B"],
    ["data", { usage: noStorage }, { bytes: data, usage: noStorage }, "usage COPY_SRC | COPY_DST"],
    ["output", { usage: COPY_DST }, { bytes: output, usage: COPY_DST }, "usage COPY_DST"],
    ["status", { usage: COPY_SRC }, { bytes: 4, usage: COPY_SRC }, "usage COPY_SRC"],
  ] as const)("%s with %o is refused before a launch", async ([role, made, numbers, words], context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    const missed = uncaptured(device);
    const wrong = buffersFor(device, { [role]: made });
    const right = buffersFor(device);
    const said = [
      {
        code: "TC702",
        message: expect.stringMatching(
          new RegExp(`^buffers.${role} needs ${numbers.bytes} B and usage STORAGE; `),
        ),
        data: { role, ...numbers },
      },
    ];
    // The pass takes no harm: what is refused adds nothing to it.
    let refused: Promise<readonly Diagnostic[]> | undefined;
    const got = await launch(device, right.output, (pass) => {
      refused = refusal(CompileError, () => {
        runner.encode(pass, kernel, wrong);
      });
      runner.encode(pass, kernel, right);
    });
    const diagnostics = await refused;
    expect(diagnostics).toMatchObject(said);
    expect(diagnostics?.[0]?.message).toContain(words);
    expect(got).toEqual(expected);
    expect(await refusal(CompileError, () => runner.time(kernel, wrong))).toMatchObject(said);
    expect(missed).toEqual([]);
  });

  it("are refused all at once, missing ones and what is no buffer too", async (context) => {
    const runner = await ownRunner(context);
    const { data: _, ...rest } = buffersFor(runner.device, { output: { size: 4 } });
    const wrong = { ...rest, indices: new Int32Array(32) } as unknown as GpuBuffers;
    expect(await refusal(CompileError, () => runner.time(kernel, wrong))).toMatchObject([
      { code: "TC702", message: expect.stringContaining("buffers.data is missing") },
      { code: "TC702", message: expect.stringContaining("buffers.indices is no GPUBuffer") },
      { code: "TC702", message: expect.stringContaining("buffers.output needs") },
    ]);
  });

  it("are refused when the kernel writes one that it reads or writes elsewhere", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    const both = device.createBuffer({ size: output, usage: STORAGE | COPY_SRC | COPY_DST });
    for (const roles of [
      ["output", "data"],
      ["output", "indices"],
      ["status", "indices"],
      ["status", "output"],
    ] as const) {
      const wrong = { ...buffersFor(device), [roles[0]]: both, [roles[1]]: both };
      expect(await refusal(CompileError, () => runner.time(kernel, wrong))).toMatchObject([
        { code: "TC702", message: expect.stringContaining("are one buffer"), data: { roles } },
      ]);
    }
  });

  it("may be one buffer for data and indices", async (context) => {
    const runner = await ownRunner(context);
    const both = runner.device.createBuffer({ size: data, usage: STORAGE | COPY_DST });
    runner.device.queue.writeBuffer(both, 0, words(32));
    const buffers = { ...buffersFor(runner.device), data: both, indices: both };
    const got = await launch(runner.device, buffers.output, (pass) => {
      runner.encode(pass, kernel, buffers);
    });
    const bytes = new Uint8Array(data);
    bytes.set(new Uint8Array(words(32).buffer));
    expect(got).toEqual(reference(kernel.resolved!, { ...inputs, data: { ...inputs.data, bytes } }));
  });

  it.for(["status", "indices"] as const)(
    "without COPY_SRC on %s have no status to check, and none is invented",
    async (role, context) => {
      const runner = await ownRunner(context);
      const missed = uncaptured(runner.device);
      const buffers = buffersFor(runner.device, { [role]: { usage: STORAGE | COPY_DST } });
      await launch(runner.device, buffers.output, (pass) => {
        runner.encode(pass, kernel, buffers);
      });
      expect(await refusal(CompileError, () => runner.checkStatus(kernel, buffers))).toMatchObject([
        { code: "TC702", message: expect.stringContaining(`buffers.${role} needs`), data: { role } },
      ]);
      expect(missed).toEqual([]);
    },
  );

  it("without a status word cannot be checked under policy error", async (context) => {
    const runner = await ownRunner(context);
    const { status: _, ...buffers } = buffersFor(runner.device);
    expect(await refusal(CompileError, () => runner.checkStatus(kernel, buffers))).toMatchObject([
      { code: "TC702", message: expect.stringContaining("buffers.status is missing") },
    ]);
  });

  it.for([
    ["0", 0, "output element 0, whose indices are in range"],
    ["beyond the indices", 4_000_000_000, "which the output does not have"],
  ] as const)("whose status was %s before the launch name no index", async ([, word, words], context) => {
    const runner = await ownRunner(context);
    const buffers = buffersFor(runner.device);
    runner.device.queue.writeBuffer(buffers.status, 0, Uint32Array.of(word));
    expect(await refusal(CompileError, () => runner.checkStatus(kernel, buffers))).toMatchObject([
      { code: "TC702", message: expect.stringContaining(words), hint: expect.stringContaining("0xffffffff") },
    ]);
  });

  it("have no status to read under other policies than error", async (context) => {
    const runner = await ownRunner(context);
    const buffers = buffersFor(runner.device);
    runner.device.queue.writeBuffer(buffers.status, 0, Uint32Array.of(0));
    expect(await outcome(() => runner.checkStatus(gatherKernel(32, "clamp"), buffers))).toBe(undefined);
  });

  it("that are destroyed, mapped or another device's are refused in the device's words", async (context) => {
    const runner = await ownRunner(context);
    const missed = uncaptured(runner.device);
    const destroyed = buffersFor(runner.device);
    destroyed.output.destroy();
    destroyed.status.destroy();
    const usage = STORAGE | COPY_SRC;
    const mapped = {
      ...buffersFor(runner.device),
      output: runner.device.createBuffer({ size: output, usage, mappedAtCreation: true }),
      status: runner.device.createBuffer({ size: 4, usage, mappedAtCreation: true }),
    };
    const foreign = buffersFor(await ownDevice(context));
    for (const buffers of [destroyed, mapped, foreign]) {
      for (const call of [() => runner.time(kernel, buffers), () => runner.checkStatus(kernel, buffers)]) {
        expect(await refusal(CompileError, call)).toMatchObject([
          { code: "TC702", message: expect.stringContaining("the device refused the buffers") },
        ]);
      }
    }
    expect(missed).toEqual([]);
  });

  it("are timed over a whole number of runs, and nothing is launched for an empty output", async (context) => {
    const runner = await ownRunner(context);
    const buffers = buffersFor(runner.device);
    for (const runs of [0, -1, 1.5, NaN]) {
      expect(await refusal(CompileError, () => runner.time(kernel, buffers, runs))).toMatchObject([
        { code: "TC702", message: `runs is ${runs}; it takes a whole number, 1 or more` },
      ]);
    }
    const empty = gatherKernel(0);
    expect(await runner.time(empty, {}, 3)).toMatchObject({
      nanoseconds: 0,
      runs: 3,
      launches: 0,
    });
    expect(await outcome(() => runner.checkStatus(empty, {}))).toBe(undefined);
    expect(await runner.runBytes(empty, inputsOf(empty))).toEqual(new Uint8Array(0));
  });
});

describe("what is no kernel, no input and no buffer", () => {
  it("is refused with what is missing", async (context) => {
    const runner = await ownRunner(context);
    const none = {} as Kernel;
    const buffers = undefined as unknown as GpuBuffers;
    const missing = "the kernel is an object, without a tile program";
    expect(await refusal(CompileError, () => runner.run(none, {}))).toMatchObject([
      { code: "TC702", message: missing },
    ]);
    expect(await refusal(CompileError, () => runner.runBytes(none, inputs))).toMatchObject([
      { code: "TC702", message: missing },
    ]);
    expect(await refusal(CompileError, () => runner.run(kernel, {}))).toMatchObject([
      { code: "TC702", message: "the inputs lack data; got only nothing" },
    ]);
    const encoder = runner.device.createCommandEncoder() as unknown as GPUComputePassEncoder;
    expect(
      await refusal(CompileError, () => {
        runner.encode(encoder, kernel, buffers);
      }),
    ).toMatchObject([{ code: "TC702", message: "the pass is an object, no GPUComputePassEncoder" }]);
    expect(await refusal(CompileError, () => runner.time(kernel, buffers))).toMatchObject([
      { code: "TC702", message: "the buffers are undefined" },
    ]);
  });

  it("is refused where sizes are open, and its text is that of the most", async (context) => {
    const runner = await ownRunner(context);
    const open = compile(parsed(openRows("f32", 8)), { target: targets.webgpu });
    const buffers = {} as GpuBuffers;
    for (const call of [
      () => runner.run(open, {}),
      () => runner.runBytes(open, inputs),
      () => runner.prepare(open),
      () => runner.checkStatus(open, buffers),
      () => runner.time(open, buffers),
    ]) {
      expect((await refusal(CompileError, call))[0]).toMatchObject({ code: "TC107" });
    }
    expect(runner.wgsl(open).code).toContain("%i: 48xi32");
  });
});

describe("host arrays", () => {
  it("of another length than the tensor's are refused before memory is taken", async (context) => {
    const runner = await ownRunner(context);
    for (const [role, length] of [
      ["data", 511],
      ["data", 516],
      ["indices", 0],
    ] as const) {
      const wrong = { ...inputs, [role]: { ...inputs[role], bytes: new Uint8Array(length) } };
      expect(await refusal(CompileError, () => runner.runBytes(kernel, wrong))).toMatchObject([
        { code: "TC702", message: expect.stringMatching(`^${role} is .*; got ${length} bytes$`) },
      ]);
    }
  });

  it("are the caller's again as soon as the run has begun, the one with the index out of range too", async (context) => {
    const runner = await ownRunner(context);
    const indices = words(32);
    indices[9] = -77;
    const run = outcome(() => runner.runBytes(kernel, inputsOf(kernel, indices)));
    indices.fill(3);
    expect(diagnosticsOf(RunError, await run)).toMatchObject([
      { code: "TC601", data: { position: 9, value: "-77" } },
    ]);
  });

  it("that a binding of the device holds and a buffer of it does not are refused with both sizes", async (context) => {
    if ((await requireGpu()) === undefined) context.skip();
    const gpu = (await import("webgpu")).create([]);
    const adapter = await gpu.requestAdapter();
    if ((adapter?.limits.maxStorageBufferBindingSize ?? 0) < 2 ** 29) context.skip();
    const device = await adapter!.requestDevice({ requiredLimits: { maxStorageBufferBindingSize: 2 ** 29 } });
    devices.push(gpu, device);
    const runner = await createRunner(device);
    const func = onnx.gather({ data: ["u8", [1, 32768]], indices: ["i32", [8193]], axis: 0 });
    const large = compile(func, { target: runner.target, residency: "gm" });
    const limit = 2 ** 28;
    expect(device.limits.maxBufferSize).toBe(limit);
    const wide = inputsOf(large, new Int32Array(8193));
    expect(await refusal(CompileError, () => runner.runBytes(large, wide))).toMatchObject([
      {
        code: "TC502",
        message: expect.stringContaining("maxBufferSize"),
        data: { bytes: limit + 32768, limit },
      },
    ]);
  });
});

describe("a runner's pipelines", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;

  it("stay within their limit over 300 kernels, and the least recently used is built again", async (context) => {
    const runner = await ownRunner(context, { pipelines: 8 });
    const { device } = runner;
    const built: WeakRef<GPUComputePipeline>[] = [];
    const createComputePipeline = device.createComputePipeline.bind(device);
    device.createComputePipeline = (descriptor) => {
      const pipeline = createComputePipeline(descriptor);
      built.push(new WeakRef(pipeline));
      return pipeline;
    };
    const first = gatherKernel(1);
    await runner.runBytes(first, inputsOf(first));
    for (let rows = 2; rows <= 300; rows++) {
      const next = gatherKernel(rows);
      await runner.runBytes(next, inputsOf(next));
      if (rows <= 8) await runner.runBytes(first, inputsOf(first));
    }
    expect(built.length).toBe(300);
    // References of finished promises go with the turn.
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
    const alive = (): number => built.filter((ref) => ref.deref() !== undefined).length;
    expect(alive()).toBeLessThanOrEqual(8);
    expect(alive()).toBeGreaterThan(0);

    const last = gatherKernel(300);
    await runner.runBytes(last, inputsOf(last));
    expect(built.length).toBe(300);
    await runner.runBytes(first, inputsOf(first));
    expect(built.length).toBe(301);
  });

  /** Counts the pipelines that the device makes, on the calling thread and beside it. */
  function counted(device: GPUDevice): { readonly onThread: number; readonly beside: number } {
    const made = { onThread: 0, beside: 0 };
    const onThread = device.createComputePipeline.bind(device);
    const beside = device.createComputePipelineAsync.bind(device);
    device.createComputePipeline = (descriptor) => {
      made.onThread++;
      return onThread(descriptor);
    };
    device.createComputePipelineAsync = (descriptor) => {
      made.beside++;
      return beside(descriptor);
    };
    return made;
  }

  it("are made beside the thread by prepare, once for a text, and found by runs", async (context) => {
    const runner = await ownRunner(context);
    const made = counted(runner.device);
    const again = gatherKernel(32);
    await Promise.all([runner.prepare(kernel), runner.prepare(kernel), runner.prepare(again)]);
    await runner.prepare(kernel);
    expect(made).toEqual({ onThread: 0, beside: 1 });
    expect(await runner.runBytes(kernel, inputs)).toEqual(expected);
    expect(await runner.runBytes(again, inputs)).toEqual(expected);
    expect(made).toEqual({ onThread: 0, beside: 1 });
  });

  it("of a suite's cases are made beside the thread", async (context) => {
    const runner = await ownRunner(context);
    const made = counted(runner.device);
    const [test] = readCases(
      JSON.stringify({
        id: "gather",
        dialect: "onnx",
        op: "gather",
        data: { dtype: "f32", shape: [4, 3], fill: { seed: 1, min: 0, max: 8 } },
        indices: { dtype: "i32", shape: [5], fill: { seed: 2, min: 0, max: 4 } },
        expect: "ok",
      }),
      "case.json",
    );
    expect(await checkCase(test!, ["reference", "webgpu"], { runner })).toMatchObject([
      { backend: "reference", status: "pass" },
      { backend: "webgpu", status: "pass" },
    ]);
    expect(made).toEqual({ onThread: 0, beside: 1 });
  });

  it("that the device refuses are refused by prepare as a run's are, and may be made again", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    const create = device.createComputePipelineAsync.bind(device);
    const refusing = (descriptor: Partial<GPUComputePipelineDescriptor>, reason?: GPUPipelineErrorReason) => {
      device.createComputePipelineAsync = (own) =>
        reason === undefined
          ? create({ ...own, ...descriptor })
          : Promise.reject(
              Object.assign(new Error("too many registers"), { name: "GPUPipelineError", reason }),
            );
    };
    const { compute } = { compute: { module: device.createShaderModule({ code: "" }), entryPoint: "gone" } };
    refusing({ compute });
    const invalid = await outcome(() => runner.prepare(kernel));
    expect(invalid).toBeInstanceOf(InternalError);
    expect(String(invalid)).toContain("gone");
    expect(String(invalid)).toContain(runner.wgsl(kernel).code);
    refusing({}, "internal");
    expect(await refusal(CompileError, () => runner.prepare(kernel))).toMatchObject([
      { code: "TC502", message: expect.stringContaining("too many registers") },
    ]);
    device.createComputePipelineAsync = create;
    await runner.prepare(kernel);
    expect(await runner.runBytes(kernel, inputs)).toEqual(expected);
  });

  it("that are being made when the device is lost are refused with that", async (context) => {
    const runner = await ownRunner(context);
    const preparing = outcome(() => runner.prepare(kernel));
    runner.device.destroy();
    expect(diagnosticsOf(RunError, await preparing)).toMatchObject(lost);
    expect(await refusal(RunError, () => runner.prepare(kernel))).toMatchObject(lost);
  });

  it.for([0, -1, 2.5, Infinity])("take no limit of %d", async (pipelines, context) => {
    const device = await ownDevice(context);
    expect(await refusal(CompileError, () => createRunner(device, { pipelines }))).toMatchObject([
      { code: "TC702", message: `pipelines is ${pipelines}; it takes a whole number, 1 or more` },
    ]);
  });
});

describe("a runner that was disposed of", () => {
  it("ends what is under way, refuses what comes later, and leaves the device to others", async (context) => {
    const runner = await ownRunner(context);
    const { device } = runner;
    const buffers = buffersFor(device);
    const under = [
      runner.runBytes(kernel, inputs),
      runner.time(kernel, buffers, 2),
      runner.checkStatus(kernel, buffers),
    ];
    runner.dispose();
    runner.dispose();
    const [got, time] = await Promise.all(under);
    expect(got).toEqual(expected);
    expect(time).toMatchObject({ runs: 2 });
    const pass = device.createCommandEncoder().beginComputePass();
    const data = new Float32Array(inputs.data.bytes.buffer);
    for (const call of [
      () => runner.run(kernel, { data, indices: words(32) }),
      () => runner.runBytes(kernel, inputs),
      () => runner.time(kernel, buffers),
      () => runner.checkStatus(kernel, buffers),
      () => runner.wgsl(kernel),
      () => {
        runner.encode(pass, kernel, buffers);
      },
    ]) {
      expect(await refusal(CompileError, call)).toMatchObject([
        {
          code: "TC702",
          message: "the runner was disposed of",
          hint: expect.stringContaining("createRunner(device)"),
        },
      ]);
    }
    const again = await createRunner(device);
    expect(await again.runBytes(kernel, inputs)).toEqual(expected);
  });

  it("was so by Symbol.dispose where there is one", async (context) => {
    const { dispose } = Symbol as { readonly dispose?: symbol };
    const runner = await ownRunner(context);
    if (dispose === undefined) return context.skip();
    (runner as unknown as Record<symbol, () => void>)[dispose]!();
    expect(await refusal(CompileError, () => runner.runBytes(kernel, inputs))).toMatchObject([
      { code: "TC702" },
    ]);
  });
});
