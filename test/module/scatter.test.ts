/** Modules of scatters for WebGPU: bits and errors of the reference, in the caller's arrays and buffers. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, type TestContext } from "vitest";
import { inputsOf, keyOf, parseModule } from "../../ir/index.js";
import { compile, type Kernel } from "../../src/index.js";
import { caseProgram } from "../../src/formats/case-program.js";
import { readCases } from "../../src/formats/cases.js";
import { asHost } from "../../src/formats/tensor.js";
import { emitModule } from "../../src/module/emit-module.js";
import { runtimeOf } from "../../src/module/runtime-of.js";
import { copies } from "../../src/testing/inouts.js";
import { requireGpu } from "../support/gpu.js";
import {
  arraysOf,
  loadModule,
  moduleOutcome,
  referenceOutcome,
  type LoadedGather,
} from "../support/modules.js";
import { parsed } from "../support/parsed.js";

const device = async (context: TestContext): Promise<GPUDevice> => {
  const gpu = await requireGpu();
  if (gpu === undefined) context.skip();
  return gpu.device;
};

const folder = new URL("../conformance/scatter/", import.meta.url);
/** Every sixth case that compiles; on a device all of them take half a minute. */
const compiled = readdirSync(folder)
  .sort()
  .flatMap((name) => readCases(readFileSync(new URL(name, folder), "utf8"), name))
  .filter(({ expectedError }) => expectedError === undefined || /index|duplicate/.test(expectedError));
const cases = compiled.filter((_, k) => k % 6 === 0);

/** Compares a module of a case with the reference: outputs or errors, and what the inputs then hold. */
async function compare(
  test: (typeof compiled)[number],
  kernel: Kernel,
  made: Pick<LoadedGather, "run" | "dispose">,
): Promise<void> {
  const read = inputsOf(kernel.tile).map((operand) => {
    const key = keyOf(operand);
    return [key, asHost(key, test.inputs[operand.name]!.read())] as const;
  });
  const inputs = Object.fromEntries(read);
  const given = copies(inputs);
  const outcome = await moduleOutcome(() => made.run(arraysOf(given)));
  expect(outcome, test.id).toEqual(await referenceOutcome(kernel, copies(inputs)));
  for (const operand of inputsOf(kernel.tile)) {
    const key = keyOf(operand);
    const isWritten = operand.inout === true && Array.isArray(outcome);
    const after = isWritten ? Uint8Array.from(outcome as number[]) : inputs[key]!.bytes;
    if (inputs[key]!.strings === undefined) expect(given[key]!.bytes, test.id).toEqual(after);
  }
  made.dispose();
}

const kv = (rest: string): Kernel =>
  compile(
    parsed(`func @kv(%cache: inout tensor<16x6xf16>, %slot: tensor<4xi32>, %rows: tensor<4x6xf16>) -> tensor<16x6xf16> {
  %y = access.scatter %cache, %slot, %rows (d0 < 4, d1 < 6) let t = error(%slot[d0] in 16) -> (t, d1) yield %rows[d0, d1] {oob = error, ${rest}}
  return %y
}
`),
  );

/** Bits 1, 2, 3, …, 16 bits each. */
const counted = (length: number, from: number): Uint16Array =>
  Uint16Array.from({ length }, (_, k) => k + from);

/** The cache after rows go to slots 3, 9, 3 and 0, the last of two staying. */
function expectedCache(): Uint16Array {
  const cache = counted(96, 1000);
  [3, 9, 3, 0].forEach((slot, k) => {
    cache.set(counted(6, 1 + 6 * k), 6 * slot);
  });
  return cache;
}

describe("a module of a scatter", () => {
  it("has the bits and the errors of the reference", async (context) => {
    const gpu = await device(context);
    expect(cases.length).toBeGreaterThan(35);
    for (const test of cases) {
      const program = caseProgram(test);
      if (!program.ok) throw new Error(JSON.stringify(program.diagnostics));
      const kernel = compile(program.func);
      await compare(test, kernel, await (await loadModule(kernel)).create(gpu));
    }
  });

  it("writes in the caller's array, which is the output", async (context) => {
    const made = await (await loadModule(kv("duplicates = last"))).create(await device(context));
    const cache = new Uint8Array(counted(96, 1000).buffer);
    const rows = new Uint8Array(counted(24, 1).buffer);
    const { outputs } = await made.run({ cache, slot: Int32Array.of(3, 9, 3, 0), rows });
    expect(outputs["output"]).toBe(cache);
    expect(new Uint16Array(cache.buffer)).toEqual(expectedCache());
    await expect(made.run({ cache, slot: Int32Array.of(3, 16, 3, 0), rows })).rejects.toMatchObject({
      code: "TC601",
      point: [1, 0],
    });
    expect(new Uint16Array(cache.buffer)).toEqual(expectedCache());
    await expect(made.run({ cache, slot: Int32Array.of(3, 1, 3, 0), rows }, { N: 1 })).rejects.toMatchObject({
      code: "TC107",
    });
    made.dispose();
    await expect(made.run({ cache, slot: Int32Array.of(3, 1, 3, 0), rows })).rejects.toMatchObject({
      code: "TC702",
    });
  });

  it("writes in the caller's buffers, and `check` names two points that write one element", async (context) => {
    const gpu = await device(context);
    const made = await (await loadModule(kv("duplicates = error"))).create(gpu);
    const buffer = (bytes: ArrayBuffer): GPUBuffer => {
      const usage = 128 | 4 | 8;
      const it = gpu.createBuffer({ size: Math.max(4, bytes.byteLength), usage });
      gpu.queue.writeBuffer(it, 0, bytes);
      return it;
    };
    const buffers = {
      cache: buffer(counted(96, 1000).buffer as ArrayBuffer),
      slot: buffer(Int32Array.of(3, 9, 3, 0).buffer),
      rows: buffer(counted(24, 1).buffer as ArrayBuffer),
    };
    const launch = (): void => {
      const encoder = gpu.createCommandEncoder();
      const pass = encoder.beginComputePass();
      made.encode(pass, buffers);
      pass.end();
      gpu.queue.submit([encoder.finish()]);
    };
    const contents = async (): Promise<Uint16Array> => {
      const host = gpu.createBuffer({ size: 192, usage: 8 | 1 });
      const encoder = gpu.createCommandEncoder();
      encoder.copyBufferToBuffer(buffers.cache, 0, host, 0, 192);
      gpu.queue.submit([encoder.finish()]);
      await host.mapAsync(1);
      return new Uint16Array(host.getMappedRange().slice(0));
    };
    launch();
    await expect(made.check()).rejects.toMatchObject({
      code: "TC607",
      message: "TC607: points [0, 0] and [2, 0] both write output[3, 0]",
      data: { point: [2, 0], earlier: [0, 0], element: 18 },
    });
    expect(await contents()).toEqual(counted(96, 1000));
    // The status is as before a launch again.
    await made.check();
    gpu.queue.writeBuffer(buffers.slot, 0, Int32Array.of(3, 9, 5, 0));
    launch();
    await made.check();
    expect([...(await contents()).subarray(30, 36)]).toEqual([13, 14, 15, 16, 17, 18]);
    gpu.queue.writeBuffer(buffers.slot, 0, Int32Array.of(3, -1, 3, 0));
    launch();
    await expect(made.check()).rejects.toMatchObject({ code: "TC601", point: [1, 0], site: 0 });
    const pass = gpu.createCommandEncoder().beginComputePass();
    expect(() => {
      made.encode(pass, { ...buffers, rows: buffers.cache });
    }).toThrow("are one buffer");
    expect(() => {
      made.encode(pass, { cache: buffers.cache, slot: buffers.slot });
    }).toThrow("is missing");
    pass.end();
  });

  it("declares no buffer for the output where an input is written, and fits into 16 kB", () => {
    const { code, declarations } = emitModule(kv("duplicates = last"), "module", runtimeOf);
    expect(code.length).toBeLessThanOrEqual(16 * 1024);
    const buffers = /interface Buffers \{([^}]*)\}/.exec(declarations)?.[1] ?? "";
    expect([...buffers.matchAll(/readonly (\w+)/g)].map(([, name]) => name)).toEqual([
      "cache",
      "slot",
      "rows",
    ]);
  });

  it("of a size that is open in a dim of the domain after the first is refused, with the way out", () => {
    const { funcs } = parseModule(
      `dim T <= 64
func @kv(%x: tensor<9x4xf32>, %i: tensor<Txi64>, %u: tensor<Tx4xf32>) -> tensor<9x4xf32> {
  %y = access.scatter %x, %i, %u (d0 < 4, d1 < T) -> (%i[d1], d0) yield %u[d1, d0] {oob = error, duplicates = last}
  return %y
}
`,
      "open.tir",
    ).module;
    const kernel = compile(funcs[0]!);
    for (const kind of ["module", "module-cpu"] as const)
      expect(() => emitModule(kernel, kind, runtimeOf)).toThrow(/choose sizes: --bind/);
  });
});

describe("a module of a scatter in WebAssembly", () => {
  it("has the bits and the errors of the reference, and fits into 16 kB", async () => {
    const counts = { run: 0, refused: 0 };
    for (const test of compiled.filter((_, k) => k % 2 === 0)) {
      const program = caseProgram(test);
      if (!program.ok) throw new Error(JSON.stringify(program.diagnostics));
      const kernel = compile(program.func);
      let loaded;
      try {
        loaded = await loadModule(kernel, "module-cpu");
      } catch (thrown) {
        // Values that may lack an element, and terms with index values of their own, have no code.
        expect(String(thrown), test.id).toMatch(/TC505.*there is no code of WebAssembly for it/);
        counts.refused++;
        continue;
      }
      expect(loaded.bytes, test.id).toBeLessThanOrEqual(16 * 1024);
      await compare(test, kernel, await loaded.create());
      counts.run++;
    }
    expect(counts.run).toBeGreaterThan(100);
    expect(counts.refused).toBeLessThan(counts.run / 10);
  });

  it("writes in the caller's array, unless the run is rejected", async () => {
    const made = await (await loadModule(kv("duplicates = error"), "module-cpu")).create();
    const cache = new Uint8Array(counted(96, 1000).buffer);
    const rows = new Uint8Array(counted(24, 1).buffer);
    await expect(made.run({ cache, slot: Int32Array.of(3, 9, 3, 0), rows })).rejects.toMatchObject({
      code: "TC607",
      message: "TC607: points [0, 0] and [2, 0] both write output[3, 0]",
      data: { point: [2, 0], earlier: [0, 0], element: 18 },
    });
    await expect(made.run({ cache, slot: Int32Array.of(3, 16, 3, 0), rows })).rejects.toMatchObject({
      code: "TC601",
      point: [1, 0],
    });
    expect(new Uint16Array(cache.buffer)).toEqual(counted(96, 1000));
    const { outputs } = await made.run({ cache, slot: Int32Array.of(3, 9, 5, 0), rows });
    expect(outputs["output"]).toBe(cache);
    expect([...new Uint16Array(cache.buffer).subarray(30, 36)]).toEqual([13, 14, 15, 16, 17, 18]);
    made.dispose();
    await expect(made.run({ cache, slot: Int32Array.of(3, 1, 5, 0), rows })).rejects.toMatchObject({
      code: "TC702",
    });
  });
});
