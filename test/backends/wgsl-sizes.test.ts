/** Kernels for all sizes of a program's symbols: one text, one pipeline, and the bits of the program of each size. */
import { describe, expect, it, type TestContext } from "vitest";
import { createRunner, defaultLimits, emitWgsl, planWgsl, type Runner } from "../../backends/webgpu/index.js";
import { simulateBytes } from "../../backends/sim/index.js";
import { openFormOf, parseModule, RunError, targets, type Func } from "../../ir/index.js";
import { compile, type CompileOptions, type Kernel } from "../../src/index.js";
import { acquireGpu } from "../../src/device/node.js";
import { requireGpu, testRunner } from "../support/gpu.js";

function read(text: string): Func {
  const { module, diagnostics } = parseModule(text, "open.tir");
  expect(diagnostics, text).toEqual([]);
  return module.funcs[0]!;
}

interface Open {
  readonly name: string;
  readonly text: string;
  readonly options?: CompileOptions;
  readonly sizes: readonly Readonly<Record<string, number>>[];
  /** Where decisions of the kernel differ from what the most would allow. */
  readonly how: string;
}

const dims = "dim V <= 40\ndim N <= 48\n";
const func = (params: string, output: string, op: string): string =>
  `func @f(${params}) -> tensor<${output}> {\n  %y = access.gather ${op}\n  return %y\n}\n`;

/** 0, 1, odd, and the most. */
const sizes = [
  { V: 40, N: 0 },
  { V: 1, N: 1 },
  { V: 13, N: 37 },
  { V: 40, N: 48 },
  { V: 0, N: 4 },
];

const rows = (dtype: string, columns: number, oob = "error"): string =>
  dims +
  func(
    `%x: tensor<Vx${columns}x${dtype}>, %i: tensor<Nxi32>`,
    `Nx${columns}x${dtype}`,
    `%x, %i (d0, d1) -> (from_end(%i[d0]), d1) {oob = ${oob}}`,
  );

/** The innermost dim is the open one: no run of it ends where an access does at every size. */
const elements = (dtype: string, index = "i32"): string =>
  dims +
  func(
    `%x: tensor<Vx${dtype}>, %i: tensor<Nx${index}>`,
    `Nx${dtype}`,
    `%x, %i (d0) -> (%i[d0]) {oob = clamp}`,
  );

const columns = (dtype: string, index = "i32"): string =>
  dims +
  func(
    `%x: tensor<Vx8x${dtype}>, %i: tensor<Nx8x${index}>`,
    `Nx8x${dtype}`,
    `%x, %i (d0, d1) -> (%i[d0, d1], d1) {oob = wrap, paired = [0]}`,
  );

const gm = { residency: "gm" } as const;
const ub = { residency: "ub", profile: "head" } as const;

const programs: readonly Open[] = [
  { name: "rows", text: rows("f32", 8), options: gm, sizes, how: "rows" },
  { name: "short rows of bytes", text: rows("u8", 3), options: gm, sizes, how: "packed" },
  {
    name: "rows of halves",
    text: rows("f16", 16, "zero"),
    options: { ...gm, tile: [5, 16] },
    sizes,
    how: "rows",
  },
  { name: "staged rows", text: rows("f32", 8), options: { ...ub, tile: [16, 8] }, sizes, how: "words" },
  { name: "staged bytes", text: rows("u8", 5), options: { ...ub, tile: [7, 5] }, sizes, how: "packed" },
  { name: "elements", text: elements("f32"), options: { ...gm, tile: [16] }, sizes, how: "words" },
  { name: "staged elements", text: elements("f32"), options: { ...ub, tile: [48] }, sizes, how: "words" },
  { name: "bytes", text: elements("u8", "i64"), options: { ...gm, tile: [16] }, sizes, how: "packed" },
  { name: "columns", text: columns("f32"), options: { ...gm, tile: [8, 8] }, sizes, how: "groups" },
  { name: "columns of bytes", text: columns("u8"), options: { ...gm, tile: [8, 8] }, sizes, how: "groups" },
  {
    name: "columns, by 64 bits",
    text: columns("i64", "i64"),
    options: { ...gm, tile: [3, 4] },
    sizes,
    how: "groups",
  },
  { name: "columns, staged", text: columns("f32"), options: { ...ub, tile: [48, 4] }, sizes, how: "groups" },
  {
    name: "more loops than a grid has dims",
    text:
      dims +
      func(
        "%x: tensor<Vx2x2x3xf16>, %i: tensor<Nxi32>",
        "Nx2x2x3xf16",
        "%x, %i (d0, d1, d2, d3) -> (%i[d0], d1, d2, d3) {oob = zero}",
      ),
    options: { ...gm, tile: [4, 1, 1, 2], view: [12, 2, 2, 3], order: [3, 0, 2, 1] },
    sizes,
    how: "packed",
  },
  {
    name: "sizes in coordinates and bounds",
    text:
      dims +
      func(
        "%x: tensor<Vx4xf32>, %i: tensor<Nxi32>",
        "Nx4xf32",
        "%x, %i (d0, d1) let s = fill(from_end(%i[N - 1 - d0] of V - 1) in V div 2) -> (2 * s, d1) {oob = fill, fill = 7}",
      ),
    options: { ...gm, tile: [16, 4] },
    sizes: sizes.map((one) => ({ ...one, V: Math.max(2, one.V) })),
    how: "sites",
  },
  {
    name: "a window, whose bound is what fits",
    text:
      dims +
      func(
        "%x: tensor<Vxf32>, %i: tensor<Nxi64>",
        "Nx3xf32",
        "%x, %i (d0, d1) -> (%i[d0] + d1) {oob = clamp}",
      ),
    options: { ...gm, tile: [16, 3] },
    sizes: sizes.map((one) => ({ ...one, V: Math.max(3, one.V) })),
    how: "sites",
  },
];

const own: unknown[] = [];

/** A runner of a device of its own, which counts the pipelines that it makes. */
async function counting(context: TestContext): Promise<{ runner: Runner; made: () => number }> {
  if ((await requireGpu()) === undefined) context.skip();
  const found = await acquireGpu();
  if (!found.ok) throw new Error(found.reason);
  const { device } = found.gpu;
  own.push(device);
  let made = 0;
  const create = device.createComputePipeline.bind(device);
  device.createComputePipeline = (descriptor) => {
    made++;
    return create(descriptor);
  };
  return { runner: await createRunner(device), made: () => made };
}

function inputsFor({ tile }: Kernel) {
  const [data, indices] = tile.operands;
  const size = data!.type.shape[0]!;
  const bytes = new Uint8Array(data!.type.shape.reduce((a, b) => a * b, 1) * 8).map(
    (_, k) => (k * 37 + (k >> 8)) & 255,
  );
  const count = indices!.type.shape.reduce((a, b) => a * b, 1);
  const values = Array.from({ length: count }, (_, k) => (size === 0 ? k : (k * 7) % size));
  const of = { i32: Int32Array.from(values), i64: BigInt64Array.from(values.map(BigInt)) };
  const width = { f32: 4, u8: 1, f16: 2, i64: 8 }[data!.type.dtype as "f32"];
  return {
    data: { type: data!.type, bytes: bytes.subarray(0, (bytes.length / 8) * width) },
    indices: { type: indices!.type, bytes: new Uint8Array(of[indices!.type.dtype as "i32"].buffer) },
  };
}

/** Bytes, or what a run was refused with. */
async function outcomeOf(run: () => Uint8Array | Promise<Uint8Array>): Promise<unknown> {
  try {
    return [...(await run())];
  } catch (thrown) {
    if (thrown instanceof RunError) return thrown.diagnostics.map(({ message }) => message);
    throw thrown;
  }
}

const onWebgpu: CompileOptions = { target: targets.webgpu };

describe("a kernel of open sizes on WebGPU", () => {
  it.for(programs)(
    "is one text and one pipeline, with the bits of each size's own: $name",
    async (open, context) => {
      const { runner, made } = await counting(context);
      const program = read(open.text);
      const options = { ...onWebgpu, ...open.options };
      const kernel = compile(program, options);
      const texts = new Set<string>();
      for (const bind of open.sizes) {
        const bound = kernel.bind(bind);
        const inputs = inputsFor(bound);
        const alone = compile(program, { ...options, tile: kernel.tile.schedule.tile!, bind });
        const expected = await outcomeOf(() => simulateBytes(alone, inputs).output);
        expect(await outcomeOf(() => runner.runBytes(bound, inputs)), JSON.stringify(bind)).toEqual(expected);
        if (openFormOf(bound.tile) !== undefined) texts.add(runner.wgsl(bound).code);
        else if (bind["N"] !== 0)
          expect(runner.wgsl(bound).bindings.map(({ role }) => role)).not.toContain("sizes");
      }
      expect(texts.size).toBe(1);
      // A size of V that is 0 has a kernel of its own; an empty output has none.
      const degenerate = open.sizes.filter(({ V, N }) => V === 0 && N !== 0).length;
      expect(made()).toBe(1 + degenerate);
      const { gather } = planWgsl(openFormOf(kernel.bind({ V: 13, N: 37 }).tile)!.program);
      expect(gather?.kind === "gather" ? gather.how : gather?.kind).toBe(open.how);
    },
  );

  it("tells sizes by a uniform buffer: extents, bounds and, of tasks that are numbered through, their counts", () => {
    const kernel = compile(read(programs[12]!.text), { ...onWebgpu, ...programs[12]!.options });
    const told = (N: number): unknown => {
      const { code, bindings, dispatch } = kernel.bind({ V: 13, N }).wgsl();
      const { binding, values, bytes } = bindings.find(({ access }) => access === "uniform")!;
      expect(code).toContain(`@group(0) @binding(${binding}) var<uniform> sizes: Sizes;`);
      const names = /struct Sizes \{ (.*) \}/
        .exec(code)![1]!
        .split(", ")
        .map((member) => member.split(":")[0]!);
      expect(bytes).toBe(4 * names.length);
      return { ...Object.fromEntries(names.map((name, k) => [name, values![k]])), dispatch };
    };
    // 3 views of 12 rows and one of 1, 3 tiles in each; two halves of rows, 2 and 2 of the inner dims.
    expect(told(37)).toEqual({
      V: 13,
      N: 37,
      below0: 13,
      tasks: 96,
      columns: 96,
      trips0: 4,
      trips2: 3,
      dispatch: [96, 1, 1],
    });
    expect(told(4)).toMatchObject({ N: 4, tasks: 8, trips0: 1, trips2: 1 });
  });

  it("binds the bytes of each size", () => {
    const kernel = compile(read(rows("f32", 8)), { ...onWebgpu, ...gm });
    const bytes = kernel
      .bind({ V: 13, N: 37 })
      .wgsl()
      .bindings.map((bound) => [bound.role, bound.bytes]);
    expect(bytes).toEqual([
      ["data", 13 * 32],
      ["indices", 37 * 4],
      ["output", 37 * 32],
      ["status", 4],
      ["sizes", 12],
    ]);
  });

  it("refuses the size that a device has no room for, and no smaller one", () => {
    const kernel = compile(read(rows("f32", 8)), { ...onWebgpu, ...gm });
    const limits = { ...defaultLimits, maxStorageBufferBindingSize: 20 * 32 };
    expect(kernel.bind({ V: 20, N: 20 }).wgsl(limits).dispatch[0]).toBeGreaterThan(0);
    expect(() => kernel.bind({ V: 21, N: 20 }).wgsl(limits)).toThrow("%x takes 672 B");
  });

  it("an index out of range is reported at every size", async (context: TestContext) => {
    const runner = await testRunner();
    if (runner === undefined) context.skip();
    const kernel = compile(read(rows("f32", 8)), { ...onWebgpu, ...gm });
    const bound = kernel.bind({ V: 5, N: 3 });
    const run = runner.run(bound, { data: new Float32Array(40), indices: Int32Array.of(4, -5, 5) });
    await expect(run).rejects.toThrow(
      "index 5 at indices[2] is out of range for data dim 0, which takes [-5, 4]",
    );
  });

  it("a launch on the caller's own buffers takes no sizes of theirs", async (context: TestContext) => {
    const runner = await testRunner();
    if (runner === undefined) context.skip();
    const bound = compile(read(rows("f32", 8, "clamp")), { ...onWebgpu, ...gm }).bind({ V: 5, N: 3 });
    const { device } = runner;
    const usage = 0x80 | 0x8 | 0x4;
    const buffers = {
      data: device.createBuffer({ size: 160, usage }),
      indices: device.createBuffer({ size: 12, usage }),
      output: device.createBuffer({ size: 96, usage }),
    };
    device.queue.writeBuffer(
      buffers.data,
      0,
      Float32Array.from({ length: 40 }, (_, k) => k),
    );
    device.queue.writeBuffer(buffers.indices, 0, Int32Array.of(4, 0, 9));
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    runner.encode(pass, bound, buffers);
    pass.end();
    const host = device.createBuffer({ size: 96, usage: 0x1 | 0x8 });
    encoder.copyBufferToBuffer(buffers.output, 0, host, 0, 96);
    device.queue.submit([encoder.finish()]);
    await host.mapAsync(1);
    const got = new Float32Array(host.getMappedRange().slice(0));
    expect([got[0], got[7], got[8], got[16], got[23]]).toEqual([32, 39, 0, 32, 39]);
  });

  it("leaves the text of a program of numbers as it is", () => {
    const kernel = compile(read(rows("f32", 8)), { ...onWebgpu, ...gm, bind: { V: 13, N: 37 } });
    const { code } = emitWgsl(kernel.tile, { target: targets.webgpu });
    expect(code).not.toContain("sizes");
    expect(code).toContain("array<vec4u, 26>");
  });
});
