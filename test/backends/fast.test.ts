import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import wabt from "wabt";
import { FastExecutor, simulate, simulateLong, watOf, type SpawnThread } from "../../backends/sim/index.js";
import { emitWasm, encodeModule, planWasm } from "../../backends/wasm/index.js";
import { defined, elementCount, targets } from "../../ir/index.js";
import { compile, onnx, tryCompile, type Kernel } from "../../src/index.js";
import { caseProgram } from "../../src/formats/case-program.js";
import { readCases, type Case } from "../../src/formats/cases.js";
import { program } from "../../src/api/program.js";
import { fits, hostInputsOf } from "../support/case-kernel.js";
import { operandOf } from "../support/operands.js";
import { spawnThread as spawn } from "../../src/device/index.js";
import { outcomeOn } from "../support/fast.js";
import { rejections } from "../support/refusal.js";
import { runs, tried } from "../support/runs.js";

const folder = new URL("../conformance/cases/", import.meta.url);
/** Larger ones take the checked executor long; `tilec check --executor fast` runs them. */
const mostElements = 60_000;
const cases: readonly Case[] = readdirSync(folder)
  .flatMap((name) => readCases(readFileSync(new URL(name, folder), "utf8"), name))
  .filter(
    ({ inputs }) =>
      Object.values(inputs).reduce((sum, { type }) => sum + elementCount(type.shape), 0) <= mostElements,
  );

/** A gather of 300 rows from 40, by 3 columns of tasks. */
const kernel = compile(onnx.gather({ data: ["f32", [40, 96]], indices: ["i32", [300]], axis: 0 }), {
  target: targets.cpu,
  tile: [7, 32],
  residency: "ub",
});
const data = Float32Array.from({ length: 40 * 96 }, (_, k) => k);
const indices = Int32Array.from({ length: 300 }, (_, k) => ((k * 17) % 80) - 40);
const expected = Float32Array.from({ length: 300 * 96 }, (_, k) => {
  const row = indices[Math.floor(k / 96)]!;
  return (row < 0 ? row + 40 : row) * 96 + (k % 96);
});
const hosts = (i: Int32Array, of: Kernel = kernel) => ({
  data: { type: operandOf(of.tile, "data").type, bytes: new Uint8Array(data.buffer) },
  indices: { type: operandOf(of.tile, "indices").type, bytes: new Uint8Array(i.buffer) },
});

describe("the fast executor", () => {
  it("agrees with the checked one on every case: bits, counts and errors", () => {
    let compared = 0;
    for (const test of tried(cases)) {
      const found = caseProgram(test);
      const result = found.ok ? tryCompile(found.func) : undefined;
      if (result?.ok !== true || !fits(test, result.kernel.tile)) continue;
      const inputs = hostInputsOf(test, result.kernel.tile);
      const [fast, checked] = (["fast", "checked"] as const).map((executor) =>
        outcomeOn(executor, result.kernel, inputs),
      );
      expect(fast, test.id).toEqual(checked);
      compared++;
    }
    expect(compared).toBeGreaterThan(runs(300));
  });

  it("uses arrays of its own without a copy, and says what others cost", () => {
    const executor = FastExecutor.create(kernel.tile);
    executor.inputs["data"]!.bytes.set(new Uint8Array(data.buffer));
    executor.inputs["indices"]!.bytes.set(new Uint8Array(indices.buffer));
    const own = executor.run();
    expect(own.copied).toEqual({ bytes: 0, milliseconds: 0 });
    expect(new Float32Array(own.output.slice().buffer)).toEqual(expected);
    const foreign = executor.run(hosts(indices));
    expect(foreign.copied.bytes).toBe(data.byteLength + indices.byteLength);
    expect(foreign.output.buffer).toBe(executor.inputs["data"]!.bytes.buffer);
  });

  it("takes over the memory of an executor of the same tensors, with its inputs, and grows it where a program needs more", () => {
    const [data, indices] = [
      new Float32Array(80 * 256).map((_, k) => k),
      new Int32Array(80 * 256).map((_, k) => (k * 7) % 256),
    ];
    const op = onnx.gatherElements({ data: ["f32", [80, 256]], indices: ["i32", [80, 256]], axis: 1 });
    const wanted = data.map((_, k) => data[256 * Math.floor(k / 256) + indices[k]!]!);
    const kernels = [1, 60, 2].map((rows) => compile(op, { target: targets.ascendA2, tile: [rows, 256] }));
    let latest: FastExecutor | undefined;
    const sizes: number[] = [];
    for (const { tile } of kernels) {
      const executor: FastExecutor = FastExecutor.create(tile, defined({ before: latest }));
      if (latest === undefined) {
        executor.inputs["data"]!.bytes.set(new Uint8Array(data.buffer));
        executor.inputs["indices"]!.bytes.set(new Uint8Array(indices.buffer));
      }
      executor.output.fill(0xaa);
      const run = executor.run();
      expect(run.copied.bytes).toBe(0);
      expect(new Float32Array(run.output.slice().buffer)).toEqual(wanted);
      sizes.push(run.output.buffer.byteLength);
      latest = executor;
    }
    expect(sizes[1]).toBeGreaterThan(sizes[0]!);
    expect(sizes[2]).toBe(sizes[1]);
    expect(() => FastExecutor.create(kernel.tile, { before: latest! })).toThrow(
      expect.objectContaining({ diagnostics: [expect.objectContaining({ code: "TC702" })] }),
    );
  });

  it("reports the same whatever ran before, byte for byte", () => {
    const run = (): string =>
      JSON.stringify(simulate(kernel, { data, indices }, { executor: "fast" }).report);
    expect(run()).toBe(run());
    expect(simulate(kernel, { data, indices }, { executor: "fast" }).report).toMatchObject({
      executor: "fast",
      copiedBytes: data.byteLength + indices.byteLength,
    });
  });

  it.each([2, 3])("gives the same bits and the same first error on %i threads", async (threads) => {
    const executor = await FastExecutor.open(kernel.tile, { threads, spawn });
    try {
      for (let round = 0; round < 20; round++) {
        executor.output.fill(0xaa);
        expect(new Float32Array(executor.run(hosts(indices)).output.slice().buffer)).toEqual(expected);
      }
      const bad = indices.slice();
      [bad[299], bad[123], bad[124]] = [40, -41, 1000];
      const [found] = await rejections(() => executor.run(hosts(bad)));
      expect(found).toMatchObject({ code: "TC601", data: { position: 123, value: "-41" } });
      const { output } = await executor.runLong(hosts(indices));
      expect(new Float32Array(output.slice().buffer)).toEqual(expected);
    } finally {
      await executor.close();
    }
  });

  it("needs a way to start threads, and a number of them", async () => {
    expect(await rejections(() => FastExecutor.open(kernel.tile, { threads: 2 }))).toMatchObject([
      { code: "TC702", hint: expect.stringContaining("spawnThread") },
    ]);
    expect(await rejections(() => FastExecutor.open(kernel.tile, { threads: 0, spawn }))).toMatchObject([
      { code: "TC702" },
    ]);
  });

  it(
    "starts 64 threads, each of which loads one module that imports no other",
    { timeout: 60_000 },
    async () => {
      const executor = await FastExecutor.open(kernel.tile, { threads: 64, spawn });
      try {
        expect(new Float32Array(executor.run(hosts(indices)).output.slice().buffer)).toEqual(expected);
      } finally {
        await executor.close();
      }
      const text = readFileSync(new URL("../../backends/wasm/thread.ts", import.meta.url), "utf8");
      expect(text).not.toMatch(/^(?:import|export .* from)/m);
    },
  );

  it("does not wait for ever for threads that never start", { timeout: 30_000 }, async () => {
    const silent: SpawnThread = () => ({ terminate: () => undefined });
    expect(
      await rejections(() => FastExecutor.open(kernel.tile, { threads: 2, spawn: silent })),
    ).toMatchObject([{ code: "TC702", message: "0 of 1 threads started, and no other within 5000 ms" }]);
  });

  it("refuses tensors beyond a 32-bit memory, with the bytes", async () => {
    const large = compile(onnx.gather({ data: ["f64", [2 ** 29, 1]], indices: ["i32", [4]], axis: 0 }), {
      target: targets.cpu,
    });
    const [found] = await rejections(() => FastExecutor.create(large.tile));
    expect(found).toMatchObject({ code: "TC502", data: { limit: 2 ** 32 } });
  });

  it.each([
    ["f64", "use the checked executor, or split the tensors"],
    ["c128", "split the tensors"],
  ] as const)("names the checked executor where its arrays have room: 2^29 of %s", async (dtype, hint) => {
    const func = onnx.gather({ data: [dtype, [2 ** 29, 1]], indices: ["i32", [4]], axis: 0 });
    const [found] = await rejections(() => FastExecutor.create(compile(func, { target: targets.cpu }).tile));
    expect(found).toMatchObject({ code: "TC502", hint });
  });
});

describe("a run on threads that is given up", () => {
  it("ends its threads", async () => {
    const long = compile(onnx.gather({ data: ["f32", [40, 96]], indices: ["i32", [300_000]], axis: 0 }), {
      target: targets.cpu,
      tile: [1, 1],
    });
    let alive = 0;
    const counted: SpawnThread = (message) => {
      const worker = spawn(message);
      alive++;
      return {
        terminate() {
          alive--;
          return worker.terminate();
        },
      };
    };
    const stop = new AbortController();
    const reason = new Error("enough");
    const run = simulateLong(
      long,
      { data, indices: new Int32Array(300_000) },
      {
        executor: "fast",
        threads: 3,
        spawn: counted,
        signal: stop.signal,
        onProgress(done, tasks) {
          if (done < tasks) stop.abort(reason);
        },
      },
    );
    await expect(run).rejects.toBe(reason);
    expect(alive).toBe(0);
  });
});

describe.each(["checked", "fast"] as const)("a long run on the %s executor", (executor) => {
  const long = compile(onnx.gather({ data: ["f32", [40, 96]], indices: ["i32", [60_000]], axis: 0 }), {
    target: targets.cpu,
    tile: [executor === "fast" ? 1 : 7, 96],
  });
  const many = Int32Array.from({ length: 60_000 }, (_, k) => k % 40);

  it("tells how far it is and can be given up", async () => {
    const seen: number[] = [];
    const stop = new AbortController();
    const run = simulateLong(
      long,
      { data, indices: many },
      {
        executor,
        signal: stop.signal,
        onProgress(done, tasks) {
          expect(done).toBeLessThanOrEqual(tasks);
          seen.push(done);
          stop.abort(new Error("enough"));
        },
      },
    );
    if (executor === "checked") await expect(run).rejects.toThrow("enough");
    else await run.catch(() => undefined);
    expect(seen.length).toBeGreaterThan(0);
    await expect(
      simulateLong(long, { data, indices: many }, { executor, signal: stop.signal }),
    ).rejects.toThrow("enough");
  });
});

describe("the WebAssembly text", () => {
  it("assembles to the bytes that run, for every type, index and policy", async () => {
    const assembler = await wabt();
    for (const dtype of ["u8", "f16", "f32", "i64", "c128"] as const) {
      for (const index of ["i32", "u32", "i64", "u64"] as const) {
        for (const oob of ["error", "clamp", "zero", "wrap"] as const) {
          const func = program({
            op: "onnx.gather_elements",
            attrs: { axis: 1, oob },
            data: { dtype, shape: [4, 40] },
            indices: { dtype: index === "u32" || index === "u64" ? "i32" : index, shape: [4, 40] },
          });
          const { tile } = compile(func, { target: targets.cpu });
          const { module } = emitWasm(planWasm(tile));
          const assembled = assembler.parseWat("kernel.wat", watOf(tile));
          assembled.validate();
          const { buffer } = assembled.toBinary({ canonicalize_lebs: true });
          expect(WebAssembly.validate(encodeModule(module))).toBe(true);
          expect(Buffer.from(encodeModule(module)).equals(Buffer.from(buffer))).toBe(true);
          assembled.destroy();
        }
      }
    }
  });

  it("names the program's statements and variables", () => {
    const text = watOf(kernel.tile);
    expect(text).toContain(";; for %t0 = 0 to 300 step 7");
    expect(text).toContain(";; gather %data");
    expect(text).toContain("local.get $t0");
  });
});
