/** What measures candidates: verified, timed, ended when they take too long. Their threads run the built files. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputsOf } from "../../ir/index.js";
import { commandMeasurer, simMeasurer } from "../../src/device/index.js";
import { readNpy } from "../../src/formats/npy.js";
import { compile, onnx, targets, toHost, tune, type Kernel } from "../../src/index.js";
import { gpuMeasurer, localMeasurer, type MeasuredTask, type Measurer } from "../../src/tune/index.js";
import { operandOf } from "../support/operands.js";
import { testRunner } from "../support/gpu.js";
import { root } from "../support/root.js";
import { parsed } from "../support/parsed.js";

const [rows, columns, picked] = [512, 1024, 1024];
const op = onnx.gather({ data: ["f32", [rows, columns]], indices: ["i32", [picked]], axis: 1 });
const data = new Float32Array(rows * columns).map((_, k) => k);
const indices = new Int32Array(picked).map((_, k) => (k * 37) % columns);
const output = new Float32Array(rows * picked).map(
  (_, k) => data[Math.floor(k / picked) * columns + indices[k % picked]!]!,
);

function taskOf(kernel: Kernel): MeasuredTask {
  return {
    kernel,
    inputs: {
      data: toHost("data", operandOf(kernel.tile, "data").type, data),
      indices: toHost("indices", operandOf(kernel.tile, "indices").type, indices),
    },
    expected: new Uint8Array(output.buffer),
  };
}

it.each([0, 65, 1.5, "2" as never])("a measurer of %s threads is refused before any candidate", (threads) => {
  expect(() => simMeasurer(threads)).toThrow(/TC702.*takes a whole number, 1 to 64/);
});

it("a measurer that is closed while its thread starts leaves none, and its process ends", () => {
  const folder = mkdtempSync(join(tmpdir(), "tilec-close-"));
  try {
    const script = join(folder, "close.mjs");
    writeFileSync(
      script,
      `import { compile, gather, targets, toHost } from "${root}dist/src/index.js";
      import { simMeasurer } from "${root}dist/src/device/index.js";
      const kernel = compile(gather({ data: ["f32", [4, 4]], indices: ["i32", [2]], axis: 0 }), { target: targets.cpu });
      const data = toHost("data", { dtype: "f32", shape: [4, 4] }, new Float32Array(16));
      const indices = toHost("indices", { dtype: "i32", shape: [2] }, new Int32Array(2));
      const measurer = await simMeasurer(2)({ kernel, inputs: { data, indices }, expected: new Uint8Array(32) });
      void measurer.measure(kernel.tile, { samples: 1, limitMs: 60000 });
      await measurer.close();
      console.log("closed");`,
    );
    const { status, stdout } = spawnSync(process.execPath, [script], { encoding: "utf8", timeout: 10_000 });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "closed\n" });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const flipped = (task: MeasuredTask): MeasuredTask => {
  const expected = task.expected.slice();
  expected[12345] = expected[12345]! ^ 1;
  return { ...task, expected };
};
const cpu = (tile: readonly number[]): Kernel => compile(op, { target: targets.cpu, tile, residency: "gm" });
const patient = { samples: 3, limitMs: 60_000 };

async function judged(
  open: (task: MeasuredTask) => Measurer | Promise<Measurer>,
  kernels: readonly Kernel[],
) {
  const [first] = kernels;
  if (first === undefined) throw new Error("a kernel");
  const right = await open(taskOf(first));
  try {
    for (const { tile } of kernels) {
      const found = await right.measure(tile, patient);
      expect(found).toMatchObject({ status: "measured" });
      if (found.status !== "measured") continue;
      expect(found.nanoseconds).toHaveLength(3);
      for (const ns of found.nanoseconds) expect(ns).toBeGreaterThan(0);
    }
  } finally {
    await right.close();
  }
  const wrong = await open(flipped(taskOf(first)));
  try {
    expect(await wrong.measure(first.tile, patient)).toMatchObject({
      status: "wrong",
      code: "TC610",
      reason: expect.stringContaining("output byte 12345") as string,
    });
  } finally {
    await wrong.close();
  }
}

describe("what measures", () => {
  it("verifies and times on the calling thread", () =>
    judged((task) => localMeasurer(task), [cpu([1, 1024]), cpu([64, 64])]));

  it("verifies and times in a thread, and with several threads of the executor", async () => {
    await judged(simMeasurer(1), [cpu([1, 1024]), cpu([64, 64])]);
    await judged(simMeasurer(2), [cpu([1, 1024]), cpu([64, 64])]);
  });

  it("ends a candidate that takes too long with its thread, and goes on with the next", async () => {
    const kernel = cpu([1, 1]);
    const measurer = await simMeasurer()(taskOf(kernel));
    try {
      expect(await measurer.measure(kernel.tile, { samples: 100_000, limitMs: 6 })).toMatchObject({
        status: "timeout",
        code: "TC506",
      });
      expect(await measurer.measure(kernel.tile, patient)).toMatchObject({ status: "measured" });
      expect(await measurer.measure(cpu([8, 1024]).tile, patient)).toMatchObject({ status: "measured" });
    } finally {
      await measurer.close();
    }
  });

  it("sees elements that a program never writes", async () => {
    const kernel = cpu([1, 1024]);
    const measurer = localMeasurer(taskOf(kernel));
    // What another candidate left in the memory that they share is right.
    expect(await measurer.measure(kernel.tile, patient)).toMatchObject({ status: "measured" });
    const idle = { ...kernel.tile, body: [] };
    const found = await measurer.measure(idle, patient).catch((thrown: unknown) => thrown);
    expect(found).toMatchObject({ status: "wrong" });
  });

  it("verifies and times on a GPU, on buffers that stay there", async () => {
    const runner = await testRunner();
    if (runner === undefined) return;
    const gpu = (tile: readonly number[]): Kernel =>
      compile(op, { target: runner.target, tile, residency: "gm" });
    await judged((task) => gpuMeasurer(runner, "test", task), [gpu([1, 256]), gpu([4, 64])]);
  });

  it("gives programs of other inputs than two what they read, by whatever names", async () => {
    const text = `func @f(%status: tensor<7x4xf32>, %output: tensor<5xi32>, %expected: tensor<7xf32>) -> tensor<5x4xf32> {
  %y = access.gather %status, %output, %expected (d0, d1) let s = error(%output[d0] in 7) yield %status[s, d1] + %expected[s] {oob = error}
  return %y
}
`;
    const func = parsed(text);
    const rows = [0, 3, 6, 1, 2];
    const arrays = [
      Float32Array.from({ length: 28 }, (_, k) => k),
      Int32Array.from(rows),
      new Float32Array(7).fill(100),
    ];
    const sums = Float32Array.from({ length: 20 }, (_, k) => 4 * rows[k >> 2]! + (k & 3) + 100);
    const task = (kernel: Kernel): MeasuredTask => ({
      kernel,
      inputs: Object.fromEntries(
        inputsOf(kernel.tile).map(({ name, type }, k) => [name, toHost(name, type, arrays[k]!)]),
      ),
      expected: new Uint8Array(sums.buffer),
    });
    const runner = await testRunner();
    if (runner !== undefined) {
      const kernel = compile(func, { target: runner.target });
      const measurer = gpuMeasurer(runner, "test", task(kernel));
      expect(await measurer.measure(kernel.tile, patient)).toMatchObject({ status: "measured" });
      await measurer.close();
    }
    const folder = mkdtempSync(join(tmpdir(), "tilec-names-"));
    try {
      const kernel = compile(func, { target: targets.cpu });
      const measurer = await commandMeasurer(`sh -c 'cp "$0"/../*.npy ${folder} && echo 5'`)(task(kernel));
      expect(await measurer.measure(kernel.tile, patient)).toMatchObject({ status: "measured" });
      await measurer.close();
      expect(readdirSync(folder).sort()).toEqual([
        "expected.npy",
        "expected~2.npy",
        "output.npy",
        "status.npy",
      ]);
      const read = (name: string): Uint8Array => readNpy(readFileSync(join(folder, name)), name).bytes;
      expect(Buffer.compare(read("expected.npy"), new Uint8Array(sums.buffer))).toBe(0);
      expect(Buffer.compare(read("expected~2.npy"), new Uint8Array(arrays[2]!.buffer))).toBe(0);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("hands a command the PTO-ISA kernel of an Ascend candidate with what launches it, and none of another target's", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tilec-board-"));
    try {
      const command = `sh -c 'cp -r "$0" ${folder} && echo 5'`;
      const handed = async (kernel: Kernel): Promise<readonly string[]> => {
        const measurer = await commandMeasurer(command)(taskOf(kernel));
        try {
          expect(await measurer.measure(kernel.tile, patient)).toMatchObject({ nanoseconds: [5] });
        } finally {
          await measurer.close();
        }
        return readdirSync(join(folder, "candidate-0")).sort();
      };
      expect(await handed(cpu([64, 64]))).toEqual(["kernel.wgsl", "schedule.json", "tile.tir"]);
      rmSync(join(folder, "candidate-0"), { recursive: true });
      const ascend = compile(op, { target: targets.ascendA2, tile: [8, 64], cores: 2 });
      expect(await handed(ascend)).toContain("kernel.cpp");
      const read = (name: string): string => readFileSync(join(folder, "candidate-0", name), "utf8");
      const { code, entryPoint, blocks } = ascend.pto();
      expect(read("kernel.cpp")).toBe(code);
      expect(JSON.parse(read("launch.json"))).toMatchObject({
        entryPoint,
        blocks,
        params: [{ role: "data" }, { role: "indices" }, { role: "output" }, { role: "status" }],
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("reads the times that a command prints as a list, as one number and in an object, and refuses what is none", async () => {
    const kernel = cpu([64, 64]);
    const printed = async (json: string): Promise<unknown> => {
      const measurer = await commandMeasurer(`printf '%s' '${json}' #`)(taskOf(kernel));
      try {
        return await measurer.measure(kernel.tile, patient);
      } finally {
        await measurer.close();
      }
    };
    expect(await printed("[1200, 1210]")).toEqual({ status: "measured", nanoseconds: [1200, 1210] });
    expect(await printed("1200")).toEqual({ status: "measured", nanoseconds: [1200] });
    const named = JSON.stringify({ nanoseconds: [1200], output: "../expected.npy" });
    expect(await printed(named)).toEqual({ status: "measured", nanoseconds: [1200] });
    for (const other of ["[]", "[0]", '["1200"]', "null", '{"milliseconds": 1.5}', "12 ns"]) {
      const reason = `the command printed no list of nanoseconds such as [1200, 1210]: ${other}`;
      expect(await printed(other)).toEqual({ status: "error", code: "TC702", reason });
    }
  });

  it("is what a search by milliseconds asks: every candidate ends measured, and the best is one of them", async () => {
    const found = await tune(op, {
      target: targets.cpu,
      objective: "ms",
      budget: 4,
      measure: { backend: "sim", open: (task) => localMeasurer(task, { device: "here" }) },
    });
    expect(found.counts).toMatchObject({ measured: 4, wrong: 0, timeout: 0, error: 0 });
    expect(found.candidates.map(({ id }) => id)).toContain(found.best.id);
    const [first] = found.candidates;
    if (first?.status !== "measured") throw new Error("measured");
    expect(first.runs.every(({ device }) => device === "here")).toBe(true);
    expect(found.runOff?.rounds).toBeGreaterThanOrEqual(21);
    if (!found.beatsDefault) expect(found.best.id).toBe(found.default.id);
  });
});
