/** Executors that the caller keeps: in which order, and with what, their calls may come. */
import { describe, expect, it, vi } from "vitest";
import {
  FastExecutor,
  simulate,
  simulateBytes,
  simulateLong,
  type SpawnThread,
} from "../../backends/sim/index.js";
import { word } from "../../backends/wasm/thread.js";
import { keyOf } from "../../ir/index.js";
import { compile, fromHost, onnx, runOn, targets, toHost, type Kernel } from "../../src/index.js";
import { readNpy, writeNpy } from "../../src/formats/index.js";
import { operandOf } from "../support/operands.js";
import { spawnThread as spawn } from "../../src/device/index.js";
import { parsed } from "../support/parsed.js";

const rows = 40;
const count = 200_000;
/** Small tasks and many, so that a run takes several slices, on two threads too. */
const kernel = compile(onnx.gather({ data: ["f32", [rows, 96]], indices: ["i32", [count]], axis: 0 }), {
  target: targets.cpu,
  tile: [1, 1],
});
const data = Float32Array.from({ length: rows * 96 }, (_, k) => k);
const indicesOf = (row: (k: number) => number): Int32Array =>
  Int32Array.from({ length: count }, (_, k) => row(k));
const [ascending, reversed] = [indicesOf((k) => k % rows), indicesOf((k) => rows - 1 - (k % rows))];
const hostsOf = (indices: Int32Array, of: Kernel = kernel) => ({
  data: toHost("data", operandOf(of.tile, "data").type, data),
  indices: toHost("indices", operandOf(of.tile, "indices").type, indices),
});
const wanted = (indices: Int32Array): Buffer =>
  Buffer.from(
    Float32Array.from({ length: count * 96 }, (_, k) => indices[Math.floor(k / 96)]! * 96 + (k % 96)).buffer,
  );
const isOutputOf = (indices: Int32Array, output: Uint8Array): boolean => wanted(indices).equals(output);

const refusal = (message: string | RegExp) =>
  expect.objectContaining({
    diagnostics: [expect.objectContaining({ code: "TC702", message: expect.stringMatching(message) })],
  });

/** A thread that takes one chunk of tasks of the first run, and what becomes of these. */
const holding =
  (then: (control: Int32Array, chunk: number) => void): SpawnThread =>
  ({ memory, chunk }) => {
    const control = new Int32Array(memory.buffer, 0, 16);
    Atomics.add(control, word.ready, 1);
    const watch = setInterval(() => {
      if (Atomics.load(control, word.generation) !== 1) return;
      clearInterval(watch);
      Atomics.add(control, word.nextTask, chunk);
      then(control, chunk);
    }, 1);
    return { terminate: () => undefined };
  };

describe("an executor that the caller keeps", () => {
  it("refuses a run beside one that is under way, which keeps its bits", async () => {
    const executor = FastExecutor.create(kernel.tile);
    let refused = 0;
    const first = executor.runLong(hostsOf(ascending), {
      onProgress() {
        expect(() => executor.run(hostsOf(reversed))).toThrow(refusal("the executor is running"));
        refused++;
      },
    });
    await expect(executor.runLong(hostsOf(reversed))).rejects.toEqual(refusal("the executor is running"));
    expect(isOutputOf(ascending, (await first).output)).toBe(true);
    expect(refused).toBeGreaterThan(0);
    expect(isOutputOf(reversed, executor.run(hostsOf(reversed)).output)).toBe(true);
  });

  it("refuses inputs of other sizes, and arrays, in place of running on what lies there", () => {
    const executor = FastExecutor.create(kernel.tile);
    const { data: table, indices } = hostsOf(ascending);
    for (const bytes of [table.bytes.subarray(4), new Uint8Array(table.bytes.length + 4), undefined]) {
      const inputs = { data: { type: table.type, bytes: bytes as Uint8Array }, indices };
      expect(() => executor.run(inputs)).toThrow(refusal("data is 40x96xf32, 15360 bytes"));
      for (const name of ["checked", "fast"] as const) {
        expect(() => simulateBytes(kernel, inputs, { executor: name })).toThrow(refusal("data is 40x96xf32"));
      }
    }
    expect(() => executor.run({ data, indices: ascending } as never)).toThrow(
      refusal("got undefined as its bytes"),
    );
  });

  it("is made of a tile program, with options that it has", async () => {
    expect(() => FastExecutor.create(kernel as never)).toThrow(refusal("the tile program lacks body"));
    expect(() => FastExecutor.create(kernel.tile, { before: 5 as never })).toThrow(refusal("before is 5"));
    await expect(FastExecutor.open(kernel.tile, { threds: 2 } as never)).rejects.toEqual(
      refusal("no threds"),
    );
  });

  it("refuses to run once it is closed, and while its memory is another's", async () => {
    const first = FastExecutor.create(kernel.tile);
    const second = FastExecutor.create(kernel.tile, { before: first });
    expect(() => first.run()).toThrow(refusal("the executor is taken over"));
    expect(() => FastExecutor.create(kernel.tile, { before: first })).toThrow(refusal("taken over"));
    await second.close();
    expect(() => second.run()).toThrow(refusal("the executor is closed"));
    const third = FastExecutor.create(kernel.tile, { before: second });
    expect(isOutputOf(ascending, third.run(hostsOf(ascending)).output)).toBe(true);
  });

  it("hands its memory over when its threads have ended, and no earlier", async () => {
    const first = await FastExecutor.open(kernel.tile, { threads: 2, spawn });
    first.run(hostsOf(ascending));
    const next = { threads: 2, spawn, before: first };
    await expect(FastExecutor.open(kernel.tile, next)).rejects.toEqual(
      refusal("`before` has threads that run"),
    );
    const closed = first.close();
    await expect(FastExecutor.open(kernel.tile, next)).rejects.toEqual(refusal("the executor is closing"));
    await closed;
    const second = await FastExecutor.open(kernel.tile, next);
    try {
      expect(isOutputOf(ascending, second.run().output)).toBe(true);
    } finally {
      await second.close();
    }
  });

  it("rejects a run under way when it is closed", { timeout: 30_000 }, async () => {
    for (const threads of [1, 2]) {
      const executor = await FastExecutor.open(kernel.tile, { threads, spawn });
      const run = executor.runLong(hostsOf(ascending), {
        onProgress() {
          void executor.close();
        },
      });
      await expect(run).rejects.toEqual(refusal(/the executor is clos(?:ed|ing)/));
    }
  });

  it("waits for tasks that its threads took when the caller's onProgress throws", async () => {
    let ended = false;
    const slow = holding((control, chunk) => {
      setTimeout(() => {
        ended = true;
        Atomics.add(control, word.doneTasks, chunk);
      }, 100);
    });
    const executor = await FastExecutor.open(kernel.tile, { threads: 2, spawn: slow });
    const mine = new Error("mine");
    let slices = 0;
    const run = executor.runLong(hostsOf(ascending), {
      onProgress() {
        slices++;
        if (slices === 3) throw mine;
      },
    });
    await expect(run).rejects.toBe(mine);
    expect(ended).toBe(true);
    expect(isOutputOf(reversed, executor.run(hostsOf(reversed)).output)).toBe(true);
  });

  it("does not wait for a thread that failed when it is given up", async () => {
    let taken: Int32Array | undefined;
    const failing = holding((control) => {
      taken = control;
    });
    const executor = await FastExecutor.open(kernel.tile, { threads: 2, spawn: failing });
    const stop = new AbortController();
    const reason = new Error("enough");
    const run = executor.runLong(hostsOf(ascending), {
      signal: stop.signal,
      onProgress() {
        if (taken === undefined || stop.signal.aborted) return;
        const control = taken;
        stop.abort(reason);
        // Behind the abort, whatever the run does meanwhile.
        setImmediate(() => Atomics.store(control, word.failed, 1));
      },
    });
    await expect(run).rejects.toBe(reason);
    expect(() => executor.run()).toThrow("the program reads or writes beyond its memory");
  });
});

describe("bytes in a Buffer of Node's at an odd address", () => {
  const odd = (bytes: Uint8Array): Buffer =>
    Buffer.concat([Buffer.alloc(1), bytes, Buffer.alloc(1)]).subarray(1, 1 + bytes.length);
  const small = compile(onnx.gather({ data: ["f32", [rows, 96]], indices: ["i32", [3]] }), { tile: [3, 96] });
  const hosts = hostsOf(Int32Array.of(2, 0, 39), small);
  const buffers = {
    data: { ...hosts.data, bytes: odd(hosts.data.bytes) },
    indices: { ...hosts.indices, bytes: odd(hosts.indices.bytes) },
  };

  it.each([
    ["reference", {}],
    ["sim", {}],
    ["sim", { executor: "fast" }],
  ] as const)("give the same on %s %j", async (backend, options) => {
    const { output } = await runOn(backend, small, buffers, options);
    expect(output).toEqual((await runOn("reference", small, hosts)).output);
  });

  it("are read as elements, from files too, which nothing shares", () => {
    expect(fromHost(hosts.indices.type, buffers.indices.bytes)).toEqual(Int32Array.of(2, 0, 39));
    const file = odd(writeNpy(hosts.indices));
    const { type, bytes } = readNpy(file, "i.npy");
    file.fill(0);
    expect(fromHost(type, bytes)).toEqual(Int32Array.of(2, 0, 39));
  });
});

describe("a report that is read late", () => {
  it("is refused when a run that was given up has overwritten some of its indices", async () => {
    const many = 3_000_000;
    const long = compile(onnx.gather({ data: ["f32", [64]], indices: ["i32", [many]] }), {
      target: targets.cpu,
    });
    const table = new Float32Array(64);
    const { locality } = simulate(
      long,
      { data: table, indices: new Int32Array(many) },
      { executor: "fast" },
    ).report;
    expect(locality?.repeated).toBeGreaterThan(0.99);
    const first = simulate(long, { data: table, indices: new Int32Array(many) }, { executor: "fast" });
    const stop = new AbortController();
    const indices = Int32Array.from({ length: many }, (_, k) => k % 64);
    const second = simulateLong(long, { data: table, indices }, { executor: "fast", signal: stop.signal });
    // After the first slice of the copying, which the clock makes as short as can be.
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1000));
    setTimeout(() => {
      stop.abort(new Error("enough"));
    }, 0);
    await expect(second).rejects.toThrow("enough");
    clock.mockRestore();
    expect(() => first.report).toThrow("a later run has overwritten the memory of this run");
  });

  it("counts by the data of its own run where sites read them", () => {
    const text = `func @chase(%x: tensor<64xi32>) -> tensor<64xi32> {
  %y = access.gather %x (d0) -> (%x[d0]) {oob = error}
  return %y
}
`;
    const chase = compile(parsed(text), { residency: "gm" });
    // Neighbours are fetched in one burst, an element twice in two.
    const next = Int32Array.from({ length: 64 }, (_, k) => k);
    const checked = simulate(chase, { x: next }).report;
    const first = simulate(chase, { x: next }, { executor: "fast" });
    simulate(chase, { x: new Int32Array(64).fill(3) }, { executor: "fast" });
    expect(first.report.operands).toEqual(checked.operands);
  });
});

describe("a kernel whose sizes are open", () => {
  const text = `dim N <= 64
func @pick(%x: tensor<3x2xf32>, %i: tensor<Nxi32>) -> tensor<Nx2xf32> {
  %y = access.gather %x, %i (d0, d1) -> (%i[d0], d1) {oob = error}
  return %y
}
`;
  const open = compile(parsed(text));
  const inputs = { data: new Float32Array(6), indices: new Int32Array(64) };
  const unsized = expect.objectContaining({ diagnostics: [expect.objectContaining({ code: "TC107" })] });

  it.each(["checked", "fast"] as const)("is refused by every simulation: %s", async (executor) => {
    const hosts = Object.fromEntries(
      open.tile.operands.slice(0, 2).map((operand) => {
        const key = keyOf(operand);
        return [key, toHost(key, operand.type, inputs[key as keyof typeof inputs])];
      }),
    );
    expect(() => simulate(open, inputs, { executor })).toThrow(unsized);
    expect(() => simulateBytes(open, hosts, { executor })).toThrow(unsized);
    await expect(simulateLong(open, inputs, { executor })).rejects.toEqual(unsized);
    await expect(runOn("sim", open, hosts, { executor })).rejects.toEqual(unsized);
    expect(simulate(open.bind({ N: 64 }), inputs, { executor }).outputs.output).toHaveLength(128);
  });
});
