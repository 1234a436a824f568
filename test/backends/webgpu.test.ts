/** Kernels on a device: grids, limits and rows at their edges, timing and loss. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRunner, defaultLimits, emitWgsl, type Runner } from "../../backends/webgpu/index.js";
import { reference } from "../../backends/reference/index.js";
import { byteCount, meanBytes, targets, type DType, type Schedule, type SourceFunc } from "../../ir/index.js";
import { CompileError, compile, onnx, RunError, tryCompile, type Kernel } from "../../src/index.js";
import { program } from "../../src/api/program.js";
import { acquireGpu } from "../../src/device/node.js";
import { longGather, scheduledLongGather } from "../support/arbitrary.js";
import { expectedBytes } from "../support/expected.js";
import { runnerOr } from "../support/gpu.js";
import { operandOf } from "../support/operands.js";

/** Bits that differ from element to element, and indices in range. */
function inputsOf(func: SourceFunc, extent: number) {
  const [data, indices] = [operandOf(func, "data"), operandOf(func, "indices")];
  const bytes = Uint8Array.from({ length: byteCount(data.type) }, (_, k) => (k * 31 + (k >> 8) * 7) & 0xff);
  const words = new Int32Array(byteCount(indices.type) / 4);
  const wide = meanBytes(indices.type.dtype) / 4;
  for (let k = 0; k < words.length / wide; k++) words[k * wide] = (k * 7919) % extent;
  return {
    data: { type: data.type, bytes },
    indices: { type: indices.type, bytes: new Uint8Array(words.buffer) },
  };
}

async function agrees(runner: Runner, kernel: Kernel, inputs: ReturnType<typeof inputsOf>): Promise<void> {
  const want = reference(kernel.resolved!, inputs);
  const got = await runner.runBytes(kernel, inputs);
  expect(Buffer.compare(got, want)).toBe(0);
}

const thrownBy = async (run: () => unknown): Promise<unknown> => {
  try {
    await run();
  } catch (thrown) {
    return thrown;
  }
  throw new Error("nothing was thrown");
};

describe("a grid", () => {
  it.for([
    [65535, [65535, 1, 1]],
    [65536, [32768, 2, 1]],
    [65537, [32769, 2, 1]],
  ] as const)("of %i workgroups is dispatched whole", async ([rows, dispatch], context) => {
    const runner = await runnerOr(context);
    const func = onnx.gather({ data: ["i32", [7, 4]], indices: ["i32", [rows]], axis: 0 });
    const kernel = compile(func, { target: runner.target, tile: [1, 4], residency: "gm" });
    expect(runner.wgsl(kernel).dispatch).toEqual(dispatch);
    await agrees(runner, kernel, inputsOf(func, 7));
  });

  it("takes up to three loops without a division, and four with", async (context) => {
    const runner = await runnerOr(context);
    const func = onnx.gatherElements({
      data: ["f32", [4, 6, 8, 8]],
      indices: ["i32", [4, 6, 8, 8]],
      axis: 1,
    });
    for (const [tile, divides] of [
      [[1, 2, 4, 8], false],
      [[1, 2, 4, 4], true],
    ] as const) {
      const kernel = compile(func, { target: runner.target, tile, residency: "gm", profile: "head" });
      expect(/group\.\w[^;]*[/%]|task [/%]/.test(runner.wgsl(kernel).code)).toBe(divides);
      await agrees(runner, kernel, inputsOf(func, 6));
    }
  });
});

describe("a binding", () => {
  it("one byte over the limit is refused: whole words are bound", async () => {
    const limits = { ...defaultLimits, maxStorageBufferBindingSize: 64 * 1024 };
    const bytes = (count: number) =>
      compile(onnx.gather({ data: ["u8", [count]], indices: ["i32", [4]], axis: 0 }), {
        target: targets.webgpu,
      });
    expect(emitWgsl(bytes(65536).tile, { limits }).code).toContain("fn main");
    const thrown = await thrownBy(() => emitWgsl(bytes(65537).tile, { limits }));
    expect((thrown as CompileError).diagnostics).toMatchObject([
      { code: "TC502", message: expect.stringContaining("%data"), data: { bytes: 65540, limit: 65536 } },
    ]);
  });

  it("of the limit runs, and one element over it is refused with the bytes", async () => {
    const limits = { ...defaultLimits, maxStorageBufferBindingSize: 64 * 1024 };
    const rows = (count: number) =>
      compile(onnx.gather({ data: ["u8", [4, 4]], indices: ["i32", [count]], axis: 0 }), {
        target: targets.webgpu,
      });
    expect(emitWgsl(rows(16384).tile, { limits }).code).toContain("fn main");
    const thrown = await thrownBy(() => emitWgsl(rows(16385).tile, { limits }));
    expect(thrown).toBeInstanceOf(CompileError);
    expect((thrown as CompileError).diagnostics).toMatchObject([
      { code: "TC502", data: { bytes: 65540, limit: 65536 } },
      { code: "TC502", data: { bytes: 65540, limit: 65536 } },
    ]);
  });
});

/** Rows around words of 4 bytes, vectors of 16, and tiles of 16 elements. */
const rowLengths = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33];

describe.each(["u8", "i16", "f32"] as const)("rows of %s", (dtype: DType) => {
  it("of any length are written whole, by any tile, and nothing beside them", async (context) => {
    const runner = await runnerOr(context);
    for (const length of rowLengths) {
      const programs: readonly SourceFunc[] = [
        onnx.gather({ data: [dtype, [5, length]], indices: ["i32", [6]], axis: 0 }),
        onnx.gatherElements({ data: [dtype, [6, length]], indices: ["i32", [6, length]], axis: 1 }),
        onnx.gatherElements({ data: [dtype, [6, length]], indices: ["i32", [6, length]], axis: 0 }),
      ];
      for (const func of programs) {
        const extent = func.attrs["axis"] === 1 ? length : 5;
        for (const columns of new Set([length, Math.ceil(length / 2), 16])) {
          const kernel = tryCompile(func, {
            target: runner.target,
            tile: [2, columns],
            profile: "head",
            residency: "gm",
          });
          if (!kernel.ok) throw new CompileError(kernel.diagnostics);
          await agrees(runner, kernel.kernel, inputsOf(func, extent));
        }
      }
    }
  });
});

/**
 * The last dims of a tile lie end to end: all of them, two of three, none, with and without a tail along the first. Rows of a power of two
 * of elements are one where the data tells them apart, too, if its rows are as far apart as the output's.
 */
const endToEnd = [
  {
    op: "onnx.gather_elements",
    data: [3, 4, 6, 8],
    output: [3, 4, 6, 8],
    tiles: [
      [3, 4, 6, 8],
      [2, 4, 6, 8],
      [1, 3, 6, 8],
      [1, 2, 3, 8],
      [2, 4, 6, 4],
    ],
  },
  {
    op: "onnx.gather_elements",
    data: [3, 4, 2, 8],
    output: [3, 4, 2, 8],
    tiles: [
      [3, 4, 2, 8],
      [2, 4, 2, 8],
      [3, 2, 2, 8],
      [1, 3, 2, 8],
    ],
  },
  {
    op: "torch.gather",
    data: [3, 5, 3, 16],
    output: [3, 4, 2, 8],
    tiles: [
      [3, 4, 2, 8],
      [1, 4, 2, 8],
    ],
  },
] as const;

describe.each(["i8", "f16", "f32", "f64"] as const)("rows of %s that lie end to end", (dtype) => {
  it.for([0, 1, 2, 3])(
    "are written whole and in their places, gathered along axis %i",
    async (axis, context) => {
      const runner = await runnerOr(context);
      for (const { op, data, output, tiles } of endToEnd) {
        for (const oob of ["error", "zero"]) {
          const func = program({
            op,
            attrs: { [op === "torch.gather" ? "dim" : "axis"]: axis, oob },
            data: { dtype, shape: data },
            indices: { dtype: op === "torch.gather" ? "i64" : "i32", shape: output },
          });
          for (const tile of tiles) {
            const kernel = compile(func, { target: runner.target, tile, profile: "head", residency: "gm" });
            await agrees(runner, kernel, inputsOf(func, data[axis]!));
          }
        }
      }
    },
  );
});

describe("views and tiles that start between vectors", () => {
  it("fall back to single elements: rows of 16 in views of 6 and tiles of 4", async (context) => {
    const runner = await runnerOr(context);
    for (const dtype of ["u8", "f16", "f32", "f64"] as const) {
      const func = onnx.gatherElements({ data: [dtype, [5, 16]], indices: ["i32", [5, 16]], axis: 0 });
      const kernel = compile(func, {
        target: runner.target,
        view: [5, 6],
        tile: [5, 4],
        profile: "head",
        residency: "gm",
      });
      await agrees(runner, kernel, inputsOf(func, 5));
    }
  });
});

describe("long rows", () => {
  it("give the oracle's bits, 16 bytes at a time or element by element", async (context) => {
    const runner = await runnerOr(context);
    const byDefault = longGather.map((random) => ({ random, schedule: {} }));
    await fc.assert(
      fc.asyncProperty(fc.oneof(scheduledLongGather, byDefault), async ({ random, schedule }) => {
        const { ubBytes: _, ...open } = schedule as Schedule;
        const result = tryCompile(random.func, { ...open, profile: "head", target: runner.target });
        if (!result.ok) return;
        const { kernel } = result;
        const inputs = {
          data: { type: operandOf(kernel.tile, "data").type, bytes: random.data },
          indices: { type: operandOf(kernel.tile, "indices").type, bytes: random.indexBytes },
        };
        const want = expectedBytes(random);
        if (typeof want !== "number") {
          expect(await runner.runBytes(kernel, inputs)).toEqual(want);
          return;
        }
        const thrown = await thrownBy(() => runner.runBytes(kernel, inputs));
        expect(thrown).toBeInstanceOf(RunError);
        expect((thrown as RunError).diagnostics[0]).toMatchObject({
          code: "TC601",
          data: { position: want },
        });
      }),
      { numRuns: 150 },
    );
  });
});

describe("device-resident buffers", () => {
  it("run with one dispatch, tell their status when asked, and are timed by a named clock", async (context) => {
    const runner = await runnerOr(context);
    const { device } = runner;
    const func = onnx.gather({ data: ["f32", [8, 16]], indices: ["i32", [32]], axis: 0 });
    const kernel = compile(func, { target: runner.target });
    const make = (bytes: Uint8Array): GPUBuffer => {
      const buffer = device.createBuffer({ size: bytes.byteLength, usage: 128 | 4 | 8 });
      device.queue.writeBuffer(buffer, 0, bytes as Uint8Array<ArrayBuffer>);
      return buffer;
    };
    const inputs = inputsOf(func, 8);
    const words = new Int32Array(inputs.indices.bytes.buffer);
    const launch = async (): Promise<void> => {
      const buffers = {
        data: make(inputs.data.bytes),
        indices: make(inputs.indices.bytes),
        output: make(new Uint8Array(32 * 16 * 4)),
        status: make(new Uint8Array(4).fill(0xff)),
      };
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      runner.encode(pass, kernel, buffers);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await runner.checkStatus(kernel, buffers);
      const time = await runner.time(kernel, buffers, 3);
      expect(time).toMatchObject({
        clock: device.features.has("timestamp-query") ? "timestamp-query" : "wall clock",
        runs: 3,
      });
      expect(time.nanoseconds).toBeGreaterThan(0);
    };
    await launch();
    [words[30], words[7]] = [99, -9];
    const thrown = await thrownBy(launch);
    expect((thrown as RunError).diagnostics).toMatchObject([
      { code: "TC601", data: { position: 7, value: "-9" } },
    ]);
  });
});

describe("a lost device", () => {
  it("is a typed error, and a new device with a new runner goes on", async (context) => {
    const again = await runnerOr(context);
    const first = await acquireGpu();
    if (!first.ok) throw new Error(first.problem.message);
    const func = onnx.gather({ data: ["f32", [8, 16]], indices: ["i32", [32]], axis: 0 });
    const kernel = compile(func, { target: targets.webgpu });
    const runner = await createRunner(first.gpu.device);
    await agrees(runner, kernel, inputsOf(func, 8));
    first.gpu.device.destroy();
    await first.gpu.device.lost;
    const thrown = await thrownBy(() => runner.runBytes(kernel, inputsOf(func, 8)));
    expect((thrown as RunError).diagnostics).toMatchObject([{ code: "TC504" }]);
    await agrees(again, kernel, inputsOf(func, 8));
  });
});
