/** Native arithmetic: an explicit choice, which says what it leaves to the device, and is compared by distances. */
import { describe, expect, it } from "vitest";
import { emitWgsl, kernelStats } from "../../backends/wgsl/index.js";
import { createRunner } from "../../backends/webgpu/index.js";
import { gpuKernels } from "../../bench/gpu-kernels.js";
import { beyondUlp, formatUlpDifference, ulpDifference } from "../../src/api/ulp-difference.js";
import { runOn } from "../../src/api/backends.js";
import { compile, onnx, targets, torch, type Kernel } from "../../src/index.js";
import { readCases } from "../../src/formats/cases.js";
import { checkCase } from "../../src/testing/check-case.js";
import { randomInputs } from "../../src/testing/random.js";
import { requireGpu } from "../support/gpu.js";
import { runHere } from "../support/run-here.js";

const quantized = onnx.gatherBlockQuantized({
  data: ["u8", [64, 32]],
  indices: ["i64", [9]],
  scales: ["f32", [64, 2]],
  blockSize: 32,
});
const bags = torch.embeddingBag({ weight: ["f32", [30, 16]], input: ["i64", [7, 6]], mode: "mean" });
const head = /arithmetic native: .*direction of rounding, nor subnormals, nor whether .* fused/;

const wgslOf = (kernel: Kernel, arithmetic?: "native" | "proved"): string =>
  emitWgsl(kernel.tile, { target: kernel.target, ...(arithmetic === undefined ? {} : { arithmetic }) }).code;

describe("native arithmetic in a kernel", () => {
  it.each([
    ["a quantized embedding", quantized],
    ["a mean", bags],
  ])("is the device's own f32, and says so: %s", (_, func) => {
    const kernel = compile(func, { target: targets.webgpu });
    const code = wgslOf(kernel, "native");
    expect(code).toMatch(head);
    expect(code).toContain("bitcast<f32>(");
    expect(code).not.toMatch(/fn (f32_add|f32_mul|pack)\w*\(/);
    expect(wgslOf(kernel)).toBe(wgslOf(kernel, "proved"));
    expect(wgslOf(kernel)).not.toContain("arithmetic native");
  });

  it("changes nothing where no float is computed", () => {
    const rows = compile(onnx.gather({ data: ["f32", [9, 8]], indices: ["i32", [4]], axis: 0 }), {
      target: targets.webgpu,
    });
    expect(wgslOf(rows, "native")).toBe(wgslOf(rows));
  });

  it("takes fewer than 4 instructions for a byte of a quantized embedding: stores of 16 bytes, of whole sectors", () => {
    const gpuKernel = gpuKernels.find(({ name }) => name === "quantized-f32");
    if (gpuKernel === undefined) throw new Error("the kernel is there");
    const { tile, target } = compile(gpuKernel.func, { target: targets.webgpu });
    const stats = kernelStats(tile, emitWgsl(tile, { target, arithmetic: "native" }));
    expect(stats?.instructions).toBeLessThan(4);
    const each = Object.fromEntries(
      (stats?.buffers ?? []).map(({ name, bytesPerAccess, perOutputByte }) => [
        name,
        [bytesPerAccess, perOutputByte],
      ]),
    );
    // A word of the table, which two lanes share, and a scale, for four elements of 4 B.
    expect(each).toMatchObject({ gm_data: [4, 1 / 16], gm_scales: [4, 1 / 16], gm_output: [16, 1 / 16] });
    expect(stats?.buffers.map(({ sectorEfficiency }) => sectorEfficiency)).toEqual([1, 1, 1, 1]);
  });
});

describe("kernel.wgsl", () => {
  it("takes the arithmetic, and refuses any other name", () => {
    const kernel = compile(bags, { target: targets.webgpu });
    expect(kernel.wgsl(undefined, { arithmetic: "native" }).code).toBe(wgslOf(kernel, "native"));
    expect(kernel.wgsl().code).toBe(wgslOf(kernel));
    expect(() => kernel.wgsl(undefined, { arithmetic: "fast" as "native" })).toThrow("TC702");
  });
});

describe("a case on a runner with native arithmetic", () => {
  const text = `func @f(%x: tensor<3x2xf32>, %i: tensor<2xi32>) -> tensor<2x2xf32> {
  %y = access.gather %x, %i (d0, d1)
    let t = error(%i[d0] in 3)
    yield %x[t, d1] * %x[t, d1] {oob = error}
  return %y
}
`;
  /** Squares of whole numbers, one of which is stated two units in the last place too high. */
  const stated = {
    id: "squares",
    source: "ours",
    op: "map",
    tir: text,
    inputs: {
      x: { dtype: "f32", shape: [3, 2], values: [1, 2, 3, 4, 5, 6] },
      i: { dtype: "i32", shape: [2], values: [2, 0] },
    },
    output: { dtype: "f32", shape: [2, 2], bits: ["41c80002", "42100000", "3f800000", "40800000"] },
    expect: "ok",
  };

  it("passes within the distance that is allowed, and fails beyond it", async (context) => {
    const gpu = await requireGpu();
    if (gpu === undefined) {
      context.skip();
      return;
    }
    const runner = await createRunner(gpu.device, { arithmetic: "native" });
    const [test] = readCases(JSON.stringify([stated]), "squares.json");
    if (test === undefined) throw new Error("the case is read");
    const checked = async (allowedUlp?: number) => {
      const [result] = await checkCase(test, ["webgpu"], {
        runner,
        ...(allowedUlp === undefined ? {} : { allowedUlp }),
      });
      return result;
    };
    const message = "1 of 4 elements differ, by 2 units in the last place at most";
    expect(await checked(2)).toMatchObject({ status: "pass", message });
    expect(await checked(1)).toMatchObject({
      status: "fail",
      code: "TC610",
      message: `expected and webgpu: ${message}`,
    });
    expect(await checked()).toMatchObject({ status: "fail", code: "TC610" });
    // The reference has no units to spare.
    const [reference] = await checkCase(test, ["reference"], { allowedUlp: 2 });
    expect(reference).toMatchObject({ status: "fail" });
  });
});

describe("native arithmetic on a device", () => {
  it("is near the stated bits", async (context) => {
    const gpu = await requireGpu();
    if (gpu === undefined) {
      context.skip();
      return;
    }
    const runner = await createRunner(gpu.device, { arithmetic: "native" });
    for (const func of [quantized, bags]) {
      const kernel = compile(func, { target: runner.target });
      expect(runner.wgsl(kernel).code).toMatch(head);
      // Whole numbers of few digits: no order and no rounding tells their sums and products apart.
      const drawn = randomInputs(kernel, 3);
      const inputs = Object.fromEntries(
        Object.entries(drawn).map(([key, { type, bytes }]) => [
          key,
          type.dtype === "f32"
            ? {
                type,
                bytes: new Uint8Array(
                  Float32Array.from({ length: bytes.length / 4 }, (_, k) => (k % 61) - 30).buffer,
                ),
              }
            : { type, bytes },
        ]),
      );
      const { output } = await runOn("reference", kernel, inputs, { runner });
      const { output: native } = await runOn("webgpu", kernel, inputs, { runner });
      // A quotient is within 2.5 units in the last place of WGSL's own division.
      expect(ulpDifference("f32", output, native).largest).toBeLessThanOrEqual(func === bags ? 3 : 0);
    }
    await expect(createRunner(gpu.device, { arithmetic: "fast" as "native" })).rejects.toThrow("TC702");
  });
});

const floats = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

describe("a distance in units in the last place", () => {
  it("is counted by elements, across zero and between NaN and a number", () => {
    const next = new Float32Array(Uint32Array.of(0x3f800003).buffer)[0] ?? 0;
    expect(ulpDifference("f32", floats(1, 2, 3), floats(next, 2, 3))).toEqual({
      elements: 3,
      differing: 1,
      largest: 3,
    });
    expect(ulpDifference("f32", floats(0), floats(-0)).largest).toBe(1);
    expect(ulpDifference("f32", floats(NaN), floats(NaN)).differing).toBe(0);
    expect(ulpDifference("f32", floats(NaN), floats(1)).largest).toBe(Infinity);
    expect(ulpDifference("f16", Uint8Array.of(0, 0x3c), Uint8Array.of(0xff, 0x3b)).largest).toBe(1);
    expect(ulpDifference("i8", Uint8Array.of(0xff), Uint8Array.of(1)).largest).toBe(2);
    expect(ulpDifference("i64", new Uint8Array(8), new Uint8Array(8).fill(1)).largest).toBe(Infinity);
  });

  it("fails beyond what is allowed, with the number of elements and the way to allow it", () => {
    const difference = { elements: 4096, differing: 12, largest: 2 };
    expect(formatUlpDifference(difference)).toBe(
      "12 of 4,096 elements differ, by 2 units in the last place at most",
    );
    expect(beyondUlp(["reference", "webgpu"], difference, 2)).toBeUndefined();
    expect(beyondUlp(["reference", "webgpu"], difference, 1)).toMatchObject({
      code: "TC610",
      hint: expect.stringContaining("--ulp 2") as string,
    });
  });
});

describe("--arithmetic", () => {
  const op = [
    "--op",
    "torch.embedding_bag",
    "--data",
    "f32[30,16]",
    "--indices",
    "i64[7,6]",
    "--mode",
    "sum",
  ];

  it("native has its text in kernels and modules", async () => {
    for (const emit of ["wgsl", "module"]) {
      const { stdout, status } = await runHere(["compile", ...op, "--emit", emit, "--arithmetic", "native"]);
      expect(status).toBe(0);
      expect(stdout).toMatch(head);
      expect((await runHere(["compile", ...op, "--emit", emit])).stdout).not.toContain("arithmetic native");
    }
  });

  it("is refused where nothing runs on WebGPU, and --ulp without it", async () => {
    const refusals = [
      ["compile", ...op, "--emit", "wat", "--arithmetic", "native"],
      ["run", ...op, "--backend", "reference,sim", "--arithmetic", "native"],
      ["run", ...op, "--ulp", "3"],
      ["check", "test/conformance/cases/maps.json", "--backend", "reference", "--arithmetic", "native"],
      ["check", "test/conformance/cases/maps.json", "--backend", "webgpu", "--ulp", "3"],
    ];
    for (const line of refusals) expect((await runHere(line)).status, line.join(" ")).toBe(2);
  });

  it("says how many elements differ, and by how much", async (context) => {
    if ((await requireGpu()) === undefined) context.skip();
    const line = ["run", ...op, "--backend", "reference,webgpu", "--arithmetic", "native", "--seed", "1"];
    const { stdout, status } = await runHere([...line, "--ulp", "100"]);
    expect(stdout).toMatch(/elements differ|within 100 units in the last place/);
    expect(status).toBe(0);
  });
});
