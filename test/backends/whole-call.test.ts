/** What a call from the caller's own arrays costs: memory that is kept, and rows that are not copied. */
import * as v8 from "node:v8";
import { afterEach, describe, expect, it } from "vitest";
import { FastExecutor, simulate, simulateLong } from "../../backends/sim/index.js";
import { KeptExecutors } from "../../backends/wasm/index.js";
import { CompileError, compile, onnx, run, targets, type Kernel } from "../../src/index.js";
import { spawnThread } from "../../src/device/index.js";
import { operandOf } from "../support/operands.js";

const rowsOf = (rows: number, count: number, oob: "error" | "clamp" = "error"): Kernel =>
  compile(onnx.gather({ data: ["f32", [rows, 8]], indices: ["i64", [count]], axis: 0, oob }), {
    target: targets.cpu,
  });
const table = (rows: number): Float32Array => Float32Array.from({ length: rows * 8 }, (_, k) => k + 1);
/** So many that the table is copied for them. */
const many = (...rows: readonly number[]): number[] =>
  Array.from({ length: 4000 }, (_, k) => rows[k % rows.length]!);
const indicesOf = (...rows: readonly number[]): BigInt64Array => BigInt64Array.from(many(...rows), BigInt);
const named = (data: Float32Array, rows: readonly number[]): Float32Array =>
  Float32Array.from(rows.flatMap((row) => [...data.subarray(8 * row, 8 * row + 8)]));
const fast = { executor: "fast" } as const;
/** How many there are, behind a collection of garbage; the types of Node 20 lack it. */
const { queryObjects } = v8 as unknown as {
  readonly queryObjects: (of: new () => object, options: { readonly format: "count" }) => number;
};

const { Memory } = WebAssembly;
afterEach(() => {
  WebAssembly.Memory = Memory;
});

/** Counts the memories that are made from here on. */
function countMemories(): () => number {
  let made = 0;
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      made++;
    }
  };
  return () => made;
}

describe("a kernel that is called again", () => {
  it("runs in the memory of the call before, with the bits of its own inputs", async () => {
    const kernel = rowsOf(5, 4000);
    const memories = countMemories();
    const data = table(5);
    const first = simulate(kernel, { data, indices: indicesOf(4, -5, 1) }, fast);
    const second = simulate(kernel, { data, indices: indicesOf(2, 2, -1) }, fast);
    const third = await run(kernel, { data, indices: indicesOf(3, 0, 0) }, { ...fast });
    expect(memories()).toBe(1);
    expect(first.outputs.output).toEqual(named(data, many(4, 0, 1)));
    expect(second.outputs.output).toEqual(named(data, many(2, 2, 4)));
    expect(third.outputs.output).toEqual(named(data, many(3, 0, 0)));
  });

  it("runs in it after an index out of range, too", () => {
    const kernel = rowsOf(5, 4000);
    const memories = countMemories();
    const data = table(5);
    expect(() => simulate(kernel, { data, indices: indicesOf(0, 5, 1) }, fast)).toThrow(
      "index 5 at indices[1] is out of range",
    );
    const after = simulate(kernel, { data, indices: indicesOf(0, 1, 4) }, fast);
    expect(after.outputs.output).toEqual(named(data, many(0, 1, 4)));
    expect(memories()).toBe(1);
  });

  it("has a memory for each of the runs under way at once", async () => {
    const kernel = rowsOf(5, 4000);
    const memories = countMemories();
    const data = table(5);
    const calls = [0, 1, 2].map((row) => run(kernel, { data, indices: indicesOf(row, row, 4) }, { ...fast }));
    const outputs = (await Promise.all(calls)).map(({ outputs }) => outputs.output);
    expect(outputs).toEqual([0, 1, 2].map((row) => named(data, many(row, row, 4))));
    expect(memories()).toBe(3);
  });
});

describe("kept executors", () => {
  const tileOf = () => rowsOf(5, 3).tile;
  /** What an idle memory counts as, at least. */
  const least = 2 ** 25;

  it("give back the same one, to one taker at a time", () => {
    const kept = new KeptExecutors(4 * least);
    const tile = tileOf();
    const first = kept.take(tile);
    const beside = kept.take(tile);
    expect(beside).not.toBe(first);
    kept.giveBack(tile, first);
    expect(kept.take(tile)).toBe(first);
  });

  it("let the least recently used go beyond their bound", () => {
    const kept = new KeptExecutors(2 * least);
    const tiles = [tileOf(), tileOf(), tileOf()];
    const executors = tiles.map((tile) => kept.take(tile));
    tiles.forEach((tile, k) => {
      kept.giveBack(tile, executors[k]!);
    });
    expect(tiles.map((tile, k) => kept.take(tile) === executors[k])).toEqual([false, true, true]);
  });

  it("hand the memory of one that went to the next new kernel, however large, and its bits are the same", () => {
    const kept = new KeptExecutors(2 * least);
    const old = [tileOf(), tileOf(), tileOf()];
    for (const tile of old.map((tile) => [tile, kept.take(tile)] as const)) kept.giveBack(...tile);
    const memories = countMemories();
    const [data, rows] = [table(4000), Array.from({ length: 3000 }, (_, k) => (7 * k) % 4000)];
    const { tile } = rowsOf(4000, 3000);
    const taken = kept.take(tile);
    expect(memories()).toBe(0);
    taken.array("data").set(data as never);
    taken.array("indices").set(BigInt64Array.from(rows, BigInt) as never);
    taken.run();
    expect(taken.array("output")).toEqual(named(data, rows));
    // One memory went, and is taken.
    kept.take(tileOf());
    expect(memories()).toBe(1);
  });

  it("hand no large memory on", () => {
    const kept = new KeptExecutors(2 * least);
    const large = compile(onnx.gather({ data: ["f32", [2 ** 23 + 8, 1]], indices: ["i32", [4]], axis: 0 }), {
      target: targets.cpu,
    }).tile;
    for (const tile of [large, tileOf(), tileOf()]) kept.giveBack(tile, kept.take(tile));
    const memories = countMemories();
    kept.take(tileOf());
    expect(memories()).toBe(1);
  });

  it("leave a report of many indices that was not read in time to say so", () => {
    const kernels = Array.from({ length: 17 }, () => rowsOf(100, 40_000));
    const inputs = { data: table(100), indices: new BigInt64Array(40_000).fill(3n) };
    const [first, ...others] = kernels.map((kernel) => simulate(kernel, inputs, fast));
    expect(others.at(-1)!.report.copiedBytes).toBeGreaterThan(0);
    simulate(rowsOf(100, 40_000), inputs, fast);
    expect(() => first!.report).toThrow(
      "a later run has overwritten the memory of this run, with its indices",
    );
  });

  it("keep no program that is gone, in a loop that does not yield", () => {
    class Mark {
      readonly made = true;
    }
    const kept = new KeptExecutors(4 * least);
    for (let k = 0; k < 100; k++) {
      const tile = { ...tileOf(), mark: new Mark() };
      kept.giveBack(tile, kept.take(tile));
    }
    // Four fit its bound, and one waits for the next program.
    expect(queryObjects(Mark, { format: "count" })).toBeLessThan(10);
  });

  it("keep one of two that ran at once", () => {
    const kept = new KeptExecutors(4 * least);
    const tile = tileOf();
    const both = [kept.take(tile), kept.take(tile)];
    for (const executor of both) kept.giveBack(tile, executor);
    expect(kept.take(tile)).toBe(both[1]);
    expect(both).not.toContain(kept.take(tile));
  });
});

describe("an array beyond 4 GiB", () => {
  it("is refused with its bytes, on the definition and on both executors", async () => {
    const rows = 2 ** 30 + 8;
    const kernel = compile(onnx.gather({ data: ["f32", [rows, 1]], indices: ["i32", [2]], axis: 0 }), {
      target: targets.cpu,
    });
    // Pages that nobody writes take no memory.
    const inputs = { data: new Float32Array(rows), indices: Int32Array.of(0, rows - 1) };
    const refused = {
      diagnostics: [
        {
          code: "TC502",
          message: `data takes ${4 * rows} B, more than the ${2 ** 32} B of one array`,
          data: { bytes: 4 * rows },
        },
      ],
    };
    for (const options of [{ backend: "reference" }, { backend: "sim" }, fast] as const)
      await expect(run(kernel, inputs, options)).rejects.toMatchObject(refused);
    expect(() => simulate(kernel, inputs)).toThrow(`error[TC502]: ${refused.diagnostics[0]!.message}`);
    const shared = { executor: "fast", threads: 2, spawn: spawnThread } as const;
    await expect(simulateLong(kernel, inputs, shared)).rejects.toMatchObject(refused);
  });

  it("is read in place by a call of the fast executor that names few of its elements", async () => {
    const rows = 2 ** 30 + 8;
    const kernel = compile(onnx.gather({ data: ["f32", [rows, 1]], indices: ["i32", [4]], axis: 0 }), {
      target: targets.cpu,
    });
    const data = new Float32Array(rows);
    [data[0], data[rows - 1], data[2 ** 30]] = [7, 8, 9];
    const indices = Int32Array.of(-1, 2 ** 30, 1, 0);
    const { outputs, report } = simulate(kernel, { data, indices }, { executor: "fast" });
    expect(outputs.output).toEqual(Float32Array.of(8, 9, 0, 7));
    expect(report.copiedBytes).toBe(0);
    const long = await simulateLong(kernel, { data, indices }, { executor: "fast" });
    expect(long.outputs.output).toEqual(outputs.output);
    expect(long.report).toEqual(report);
    const beyond = Int32Array.of(0, rows, 0, 0);
    expect(() => simulate(kernel, { data, indices: beyond }, { executor: "fast" })).toThrow(`index ${rows}`);
  });
});

describe("rows of an array beyond 4 GiB", () => {
  it("are read in place", () => {
    const rows = 2 ** 28 + 8;
    const kernel = compile(onnx.gather({ data: ["f32", [rows, 4]], indices: ["i32", [3]], axis: 0 }), {
      target: targets.cpu,
    });
    const data = new Float32Array(4 * rows);
    data.set([1, 2, 3, 4], 4 * (rows - 1));
    data.set([5, 6, 7, 8], 4 * 2 ** 27);
    const indices = Int32Array.of(-1, 0, 2 ** 27);
    const { outputs } = simulate(kernel, { data, indices }, { executor: "fast" });
    expect(outputs.output).toEqual(Float32Array.of(1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8));
  });
});

describe("a large table of which few rows are named", () => {
  const data = table(1000);

  it.each([
    ["error", [999, -1000, 7, 7], [999, 0, 7, 7]],
    ["clamp", [5000, -5000, 7, -1], [999, 0, 7, 999]],
  ] as const)("is read where it is, by policy %s", (oob, values, rows) => {
    const indices = BigInt64Array.from(values, BigInt);
    const { outputs, report } = simulate(rowsOf(1000, 4, oob), { data, indices }, fast);
    expect(outputs.output).toEqual(named(data, rows));
    expect(report.copiedBytes).toBe(0);
  });

  it("is copied whole where the rows are not few", () => {
    const indices = indicesOf(3);
    const { report } = simulate(rowsOf(1000, 4000), { data, indices }, fast);
    expect(report.copiedBytes).toBe(data.byteLength + indices.byteLength);
  });

  it("names the first index out of range", () => {
    const indices = BigInt64Array.of(1n, 1000n, 2n, -1001n);
    expect(() => simulate(rowsOf(1000, 4), { data, indices }, fast)).toThrow(
      "index 1000 at indices[1] is out of range",
    );
  });

  it("is copied whole into an executor whose inputs the caller holds", () => {
    const { tile } = rowsOf(1000, 4);
    const executor = FastExecutor.create(tile);
    const bytes = (array: Float32Array | BigInt64Array) =>
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    executor.run({
      data: { type: operandOf(tile, "data").type, bytes: bytes(data) },
      indices: { type: operandOf(tile, "indices").type, bytes: bytes(new BigInt64Array(4)) },
    });
    executor.array("indices").set(BigInt64Array.of(1n, 2n, 3n, -1n) as never);
    executor.run();
    expect(executor.array("output")).toEqual(named(data, [1, 2, 3, 999]));
  });
});

describe("tensors in the executor's memory", () => {
  it("are typed arrays by their keys, and run without a copy", () => {
    const executor = FastExecutor.create(rowsOf(5, 3).tile);
    const [data, indices] = [executor.array("data"), executor.array("indices")];
    (data as Float32Array).set(table(5));
    (indices as BigInt64Array).set([4n, 0n, -2n]);
    expect(executor.run().copied.bytes).toBe(0);
    expect(executor.array("output")).toEqual(named(table(5), [4, 0, 3]));
  });

  it("have the program's keys", () => {
    const executor = FastExecutor.create(rowsOf(5, 3).tile);
    const thrown = (() => {
      try {
        return executor.array("input");
      } catch (error) {
        return error;
      }
    })();
    expect(thrown).toBeInstanceOf(CompileError);
    expect((thrown as CompileError).diagnostics[0]).toMatchObject({
      code: "TC702",
      hint: "one of data, indices, output",
    });
  });
});
