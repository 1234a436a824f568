import { describe, expect, it } from "vitest";
import { executors, simulateBytes, type SimReport } from "../../backends/sim/index.js";
import { byteCount, targets, type Schedule, type SourceFunc, type Target } from "../../ir/index.js";
import { compile, onnx, pypto } from "../../src/index.js";
import { operandOf } from "../support/operands.js";

/** What one operand moves: bytes in so many bursts, over so many statements. */
type Moved = readonly [bytes: number, bursts: number, transfers: number];

interface Schedules {
  readonly name: string;
  readonly func: SourceFunc;
  readonly schedule: Schedule;
  readonly target?: Target;
  readonly data: Moved;
  readonly indices: Moved;
  readonly output: Moved;
  readonly tasks: number;
}

const rowsBy = onnx.gather({ data: ["f32", [1000, 64]], indices: ["i32", [512]], axis: 0 });
const elements = onnx.gatherElements({ data: ["f32", [16, 128]], indices: ["i32", [16, 128]], axis: 1 });

/**
 * Counted by hand from the rules: a slab is loaded once for each tile of the dims it follows, times the loops outside it
 * that it does not follow; a burst is what lies together in the tensor.
 */
const schedules: readonly Schedules[] = [
  {
    name: "full load along dim 0, four column tiles",
    func: pypto.gather({ input: ["f32", [64, 256]], index: ["i32", [32, 256]], dim: 0 }),
    schedule: { tile: [64, 64] },
    // 4 tiles of 64 rows of 64 x 4 B.
    data: [64 * 256 * 4, 4 * 64, 4],
    indices: [32 * 256 * 4, 4 * 32, 4],
    output: [32 * 256 * 4, 4 * 32, 4],
    tasks: 4,
  },
  {
    name: "columns outside, indices inside: each slab once",
    func: rowsBy,
    schedule: { tile: [128, 16], order: [1, 0] },
    // 64 / 16 = 4 slabs of 1000 rows of 64 B; 512 / 128 = 4 index tiles for each of them.
    data: [1000 * 64 * 4, 4 * 1000, 4],
    indices: [4 * 512 * 4, 4 * 4, 4 * 4],
    output: [512 * 64 * 4, 4 * 512, 4 * 4],
    tasks: 4,
  },
  {
    name: "indices outside, columns inside: each slab again for each index tile",
    func: rowsBy,
    schedule: { tile: [128, 16], order: [0, 1] },
    data: [4 * 1000 * 64 * 4, 4 * 4 * 1000, 4 * 4],
    indices: [4 * 512 * 4, 4 * 4, 4 * 4],
    output: [512 * 64 * 4, 4 * 512, 4 * 4],
    tasks: 16,
  },
  {
    name: "two buffers move what one moves",
    func: rowsBy,
    schedule: { tile: [128, 16], order: [1, 0], buffers: 2 },
    data: [1000 * 64 * 4, 4 * 1000, 4],
    indices: [4 * 512 * 4, 4 * 4, 4 * 4],
    output: [512 * 64 * 4, 4 * 512, 4 * 4],
    tasks: 4,
  },
  {
    name: "a view over the indices loads each slab once a view",
    func: rowsBy,
    schedule: { tile: [128, 16], view: [256, 64], order: [1, 0] },
    data: [2 * 1000 * 64 * 4, 2 * 4 * 1000, 2 * 4],
    indices: [4 * 512 * 4, 4 * 4, 4 * 4],
    output: [512 * 64 * 4, 4 * 512, 4 * 4],
    tasks: 8,
  },
  {
    name: "rows from global memory, whole",
    func: rowsBy,
    schedule: { tile: [128, 64], residency: "gm" },
    // Every index names one row of 256 B, and no two neighbours follow each other (see indexOf).
    data: [512 * 256, 512, 4],
    indices: [512 * 4, 4, 4],
    // 128 whole rows lie together.
    output: [512 * 256, 4, 4],
    tasks: 4,
  },
  {
    name: "rows from global memory, in quarters: the indices four times",
    func: rowsBy,
    schedule: { tile: [128, 16], residency: "gm" },
    data: [512 * 256, 4 * 512, 16],
    indices: [4 * 512 * 4, 16, 16],
    output: [512 * 256, 4 * 512, 16],
    tasks: 16,
  },
  {
    name: "gather_elements by whole rows: four tiles, each in one burst",
    func: elements,
    schedule: { tile: [4, 128] },
    data: [16 * 128 * 4, 4, 4],
    indices: [16 * 128 * 4, 4, 4],
    output: [16 * 128 * 4, 4, 4],
    tasks: 4,
  },
  {
    name: "a tail moves its own rows alone: 5 + 5 + 5 + 1",
    func: elements,
    schedule: { tile: [5, 128] },
    data: [16 * 128 * 4, 4, 4],
    indices: [16 * 128 * 4, 4, 4],
    output: [16 * 128 * 4, 4, 4],
    tasks: 4,
  },
  {
    name: "gather_nd by pairs from global memory",
    func: onnx.gatherNd({ data: ["f32", [8, 8, 32]], indices: ["i64", [40, 2]] }),
    schedule: { tile: [10, 32], residency: "gm" },
    data: [40 * 32 * 4, 40, 4],
    indices: [40 * 2 * 8, 4, 4],
    output: [40 * 32 * 4, 4, 4],
    tasks: 4,
  },
  {
    name: "the data staged, the rest in place",
    func: elements,
    schedule: { tile: [4, 128], residency: "ub" },
    target: targets.webgpu,
    data: [16 * 128 * 4, 4, 4],
    indices: [16 * 128 * 4, 4, 4],
    output: [16 * 128 * 4, 4, 4],
    tasks: 4,
  },
];

/** Neighbours 7 apart modulo a prime: no two rows follow each other. */
const indexOf = (k: number, extent: number): number => (k * 7) % extent;

function inputsOf(func: SourceFunc) {
  const [data, indices] = [operandOf(func, "data"), operandOf(func, "indices")];
  const extent = Math.min(...data.type.shape);
  const words = new Int32Array(byteCount(indices.type) / 4);
  const step = indices.type.dtype === "i64" ? 2 : 1;
  for (let k = 0; k * step < words.length; k++) words[k * step] = indexOf(k, extent > 8 ? 61 : 8);
  return {
    data: { type: data.type, bytes: new Uint8Array(byteCount(data.type)).fill(1) },
    indices: {
      type: indices.type,
      bytes: new Uint8Array(words.map((index) => index % extent).buffer),
    },
  };
}

const moved = ({ operands }: SimReport, operand: string): Moved => {
  const { bytes, bursts, transfers } = operands[operand]!;
  return [bytes, bursts, transfers];
};

describe.each(executors)("bytes, bursts and transfers on the %s executor", (executor) => {
  it.each(schedules)("$name", ({ func, schedule, target = targets.ascendA2, ...expected }) => {
    const kernel = compile(func, { ...schedule, target });
    const { report } = simulateBytes(kernel, inputsOf(func), { executor });
    for (const operand of ["data", "indices", "output"] as const) {
      expect([operand, moved(report, operand)]).toEqual([operand, expected[operand]]);
    }
    expect(report.tasks).toBe(expected.tasks);
    expect(report.bytesRead).toBe(expected.data[0] + expected.indices[0]);
    expect(report.bytesWritten).toBe(expected.output[0]);
  });
});

describe("bursts", () => {
  it("are counted by size, and waste what they fall short of the target's burst", () => {
    const kernel = compile(rowsBy, { target: targets.ascendA2, tile: [128, 16], residency: "gm" });
    const { data, indices } = simulateBytes(kernel, inputsOf(rowsBy)).report.operands;
    expect(data!.burstSizes).toEqual([{ upTo: 64, count: 4 * 512 }]);
    expect(data!.burstEfficiency).toBe(64 / 512);
    expect(indices!.burstSizes).toEqual([{ upTo: 512, count: 16 }]);
    expect(indices!.burstEfficiency).toBe(1);
  });
});

describe("occupancy", () => {
  it("rises with each load, falls after the last reader, ends empty, and never passes the peak", () => {
    const kernel = compile(rowsBy, { target: targets.ascendA2, tile: [128, 16], order: [1, 0], buffers: 1 });
    const { timing, ubPeak } = simulateBytes(kernel, inputsOf(rowsBy)).report;
    const { occupancy } = timing;
    // The first load waits for V, which prepares what it adds to the addresses of every tile.
    expect(occupancy[0]!.cycle).toBeGreaterThan(targets.ascendA2.syncCycles);
    expect(occupancy[0]!.bytes).toBe(1000 * 64);
    expect(Math.max(...occupancy.map((point) => point.bytes))).toBeLessThanOrEqual(ubPeak);
    expect(Math.min(...occupancy.map((point) => point.bytes))).toBeGreaterThanOrEqual(0);
    expect(occupancy[occupancy.length - 1]?.bytes).toBe(0);
    expect(occupancy.every((point, k) => k === 0 || point.cycle > occupancy[k - 1]!.cycle)).toBe(true);
  });

  it("is bounded for any program", () => {
    const many = onnx.gather({ data: ["f32", [10, 8]], indices: ["i32", [20_000]], axis: 0 });
    const kernel = compile(many, { target: targets.ascendA2, tile: [1, 8] });
    const { timing } = simulateBytes(kernel, inputsOf(many), { executor: "fast" }).report;
    expect(timing.occupancy.length).toBeLessThanOrEqual(256);
  });
});
