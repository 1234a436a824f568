import { describe, expect, it } from "vitest";
import { simulate, simulateLong } from "../../backends/sim/index.js";
import { planWasm } from "../../backends/wasm/index.js";
import {
  elementCount,
  targets,
  taskOfTile,
  verifyStructure,
  type Schedule,
  type SourceFunc,
  type Target,
} from "../../ir/index.js";
import { compile, onnx } from "../../src/index.js";
import { operandOf } from "../support/operands.js";

interface LongTask {
  readonly name: string;
  readonly func: SourceFunc;
  readonly schedule: Schedule & { readonly target: Target };
  /** Extent of the gather dim. */
  readonly below: number;
  /** The element of the data that an output element is, by its number and the index values. */
  readonly from: (element: number, index: (k: number) => number) => number;
}

const rows = 150_000;
const byRows = onnx.gather({ data: ["u8", [64, 8]], indices: ["i32", [rows]], axis: 0 });
const ofRow: LongTask["from"] = (element, index) => index(Math.floor(element / 8)) * 8 + (element % 8);

/** Each is one task of more than a million elements, as its schedule says. */
const longTasks: readonly LongTask[] = [
  {
    name: "rows in place",
    func: byRows,
    schedule: { target: targets.cpu, tile: [rows, 8], residency: "gm" },
    below: 64,
    from: ofRow,
  },
  {
    name: "columns in place, cut along the rows of the output",
    func: onnx.gather({ data: ["u8", [3, 500]], indices: ["i32", [400_001]], axis: 1 }),
    schedule: { target: targets.cpu, tile: [3, 400_001], residency: "gm" },
    below: 500,
    from: (element, index) => Math.floor(element / 400_001) * 500 + index(element % 400_001),
  },
  {
    name: "elements in place",
    func: onnx.gatherElements({ data: ["u8", [1100, 1000]], indices: ["i32", [1100, 1000]], axis: 1 }),
    schedule: { target: targets.cpu, tile: [1100, 1000], residency: "gm" },
    below: 1000,
    from: (element, index) => element - (element % 1000) + index(element),
  },
  {
    name: "one index for all",
    func: onnx.gather({ data: ["u8", [3, 1100, 1000]], indices: ["i32", []], axis: 0 }),
    schedule: { target: targets.cpu, tile: [1100, 1000], residency: "gm" },
    below: 3,
    from: (element, index) => index(0) * 1_100_000 + element,
  },
  {
    name: "a serial loop under one slab",
    func: byRows,
    schedule: { target: targets.cpu, tile: [7, 8], residency: "ub" },
    below: 64,
    from: ofRow,
  },
  {
    name: "a serial loop with everything in the unified buffer, twice",
    func: byRows,
    schedule: { target: targets.ascendA2, tile: [1000, 8], residency: "ub", buffers: 2 },
    below: 64,
    from: ofRow,
  },
  {
    name: "one tile in a unified buffer of a gigabyte",
    func: byRows,
    schedule: { target: targets.ascendA2, tile: [rows, 8], residency: "ub", ubBytes: 2 ** 30 },
    below: 64,
    from: ofRow,
  },
];

describe("a task of more than a million elements", () => {
  it.each(longTasks)("is cut into slices with the same bits: $name", ({ func, schedule, below, from }) => {
    const kernel = compile(func, schedule);
    const { func: cut, nest } = planWasm(kernel.tile);
    expect(taskOfTile(kernel.tile).nest.tasks).toBe(1);
    expect(nest.tasks).toBeGreaterThan(1);
    expect(verifyStructure(cut)).toEqual([]);

    const [data, indices] = [operandOf(func, "data").type.shape, operandOf(func, "indices").type.shape];
    const bytes = Uint8Array.from({ length: elementCount(data) }, (_, k) => (k * 37) >> 3);
    const values = Int32Array.from({ length: elementCount(indices) }, (_, k) => (k * 7919) % below);
    const { outputs } = simulate(kernel, { data: bytes, indices: values }, { executor: "fast" });
    const output = outputs.output as Uint8Array;
    const expected = Uint8Array.from({ length: output.length }, (_, k) => bytes[from(k, (i) => values[i]!)]!);
    expect(Buffer.from(output).equals(Buffer.from(expected))).toBe(true);
  });

  it("is not cut where a slice would load its slab again for too little", () => {
    const kernel = compile(
      onnx.gather({ data: ["u8", [400_000, 1]], indices: ["i32", [1_200_000]], axis: 0 }),
      {
        target: targets.cpu,
        tile: [100_000, 1],
        residency: "ub",
        ubBytes: 2 ** 21,
      },
    );
    expect(planWasm(kernel.tile).nest.tasks).toBe(1);
  });
});

describe("a long run on the fast executor", () => {
  /** Turns that a timer beside a run has had so far. */
  async function counting(run: (turns: () => number) => Promise<unknown>): Promise<void> {
    let [turns, ended] = [0, false];
    const turn = (): void => {
      turns++;
      if (!ended) setTimeout(turn);
    };
    turn();
    await run(() => turns);
    ended = true;
  }

  const side = 4000;
  const one = compile(
    onnx.gatherElements({ data: ["u8", [side, side]], indices: ["i32", [side, side]], axis: 0 }),
    { target: targets.cpu, tile: [side, side], residency: "gm" },
  );
  const many = compile(onnx.gather({ data: ["u8", [100, 2000]], indices: ["i32", [40_000]], axis: 0 }), {
    target: targets.cpu,
    tile: [1, 1],
    residency: "gm",
  });
  /** Counted from the end, which takes the longer way. */
  const scattered = (count: number, below: number): Int32Array =>
    Int32Array.from({ length: count }, (_, k) => ((Math.imul(k, 2654435761) >>> 5) % below) - below);
  const runs = [
    ["one long task", one, { data: new Uint8Array(side ** 2), indices: scattered(side ** 2, side) }],
    ["eighty million tasks", many, { data: new Uint8Array(200_000), indices: scattered(40_000, 100) }],
  ] as const;

  it.each(runs)("tells how far it is, and lets other work run: %s", async (_, kernel, inputs) => {
    const { tasks } = taskOfTile(kernel.tile).nest;
    const seen: number[] = [];
    const turns: number[] = [];
    await counting((turn) =>
      simulateLong(kernel, inputs, {
        executor: "fast",
        onProgress(done, of) {
          expect(of).toBe(tasks);
          seen.push(done);
          turns.push(turn());
        },
      }),
    );
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(tasks);
    // Behind each slice, everybody else has a turn.
    expect(turns.length).toBeGreaterThan(1);
    expect(turns.every((turn, k) => k === 0 || turn > (turns[k - 1] ?? 0))).toBe(true);
  });

  it("is given up inside its only task", async () => {
    const stop = new AbortController();
    const seen: number[] = [];
    const run = simulateLong(one, runs[0][2], {
      executor: "fast",
      signal: stop.signal,
      onProgress(done) {
        seen.push(done);
        stop.abort(new Error("enough"));
      },
    });
    await expect(run).rejects.toThrow("enough");
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeLessThan(1);
  });
});
