/** Modules of scatters over symbols: at each size the bits and errors of the reference of the bound program. */
import { describe, expect, it, type TestContext } from "vitest";
import { inputsOf, keyOf } from "../../ir/index.js";
import { simulate } from "../../backends/sim/index.js";
import { limitedTo } from "../../src/cli/device-limits.js";
import { compile, runOn, targets, tryCompile, type Kernel } from "../../src/index.js";
import type { HostValue } from "../../backends/index.js";
import { copies } from "../../src/testing/inouts.js";
import { openInputs, openScatter, openSizes, type OpenScatter } from "../support/open-scatters.js";
import { requireGpu, runnerOr } from "../support/gpu.js";
import {
  arraysOf,
  loadModule,
  moduleOutcome,
  referenceOutcome,
  type LoadedGather,
  type LoadedModule,
} from "../support/modules.js";
import { parsed, parsedAccess } from "../support/parsed.js";

const device = async (context: TestContext): Promise<GPUDevice> => {
  const gpu = await requireGpu();
  if (gpu === undefined) context.skip();
  return gpu.device;
};

/** Compares a run of a module with the reference of the bound program: outcome, and what the inputs then hold. */
async function compare(
  kernel: Kernel,
  made: Pick<LoadedGather, "run">,
  sizes: Readonly<Record<string, number>>,
  inputs: Readonly<Record<string, HostValue>>,
  about: string,
): Promise<void> {
  const given = copies(inputs);
  const outcome = await moduleOutcome(() => made.run(arraysOf(given), sizes));
  const expected = await referenceOutcome(kernel.bind(sizes), copies(inputs));
  expect(outcome, about).toEqual(expected);
  for (const operand of inputsOf(kernel.tile)) {
    const isWritten = operand.inout === true && Array.isArray(outcome);
    const after = isWritten ? Uint8Array.from(outcome as number[]) : inputs[keyOf(operand)]!.bytes;
    expect(given[keyOf(operand)]!.bytes, about).toEqual(after);
  }
}

/** Calls `check` with each scatter that has code, at sizes and with drawn inputs. */
async function tried(
  from: number,
  to: number,
  check: (
    open: OpenScatter,
    kernel: Kernel,
    sizes: Readonly<Record<string, number>>,
    inputs: Readonly<Record<string, HostValue>>,
    about: string,
  ) => Promise<void>,
): Promise<void> {
  for (let seed = from; seed < to; seed++) {
    const open = openScatter(seed);
    const func = parsedAccess(open.text);
    const target = [targets.cpu, targets.webgpu, targets.ascendA2][seed % 3]!;
    const tile = func.map.domain.map((extent, d) => Math.min(extent, 1 + ((seed * 7 + d * 5) % 9)));
    const tiled = tryCompile(func, { target, tile });
    const result = tiled.ok ? tiled : tryCompile(func, { target });
    if (!result.ok) throw new Error(`${open.text}${JSON.stringify(result.diagnostics)}`);
    const { kernel } = result;
    for (const sizes of openSizes(open)) {
      let bound;
      try {
        bound = kernel.bind(sizes);
      } catch (thrown) {
        // More points than elements.
        expect(String(thrown), open.text).toMatch(/never unique/);
        continue;
      }
      await check(open, kernel, sizes, openInputs(open, bound, seed), `${open.text}${JSON.stringify(sizes)}`);
    }
  }
}

describe("a module of a scatter over symbols", () => {
  it("in WebAssembly has the bits and errors of the bound program", async () => {
    let module: { readonly of: Kernel; readonly made: LoadedGather } | undefined;
    let runs = 0;
    await tried(1, 60, async (_, kernel, sizes, inputs, about) => {
      if (module?.of !== kernel) {
        const loaded: LoadedModule = await loadModule(kernel, "module-cpu");
        module = { of: kernel, made: await loaded.create() };
      }
      await compare(kernel, module.made, sizes, inputs, about);
      runs++;
    });
    expect(runs).toBeGreaterThan(150);
  });

  it("on WebGPU has the bits and errors of the bound program", async (context) => {
    const gpu = await device(context);
    let module: { readonly of: Kernel; readonly made: LoadedGather } | undefined;
    let runs = 0;
    await tried(200, 225, async (_, kernel, sizes, inputs, about) => {
      if (module?.of !== kernel) {
        const loaded = await loadModule(kernel);
        expect(loaded.bytes, about).toBeLessThanOrEqual(21 * 1024);
        module = { of: kernel, made: await loaded.create(gpu) };
      }
      await compare(kernel, module.made, sizes, inputs, about);
      runs++;
    });
    expect(runs).toBeGreaterThan(60);
  });
});

describe("a scatter over symbols, bound to sizes", () => {
  it("has the reference's bits on both executors", async () => {
    await tried(300, 330, async (_, kernel, sizes, inputs, about) => {
      const bound = kernel.bind(sizes);
      const expected = await referenceOutcome(bound, copies(inputs));
      if (!Array.isArray(expected)) return;
      for (const executor of ["checked", "fast"] as const) {
        const { outputs } = simulate(bound, arraysOf(copies(inputs)), { executor });
        const { buffer, byteOffset, byteLength } = outputs.output as Uint8Array;
        expect([...new Uint8Array(buffer, byteOffset, byteLength)], about).toEqual(expected);
      }
    });
  });

  it("has the reference's bits on WebGPU, by one kernel for all sizes", async (context) => {
    const runner = await runnerOr(context);
    const texts = new Map<Kernel, string>();
    await tried(400, 420, async (_, kernel, sizes, inputs, about) => {
      const bound = kernel.bind(sizes);
      const { code } = runner.wgsl(bound);
      expect(texts.get(kernel) ?? code, about).toBe(code);
      texts.set(kernel, code);
      const expected = await referenceOutcome(bound, copies(inputs));
      if (!Array.isArray(expected)) return;
      const { output } = await runOn("webgpu", bound, copies(inputs), { runner });
      expect([...output], about).toEqual(expected);
    });
  });
});

/** Writes N rows of a cache of V rows, in place. */
const tokens = (rest: string): Kernel =>
  compile(
    parsed(`dim N <= 20
dim V <= 16
func @write(%cache: inout tensor<Vx4xf16>, %slot: tensor<Nxi32>, %rows: tensor<Nx4xf16>) -> tensor<Vx4xf16> {
  %y = access.scatter %cache, %slot, %rows (d0 < N, d1 < 4) let t = error(%slot[d0] in V) -> (t, d1) yield %rows[d0, d1] {oob = error, ${rest}}
  return %y
}
`),
  );

/** Bits 1, 2, 3, …, 16 bits each. */
const counted = (length: number, from: number): Uint16Array =>
  Uint16Array.from({ length }, (_, k) => k + from);

/** Returns a module of each kind; the one for WebGPU only where there is a device. */
async function both(kernel: Kernel): Promise<readonly LoadedGather[]> {
  const gpu = await requireGpu();
  const onCpu = await (await loadModule(kernel, "module-cpu")).create();
  return gpu === undefined ? [onCpu] : [onCpu, await (await loadModule(kernel)).create(gpu.device)];
}

describe("the sizes of a scatter's module", () => {
  it("judge unique points: more of them than elements are an error with the numbers", async () => {
    for (const made of await both(tokens("duplicates = unique"))) {
      const call = (V: number, N: number) => {
        const cache = counted(V * 4, 1000);
        const inputs = {
          cache,
          slot: Int32Array.from({ length: N }, (_, k) => k % V),
          rows: counted(N * 4, 1),
        };
        return { cache, run: made.run(inputs, { V, N }) };
      };
      const good = call(5, 5);
      await good.run;
      expect(good.cache).toEqual(counted(20, 1));
      const bad = call(3, 4);
      await expect(bad.run).rejects.toMatchObject({
        name: "GatherError",
        code: "TC204",
        message: "TC204: 16 points write 12 elements, and none is skipped: they are never unique",
        data: { points: 16, elements: 12 },
      });
      expect(bad.cache).toEqual(counted(12, 1000));
      made.dispose();
    }
  });

  it("are refused where one is missing, too large, strange, or 0 beside an output with elements", async () => {
    const inputs = { cache: counted(8, 1), slot: Int32Array.of(1), rows: counted(4, 1) };
    for (const made of await both(tokens("duplicates = last")))
      for (const sizes of [{}, { V: 2 }, { V: 2, N: 21 }, { V: 2, N: 1, W: 1 }, { V: 2, N: 0 }] as Readonly<
        Record<string, number>
      >[])
        await expect(made.run(inputs, sizes), JSON.stringify(sizes)).rejects.toMatchObject({ code: "TC107" });
  });

  it("of an output without elements still judge the index values", async () => {
    for (const made of await both(tokens("duplicates = last"))) {
      const run = made.run(
        { cache: new Uint16Array(0), slot: Int32Array.of(0), rows: counted(4, 1) },
        { V: 0, N: 1 },
      );
      await expect(run).rejects.toMatchObject({ code: "TC601", point: [0, 0] });
    }
  });

  it("of 0 leave no two points that write one element", async () => {
    const text = `dim N <= 6
func @f(%x: tensor<Nxf32>, %u: tensor<Nx8xf32>) -> tensor<Nxf32> {
  %y = access.scatter %x, %u (d0 < N, d1 < 8) -> (d0) yield %u[d0, d1] {oob = error, duplicates = error}
  return %y
}
`;
    for (const made of await both(compile(parsed(text)))) {
      const of = (N: number) => ({ x: new Float32Array(N), u: new Float32Array(8 * N) });
      expect((await made.run(of(0), { N: 0 })).outputs).toEqual({ output: new Float32Array(0) });
      await expect(made.run(of(2), { N: 2 })).rejects.toMatchObject({
        code: "TC607",
        data: { point: [0, 1], earlier: [0, 0] },
      });
    }
  });

  it("may change between launches in the caller's buffers", async (context) => {
    const gpu = await device(context);
    const made = await (await loadModule(tokens("duplicates = error"))).create(gpu);
    const buffer = (array: Uint16Array | Int32Array): GPUBuffer => {
      const bytes = new Uint8Array(array.buffer);
      const it = gpu.createBuffer({ size: Math.max(4, (bytes.length + 3) & ~3), usage: 128 | 4 | 8 });
      gpu.queue.writeBuffer(it, 0, bytes.buffer);
      return it;
    };
    const cache = buffer(counted(64, 1000));
    const expected = counted(64, 1000);
    const launch = (slots: readonly number[], from: number, V: number): void => {
      const buffers = {
        cache,
        slot: buffer(Int32Array.from(slots)),
        rows: buffer(counted(4 * slots.length, from)),
      };
      const encoder = gpu.createCommandEncoder();
      const pass = encoder.beginComputePass();
      made.encode(pass, buffers, { V, N: slots.length });
      pass.end();
      gpu.queue.submit([encoder.finish()]);
    };
    const contents = async (): Promise<Uint16Array> => {
      const host = gpu.createBuffer({ size: 128, usage: 8 | 1 });
      const encoder = gpu.createCommandEncoder();
      encoder.copyBufferToBuffer(cache, 0, host, 0, 128);
      gpu.queue.submit([encoder.finish()]);
      await host.mapAsync(1);
      return new Uint16Array(host.getMappedRange().slice(0));
    };
    for (const [slots, from, V] of [
      [[2], 1, 4],
      [[15, 0, 7], 100, 16],
      [[3, 1], 200, 4],
      [[15, 14, 13, 12, 11], 300, 16],
    ] as const) {
      launch(slots, from, V);
      await made.check();
      slots.forEach((slot, k) => {
        expected.set(counted(4, from + 4 * k), 4 * slot);
      });
      expect(await contents()).toEqual(expected);
    }
    launch([5, 6, 5], 400, 16);
    await expect(made.check()).rejects.toMatchObject({
      code: "TC607",
      data: { point: [2, 0], earlier: [0, 0] },
    });
    launch([3, 4], 500, 4);
    await expect(made.check()).rejects.toMatchObject({ code: "TC601", point: [1, 0] });
    expect(await contents()).toEqual(expected);
    made.dispose();
  });
});

describe("workgroups of a scatter's module", () => {
  it("are numbered through where a step has more of them than a device takes along one dim", async (context) => {
    const gpu = await device(context);
    const kernel = compile(
      parsed(`dim N <= 800
func @f(%x: tensor<1600xf32>, %i: tensor<Nxi32>, %u: tensor<Nxf32>) -> tensor<1600xf32> {
  %y = access.scatter %x, %i, %u (d0 < N) let t = error(%i[d0] in 1600) -> (t) yield %u[d0] {oob = error, duplicates = last}
  return %y
}
`),
    );
    const small = limitedTo(targets.webgpu, "maxComputeWorkgroupsPerDimension=6");
    const made = await (await loadModule(kernel, "module", small)).create(gpu);
    for (const N of [800, 450, 385, 384, 1]) {
      const x = Float32Array.from({ length: 1600 }, (_, k) => -k);
      const i = Int32Array.from({ length: N }, (_, k) => (k * 3) % 1600);
      const u = Float32Array.from({ length: N }, (_, k) => k + 1);
      const expected = x.slice();
      i.forEach((at, k) => {
        expected[at] = u[k]!;
      });
      const { outputs } = await made.run({ x, i, u }, { N });
      expect(outputs["output"], `${N}`).toEqual(expected);
    }
    made.dispose();
  });
});

describe("arrays of a module that writes in place", () => {
  it("share no bytes with the one that is written", async () => {
    for (const made of await both(tokens("duplicates = last")))
      for (const buffer of [new ArrayBuffer(64), new SharedArrayBuffer(64)]) {
        const whole = new Uint8Array(buffer);
        whole.forEach((_, k) => (whole[k] = k));
        const before = whole.slice();
        const cache = new Uint16Array(buffer, 8, 8);
        const sizes = { V: 2, N: 1 };
        const slot = Int32Array.of(1);
        for (const [rows, bytes] of [
          [new Uint16Array(buffer, 8, 4), 8],
          [new Uint8Array(buffer, 22, 8), 2],
          [new Uint8Array(buffer, 1, 8), 1],
        ] as const)
          await expect(made.run({ cache, slot, rows }, sizes)).rejects.toMatchObject({
            code: "TC702",
            message: `TC702: rows and cache share ${bytes} bytes, and cache is written in place`,
            data: { bytes },
          });
        await expect(
          made.run({ cache, slot: new Int32Array(buffer, 20, 1), rows: counted(4, 1) }, sizes),
        ).rejects.toMatchObject({ code: "TC702" });
        expect(whole.slice()).toEqual(before);
        // Neighbours in one buffer share nothing.
        const { outputs } = await made.run({ cache, slot, rows: new Uint16Array(buffer, 24, 4) }, sizes);
        expect(outputs["output"]).toBe(cache);
        expect([...cache.subarray(4)]).toEqual([...new Uint16Array(buffer, 24, 4)]);
      }
  });
});
