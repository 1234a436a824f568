/**
 * Outputs without elements: index values that no empty dim follows are looked up on every backend, and one
 * out of range is reported.
 */
import { describe, expect, it } from "vitest";
import { FastExecutor, simulate, simulateLong } from "../../backends/sim/index.js";
import type { GpuBuffers, Runner } from "../../backends/webgpu/index.js";
import { keyOf, inputsOf, printFunc, RunError, type Func } from "../../ir/index.js";
import { compile, run, targets, tryCompile, type Kernel } from "../../src/index.js";
import { drawer } from "../fuzz/mutate.js";
import { judgeMap } from "../support/map-trials.js";
import { loadModule } from "../support/modules.js";
import { randomSteps } from "../support/random-steps.js";
import { runnerOr } from "../support/gpu.js";
import { runs } from "../support/runs.js";
import { parsed } from "../support/parsed.js";

/** Rows of no elements, by three indices. */
const rows = parsed(`func @rows(%x: tensor<3x0xf32>, %i: tensor<3xi64>) -> tensor<3x0xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`);
const rowsOf = (...indices: readonly bigint[]) => ({
  x: new Float32Array(0),
  i: BigInt64Array.from(indices),
});
const bad = {
  code: "TC601",
  data: { table: "indices", position: 1, value: "5", axis: 0, extent: 3, point: [1, 0], site: 0 },
};

/** What a call came to: the code and the numbers of its error, or `done`. */
async function outcome(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return "done";
  } catch (thrown) {
    if (thrown instanceof RunError) return thrown.diagnostics[0];
    const { code, data } = thrown as { readonly code?: string; readonly data?: unknown };
    if (code === undefined) throw thrown;
    return { code, data };
  }
}

describe("an output without elements", () => {
  it("has the oracle's first bad point on every backend, whatever the schedule", async (context) => {
    const runner = await runnerOr(context);
    const counts = { "right bits": 0, error: 0, refused: 0, accepted: 0 };
    for (let seed = 0; seed < runs(150); seed++) {
      const draw = drawer(seed * 19 + 7);
      counts[await judgeMap(randomSteps(draw, true), draw, seed % 4 === 0 ? runner : undefined)]++;
    }
    expect(counts["right bits"]).toBeGreaterThan(runs(50));
    expect(counts.error).toBeGreaterThanOrEqual(runs(10));
  });

  it.each(["ascend-a2", "ascend-950", "cpu", "webgpu"])("reports the first index of %s", async (target) => {
    const kernel = compile(rows, { target });
    const given = rowsOf(0n, 5n, -1n);
    expect(await outcome(() => run(kernel, given, { backend: "reference" }))).toMatchObject(bad);
    for (const executor of ["checked", "fast"] as const) {
      expect(await outcome(() => simulate(kernel, given, { executor }))).toMatchObject(bad);
      expect(await outcome(() => simulateLong(kernel, given, { executor }))).toMatchObject(bad);
      expect(simulate(kernel, rowsOf(0n, 1n, 2n), { executor }).outputs.output).toHaveLength(0);
    }
    const executor = FastExecutor.create(kernel.tile);
    new BigInt64Array(
      executor.inputs["indices"]!.bytes.buffer,
      executor.inputs["indices"]!.bytes.byteOffset,
      3,
    )[1] = 5n;
    expect(await outcome(() => executor.run())).toMatchObject(bad);
    expect(await outcome(() => executor.runLong())).toMatchObject(bad);
    const { tasks } = simulate(kernel, rowsOf(0n, 1n, 2n)).report;
    expect(tasks).toBe(0);
  });

  it("reports it for data that lie elsewhere", async () => {
    const part = parsed(`func @part(%x: tensor<3x900xf32>, %i: tensor<2xi32>) -> tensor<2x0xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], 7 - d1) {oob = error}
  return %y
}
`);
    const kernel = compile(part, { target: targets.cpu });
    const given = { x: new Float32Array(2700), i: Int32Array.of(2, 3) };
    for (const executor of ["checked", "fast"] as const)
      expect(await outcome(() => simulate(kernel, given, { executor }))).toMatchObject({ code: "TC601" });
  });

  it("states its map as text, which parses back to the same reports", async () => {
    const { tile } = compile(rows, { target: targets.ascendA2 });
    const again = parsed(printFunc(tile));
    expect(printFunc(again)).toBe(printFunc(tile));
    for (const backend of ["reference", "sim"] as const)
      expect(await outcome(() => run(compile(again), rowsOf(0n, 5n, 1n), { backend }))).toMatchObject(bad);
  });

  it("has no statement where no index value is looked up, or none is rejected", () => {
    const kept = (text: string): number => compile(parsed(text), { target: targets.cpu }).tile.body.length;
    const map = (shapes: string, oob: string): string =>
      `func @f(${shapes} {\n  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = ${oob}}\n  return %y\n}\n`;
    const none = "%x: tensor<3x4xf32>, %i: tensor<0xi32>) -> tensor<0x4xf32>";
    const some = "%x: tensor<3x0xf32>, %i: tensor<2xi32>) -> tensor<2x0xf32>";
    expect([kept(map(none, "error")), kept(map(some, "clamp")), kept(map(some, "zero"))]).toEqual([0, 0, 0]);
    expect(kept(map(some, "error"))).toBe(1);
  });

  it("reads its index values inside their tables: another map is refused", () => {
    const beyond = (coord: string) =>
      `func @f(%x: tensor<3x0xf32>, %i: tensor<3xi32>) -> tensor<3x0xf32> {\n  %y = access.gather %x, %i (d0, d1) -> (%i[${coord}], d1) {oob = error}\n  return %y\n}\n`;
    const codes = (text: string) => {
      const result = tryCompile(parsed(text), { target: targets.cpu });
      return result.ok ? [] : result.diagnostics.map(({ code }) => code);
    };
    expect(codes(beyond("d0"))).toEqual([]);
    expect(codes(beyond("d0 + 1"))).toEqual(["TC204"]);
    const tile = printFunc(compile(rows, { target: targets.cpu }).tile);
    const moved = tile.replace("%i[d0]", "%i[d0 + 1]");
    expect(moved).not.toBe(tile);
    expect(codes(moved)).toEqual(["TC204"]);
  });

  it("reads its index values inside their tables at a size of 0 too", () => {
    const of = (coord: string, most: number) =>
      `dim N <= ${most}\nfunc @f(%x: tensor<Nx3xf32>, %i: tensor<4xi32>) -> tensor<Nx2xf32> {\n  %y = access.gather %x, %i (d0, d1) -> (d0, %i[${coord}]) {oob = error}\n  return %y\n}\n`;
    const verdict = (text: string) => {
      const result = tryCompile(parsed(text), { target: targets.cpu });
      return result.ok ? "ok" : result.diagnostics.map(({ message }) => message).join();
    };
    expect(verdict(of("N + d1", 2))).toBe("ok");
    expect(verdict(of("N + d1", 3))).toContain("outside dim 0 of %i");
    expect(verdict(of("N - 1 + d1", 3))).toContain("where N is 0");
  });

  it("of a size that is bound to 0 has the index values of the other dims", async (context) => {
    const open = parsed(`dim N <= 4
func @columns(%x: tensor<Nx3xf32>, %i: tensor<2xi32>) -> tensor<Nx2xf32> {
  %y = access.gather %x, %i (d0, d1) -> (d0, %i[d1]) {oob = error}
  return %y
}
`);
    const given = { x: new Float32Array(0), i: Int32Array.of(0, 3) };
    const kernel = compile(open, { target: targets.webgpu });
    const runner = await runnerOr(context);
    const found = { code: "TC601", data: { position: 1, value: "3", point: [0, 1] } };
    for (const own of [kernel.bind({ N: 0 }), compile(open, { target: targets.cpu, bind: { N: 0 } })]) {
      for (const backend of ["reference", "sim", "webgpu"] as const)
        expect(await outcome(() => run(own, given, { backend, runner }))).toMatchObject(found);
      expect(await outcome(() => simulate(own, given, { executor: "fast" }))).toMatchObject(found);
    }
    const whole = { x: new Float32Array(6), i: Int32Array.of(0, 2) };
    const gpu = await (await loadModule(kernel)).create(runner.device);
    expect(await outcome(() => gpu.run(given, { N: 0 }))).toMatchObject(found);
    expect(await outcome(() => gpu.run(whole, { N: 2 }))).toBe("done");
    const cpu = await (await loadModule(compile(open, { target: targets.cpu }), "module-cpu")).create();
    expect(await outcome(() => cpu.run(given, { N: 0 }))).toMatchObject(found);
    expect(await outcome(() => cpu.run(whole, { N: 2 }))).toBe("done");
  });
});

/** Buffers of a kernel with index values, and a status word that no launch has written. */
function buffersOf({ device }: Runner, { tile }: Kernel, indices: BigInt64Array): GpuBuffers {
  const usage = 128 | 4 | 8;
  const own = [...inputsOf(tile).map(keyOf), "output", "status"].map((key) => {
    const buffer = device.createBuffer({ size: 32, usage });
    if (key === "status") device.queue.writeBuffer(buffer, 0, new Uint8Array(4).fill(0xff));
    if (key === "indices") device.queue.writeBuffer(buffer, 0, indices as BigInt64Array<ArrayBuffer>);
    return [key, buffer] as const;
  });
  return Object.fromEntries(own);
}

describe("an output without elements on the device", () => {
  it("is looked up by checkStatus, and by a module's check", async (context) => {
    const runner = await runnerOr(context);
    const { device } = runner;
    const kernel = compile(rows, { target: targets.webgpu });
    const module = await (await loadModule(kernel)).create(device);
    for (const [indices, want] of [
      [BigInt64Array.of(0n, 5n, 1n), bad],
      [BigInt64Array.of(0n, 1n, 2n), "done"],
    ] as const) {
      const buffers = buffersOf(runner, kernel, indices);
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      runner.encode(pass, kernel, buffers);
      module.encode(pass, buffers as unknown as Readonly<Record<string, GPUBuffer>>);
      pass.end();
      device.queue.submit([encoder.finish()]);
      const [own, ofModule] = [
        await outcome(() => runner.checkStatus(kernel, buffers)),
        await outcome(() => module.check()),
      ];
      if (want === "done") expect([own, ofModule]).toEqual([want, want]);
      else expect([own, ofModule]).toMatchObject([want, want]);
      expect(await outcome(() => module.check())).toBe("done");
    }
    module.dispose();
  });
});

describe("a tile program of an output without elements", () => {
  const tiled = (store: string): Func =>
    parsed(`func @g(%data: gm<5x0xf32>, %indices: gm<4xi32>, %output: gm<4x0xf32>) target("ascend-a2") schedule {tile = [2, 0], residency = gm} {
  %indices_ub = alloc : ub<2xi32, row 32> at [0]
  %output_ub = alloc : ub<2x0xf32, row 32> at [32]
  for %t0 = 0 to 4 step 2 parallel {
    load %indices[%t0][2] to %indices_ub
    sync MTE3 -> MTE2
    gather %data[0, 0][5, 0], %indices_ub[0][2] to %output_ub[0, 0][2, 0] (d0, d1) -> (%indices_ub[d0], d1) {oob = error, origin = [%t0]}
${store}  }
}
`);
  const stored = "    sync MTE2 -> MTE3\n    store %output_ub to %output[%t0, 0][2, 0]\n";
  const given = (last: number) => ({ data: new Float32Array(0), indices: Int32Array.of(0, 1, 2, last) });

  it("runs on every executor where its tile is stored nowhere", async () => {
    const kernel = compile(tiled(""));
    expect(await outcome(() => run(kernel, given(3), { backend: "reference" }))).toBe("done");
    for (const executor of ["checked", "fast"] as const) {
      const { outputs, report } = simulate(kernel, given(3), { executor });
      expect(outputs.output).toHaveLength(0);
      expect(report.operands["indices"]!.bytes).toBe(16);
    }
  });

  it("reports the same index on every executor where it is stored", async () => {
    const kernel = compile(tiled(stored));
    const found = { code: "TC601", data: { position: 3, value: "5", point: [3, 0] } };
    expect(await outcome(() => run(kernel, given(5), { backend: "reference" }))).toMatchObject(found);
    for (const executor of ["checked", "fast"] as const) {
      expect(await outcome(() => simulate(kernel, given(5), { executor }))).toMatchObject(found);
      expect(await outcome(() => simulate(kernel, given(4), { executor }))).toBe("done");
    }
  });
});
