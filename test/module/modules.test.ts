/** Modules: bits and errors of the reference, on a device and in WebAssembly, at every size that is open. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown, type RolldownOutput } from "rolldown";
import ts from "typescript";
import { build } from "vite";
import { describe, expect, it, type TestContext } from "vitest";
import { parsed } from "../support/parsed.js";
import { defaultLimits } from "../../backends/webgpu/index.js";
import { elementCount, targets } from "../../ir/index.js";
import { acquireGpu } from "../../src/device/node.js";
import { packageFile } from "../../src/device/package-files.js";
import { compile, gather, type Kernel } from "../../src/index.js";
import { emitModule } from "../../src/module/emit-module.js";
import { runtimeOf } from "../../src/module/runtime-of.js";
import { definitionOf, drawsOf } from "../../src/testing/draws.js";
import { requireGpu } from "../support/gpu.js";
import { arraysOf, loadModule, moduleOutcome, referenceOutcome } from "../support/modules.js";
import { modulePrograms } from "../support/module-programs.js";
import { inputsFor, openPrograms, openRows } from "../support/open-programs.js";

/** Devices stay referenced: Dawn crashes the process when one is collected. */
const kept: unknown[] = [];

const drawn = (kernel: Kernel) => [...drawsOf(kernel.tile, definitionOf(kernel), 7)];

const device = async (context: TestContext): Promise<GPUDevice> => {
  const gpu = await requireGpu();
  if (gpu === undefined) context.skip();
  return gpu.device;
};

const limit = { module: 16 * 1024, "module-cpu": 24 * 1024 } as const;

describe("a module for WebGPU", () => {
  it.for(modulePrograms)("has the bits and the errors of the reference: $name", async ({ func }, context) => {
    const kernel = compile(func, { target: targets.webgpu });
    const loaded = await loadModule(kernel);
    expect(loaded.bytes).toBeLessThanOrEqual(limit.module);
    const made = await loaded.create(await device(context));
    for (const { inputs, indices } of drawn(kernel)) {
      const expected = await referenceOutcome(kernel, inputs);
      expect(await moduleOutcome(() => made.run(arraysOf(inputs))), indices).toEqual(expected);
    }
    made.dispose();
  });

  it.for(openPrograms)("takes every size of its symbols: $name", async (open, context) => {
    const kernel = compile(parsed(open.text), { target: targets.webgpu, ...open.options });
    if (open.name.startsWith("a window")) {
      await expect(loadModule(kernel)).rejects.toThrow("has no bound");
      return;
    }
    const made = await (await loadModule(kernel)).create(await device(context));
    for (const sizes of open.sizes) {
      const bound = kernel.bind(sizes);
      const { data, indices } = inputsFor(bound);
      const given = { data: data.bytes, indices: indices.bytes };
      const outcome = await moduleOutcome(() => made.run(named(kernel, given), sizes));
      if (sizes["V"] === 0 && sizes["N"] !== 0) expect(outcome).toMatchObject({ code: "TC107" });
      else expect(outcome, JSON.stringify(sizes)).toEqual(await referenceOutcome(bound, { data, indices }));
    }
    made.dispose();
  });
});

describe("a module of bags", () => {
  const { func } = modulePrograms.find(({ name }) => name === "bags")!;

  it("names an index of a bag that begins late", async () => {
    const kernel = compile(func);
    const { type } = kernel.tile.operands[1]!;
    const values = Int32Array.from({ length: elementCount(type.shape) }, (_, k) => (k === 18 ? 99 : k));
    const given = { e: new Float32Array(64 * 4), i: values, off: Int32Array.of(0, 10, 17, 20) };
    const made = await (await loadModule(kernel, "module-cpu")).create();
    // The third bag is of the values 17 to 19, and 64 rows have no number 99.
    expect(await moduleOutcome(() => made.run(given))).toMatchObject({
      code: "TC601",
      message:
        "TC601: index 99 at i[18] (reduction element r = 18) is out of range for dim 0 of e, which takes [0, 63]",
      point: [2, 0],
      site: 2,
    });
    made.dispose();
  });
});

/** By the names of the text. */
const named = ({ tile }: Kernel, given: Record<"data" | "indices", Uint8Array>) => ({
  [tile.operands[0]!.name]: given.data,
  [tile.operands[1]!.name]: given.indices,
});

describe("the errors of a module", () => {
  const kernel = compile(gather({ data: ["f32", [8, 4]], indices: ["i32", [6]], axis: 0 }), {
    target: targets.webgpu,
  });
  const rows = { data: new Float32Array(32), indices: Int32Array.of(0, 1, 2, 3, -9, 8) };
  const storage = 128 | 4 | 8;
  const buffersOn = (own: GPUDevice, sizes: Readonly<Record<string, number>> = {}) => {
    const make = (name: string, size: number) =>
      own.createBuffer({ size: sizes[name] ?? size, usage: storage });
    return { data: make("data", 128), indices: make("indices", 24), output: make("output", 96) };
  };
  const launch = (own: GPUDevice, encode: (pass: GPUComputePassEncoder) => void): void => {
    const encoder = own.createCommandEncoder();
    const pass = encoder.beginComputePass();
    encode(pass);
    pass.end();
    own.queue.submit([encoder.finish()]);
  };

  it("name an index out of range, of launches in the caller's pass too, and only of those since the last check", async (context) => {
    const own = await device(context);
    const made = await (await loadModule(kernel)).create(own);
    const buffers = buffersOn(own);
    own.queue.writeBuffer(buffers.indices, 0, rows.indices);
    launch(own, (pass) => {
      made.encode(pass, buffers);
    });
    await expect(made.check()).rejects.toMatchObject({
      name: "GatherError",
      code: "TC601",
      message: "TC601: index -9 at indices[4] is out of range for dim 0 of data, which takes [-8, 7]",
      point: [4, 0],
      site: 0,
    });
    await made.check();
    own.queue.writeBuffer(buffers.indices, 0, Int32Array.of(0, 1, 2, 3, 4, 7));
    launch(own, (pass) => {
      made.encode(pass, buffers);
    });
    await made.check();
    const later = buffersOn(own);
    own.queue.writeBuffer(buffers.indices, 0, rows.indices);
    launch(own, (pass) => {
      made.encode(pass, buffers);
      made.encode(pass, later);
    });
    // The index of an earlier launch is not looked for in the buffers of the latest one.
    await expect(made.check()).rejects.toMatchObject({ code: "TC601", point: [4, 0], site: undefined });
  });

  it("tell buffers and arrays that do not fit, and calls after dispose", async (context) => {
    const own = await device(context);
    const made = await (await loadModule(kernel)).create(own);
    const encode = (buffers: Readonly<Record<string, GPUBuffer>>) => () => {
      launch(own, (pass) => {
        made.encode(pass, buffers);
      });
    };
    expect(encode(buffersOn(own, { data: 124 }))).toThrow(
      "TC702: buffers.data needs 128 B and usage STORAGE; it has 124 B and usage 140",
    );
    const { indices, output } = buffersOn(own, { output: 128 });
    expect(encode({ indices, output })).toThrow("buffers.data needs 128 B and usage STORAGE; it is missing");
    expect(encode({ data: output, indices, output })).toThrow(
      "buffers.output and buffers.data are one buffer",
    );
    await expect(made.run({ ...rows, data: new Float32Array(31) })).rejects.toMatchObject({
      code: "TC702",
      message: "TC702: data is f32[8, 4], Float32Array of 32; got Float32Array of 31",
      data: { key: "data", length: 32, given: 31 },
    });
    // JavaScript calls it without arguments, too.
    await expect((made.run as () => Promise<unknown>)()).rejects.toThrow("Float32Array of 32; got nothing");
    await expect(made.run(rows, null as never)).rejects.toMatchObject({ code: "TC601" });
    expect(() => {
      launch(own, (pass) => {
        made.encode(pass, buffersOn(own), null as never);
      });
    }).not.toThrow();
    await expect(made.run(rows, { N: 3 })).rejects.toThrow("TC107: gather has no size N");
    made.dispose();
    await expect(made.run(rows)).rejects.toThrow("TC702: gather was disposed of");
  });

  it("refuse a device below the limits, with the numbers, and one that is lost", async (context) => {
    await device(context);
    const found = await acquireGpu();
    if (!found.ok) throw new Error(found.problem.message);
    const own = found.gpu.device;
    kept.push(own);
    const large = compile(gather({ data: ["f32", [50257, 768]], indices: ["i32", [8]], axis: 0 }), {
      target: targets.webgpu,
    });
    const module = await loadModule(large);
    expect(module.requiredLimits["maxStorageBufferBindingSize"]).toBe(50257 * 768 * 4);
    const small = { ...defaultLimits, maxBufferSize: 2 ** 28 };
    const below = new Proxy(own, {
      get: (target, key) => (key === "limits" ? small : (Reflect.get(target, key) as unknown)),
    });
    await expect(module.create(below)).rejects.toMatchObject({
      code: "TC502",
      message: `TC502: the device's maxStorageBufferBindingSize is 134217728, and gather needs ${50257 * 768 * 4}`,
      data: { limit: "maxStorageBufferBindingSize", has: 134217728, needed: 50257 * 768 * 4 },
    });
    const made = await (await loadModule(kernel)).create(own);
    own.destroy();
    await own.lost;
    await expect(made.run(rows)).rejects.toMatchObject({ code: "TC504", data: { lost: true } });
    await expect((await loadModule(kernel)).create(own)).rejects.toMatchObject({ code: "TC504" });
  });
});

describe("the files of a module", () => {
  it("have strict types, and bundle without tilec", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-module-"));
    try {
      const [fixed, open] = [
        compile(gather({ data: ["f16", [8, 4]], indices: ["i64", [6]], axis: 0 }), {
          target: targets.webgpu,
        }),
        compile(parsed(openRows("f32", 8)), { target: targets.webgpu }),
      ];
      const cache = compile(
        parsed(`dim N <= 8
func @write(%cache: inout tensor<4x2xf16>, %slot: tensor<Nxi32>, %rows: tensor<Nx2xf16>) -> tensor<4x2xf16> {
  %y = access.scatter %cache, %slot, %rows (d0 < N, d1 < 2) let t = skip(%slot[d0] in 4) -> (t, d1) yield %rows[d0, d1] {oob = error, duplicates = last}
  return %y
}
`),
      );
      for (const [name, kernel, kind] of [
        ["fixed", fixed, "module"],
        ["open", open, "module"],
        ["cpu", fixed, "module-cpu"],
        ["cache", cache, "module-cpu"],
      ] as const) {
        const { code, declarations } = emitModule(kernel, kind, runtimeOf);
        expect(code).not.toMatch(/^import|import\(|require\(/m);
        writeFileSync(join(folder, `${name}.js`), code);
        writeFileSync(join(folder, `${name}.d.ts`), declarations);
      }
      const app = join(folder, "app.ts");
      writeFileSync(
        app,
        `import { create, requiredLimits, GatherError } from "./fixed.js";
import { create as createOpen } from "./open.js";
import { create as createCpu } from "./cpu.js";
import { create as createCache, type Outputs as Cache } from "./cache.js";
export async function app(device: GPUDevice, pass: GPUComputePassEncoder, buffer: GPUBuffer): Promise<Uint16Array> {
  const gather = await create(device);
  const { outputs } = await gather.run({ data: new Uint16Array(32), indices: new BigInt64Array(6) });
  gather.encode(pass, { data: buffer, indices: buffer, output: buffer });
  await gather.check().catch((error: unknown) => {
    if (error instanceof GatherError) console.log(error.code, error.point?.[0], error.site, error.data["bytes"]);
  });
  gather.dispose();
  console.log(requiredLimits["maxBufferSize"]);
  const open = await createOpen(device);
  const rows: Float32Array = (await open.run({ data: new Float32Array(16), indices: new Int32Array(1) }, { V: 2, N: 1 })).outputs.output;
  // @ts-expect-error sizes are missing
  await open.run({ data: rows, indices: new Int32Array(1) });
  // @ts-expect-error halves are their bits
  await gather.run({ data: new Float32Array(32), indices: new BigInt64Array(6) });
  const cache = await createCache();
  const given = { slot: new Int32Array(1), rows: new Uint16Array(2) };
  const halves: Uint16Array = (await cache.run({ ...given, cache: new Uint16Array(8) }, { N: 1 })).outputs.output;
  const written = await cache.run({ ...given, cache: new Uint8Array(16) }, { N: 1 });
  const bytes: Uint8Array = written.outputs.output;
  const either: Cache = written.outputs;
  // @ts-expect-error the output is the array that was given
  const wrong: Uint16Array = written.outputs.output;
  console.log(halves, bytes, either, wrong);
  const onCpu = await (await createCpu()).run({ data: new Uint16Array(32), indices: new BigInt64Array(6) });
  return onCpu.outputs.output.length > 0 ? onCpu.outputs.output : outputs.output;
}
`,
      );
      for (const types of [[], ["@webgpu/types"]]) {
        const program = ts.createProgram([app], {
          ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
          ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, types },
          ...{
            typeRoots: [packageFile("node_modules")],
            lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
            skipLibCheck: false,
          },
        });
        // The compiler's own types of WebGPU and those of the package contradict each other.
        const found = ts
          .getPreEmitDiagnostics(program)
          .filter(({ file }) => file === undefined || !file.fileName.includes("/node_modules/"))
          .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
        expect(found).toEqual([]);
      }
      const bundle = await rolldown({ input: app, platform: "browser" });
      // One output a format.
      const minified = (await build({
        root: folder,
        configFile: false,
        logLevel: "error",
        build: { write: false, minify: true, lib: { entry: app, formats: ["es"] } },
      })) as RolldownOutput[];
      const built = [await bundle.generate({}), ...minified];
      expect(built).toHaveLength(2);
      for (const { output } of built) {
        expect(output).toHaveLength(1);
        expect(output[0].imports).toEqual([]);
        expect(output[0].moduleIds.length).toBeGreaterThanOrEqual(4);
        expect(output[0].moduleIds.every((id) => id.startsWith(realpathSync(folder)))).toBe(true);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("a call of a module for WebAssembly with other arguments than it takes", () => {
  const load = async (kernel: Kernel) => (await loadModule(kernel, "module-cpu")).create();
  const fixed = compile(gather({ data: ["f32", [8, 4]], indices: ["i32", [2]], axis: 0 }));
  const rows = () => ({ data: new Float32Array(32), indices: Int32Array.of(0, 1) });
  /** The array without its buffer, which is transferred to another thread. */
  function transferred<T extends ArrayBufferView>(array: T): T {
    structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
    return array;
  }

  it.each<readonly [string, object | null, string]>([
    ["nothing", null, "data is f32[8, 4], Float32Array of 32; got nothing"],
    ["no array", { ...rows(), data: null }, "data is f32[8, 4], Float32Array of 32; got nothing"],
    [
      "a short array",
      { ...rows(), data: new Float32Array(31) },
      "data is f32[8, 4], Float32Array of 32; got Float32Array of 31",
    ],
    [
      "an array of another type",
      { ...rows(), data: new Int32Array(32) },
      "data is f32[8, 4], Float32Array of 32; got Int32Array of 32",
    ],
    [
      "an array whose buffer was transferred",
      { ...rows(), data: transferred(new Float32Array(32)) },
      "data is f32[8, 4], Float32Array of 32; got Float32Array of 0",
    ],
  ])("is told what it has: %s", async (_, given, message) => {
    const made = await load(fixed);
    await expect(made.run(given as never)).rejects.toMatchObject({
      name: "GatherError",
      message: `TC702: ${message}`,
    });
  });

  it("takes no sizes for none, and an array without elements whose buffer was transferred", async () => {
    const none = compile(gather({ data: ["f32", [8, 4]], indices: ["i32", [0]], axis: 0 }));
    const [made, empty] = [await load(fixed), await load(none)];
    expect((await made.run(rows(), null as never)).outputs).toEqual({ output: new Float32Array(8) });
    const given = { data: new Float32Array(32), indices: transferred(new Int32Array(0)) };
    expect((await empty.run(given)).outputs).toEqual({ output: new Float32Array(0) });
    const dynamic = await load(compile(parsed(openRows("f32", 8)), { target: targets.cpu }));
    await expect(dynamic.run({}, null as never)).rejects.toThrow(
      /^TC107: size [NV] is undefined, and takes /,
    );
  });
});

describe("a module for WebAssembly", () => {
  it.for(modulePrograms)("has the bits and the errors of the reference: $name", async ({ func }) => {
    const kernel = compile(func, { target: targets.cpu });
    const loaded = await loadModule(kernel, "module-cpu");
    expect(loaded.bytes).toBeLessThanOrEqual(limit["module-cpu"]);
    const made = await loaded.create();
    for (const { inputs, indices } of drawn(kernel)) {
      const expected = await referenceOutcome(kernel, inputs);
      expect(await moduleOutcome(() => made.run(arraysOf(inputs))), indices).toEqual(expected);
    }
    made.dispose();
  });

  it.for(openPrograms)("takes every size of its symbols: $name", async (open) => {
    const kernel = compile(parsed(open.text), { target: targets.cpu });
    if (open.name.startsWith("a window")) {
      await expect(loadModule(kernel, "module-cpu")).rejects.toThrow("has no bound");
      return;
    }
    const made = await (await loadModule(kernel, "module-cpu")).create();
    for (const sizes of open.sizes) {
      const bound = kernel.bind(sizes);
      const { data, indices } = inputsFor(bound);
      const given = { data: data.bytes, indices: indices.bytes };
      const outcome = await moduleOutcome(() => made.run(named(kernel, given), sizes));
      if (sizes["V"] === 0 && sizes["N"] !== 0) expect(outcome).toMatchObject({ code: "TC107" });
      else expect(outcome, JSON.stringify(sizes)).toEqual(await referenceOutcome(bound, { data, indices }));
    }
    made.dispose();
  });
});
