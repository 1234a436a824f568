/** Kernels for all sizes of a program's symbols: one text, one pipeline, and the bits of the program of each size. */
import { describe, expect, it, type TestContext } from "vitest";
import { createRunner, defaultLimits, emitWgsl, planWgsl, type Runner } from "../../backends/webgpu/index.js";
import { simulateBytes } from "../../backends/sim/index.js";
import { dynamicFormOf, targets } from "../../ir/index.js";
import { compile, type CompileOptions } from "../../src/index.js";
import { acquireGpu } from "../../src/device/node.js";
import { requireGpu, testRunner } from "../support/gpu.js";
import { gm, inputsFor, openPrograms, openRows, outcomeOf } from "../support/open-programs.js";
import { parsed } from "../support/parsed.js";

const own: unknown[] = [];

/** A runner of a device of its own, which counts the pipelines that it makes. */
async function counting(context: TestContext): Promise<{ runner: Runner; made: () => number }> {
  if ((await requireGpu()) === undefined) context.skip();
  const found = await acquireGpu();
  if (!found.ok) throw new Error(found.problem.message);
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

const onWebgpu: CompileOptions = { target: targets.webgpu };

describe("a kernel of open sizes on WebGPU", () => {
  it.for(openPrograms)(
    "is one text and one pipeline, with the bits of each size's own: $name",
    async (open, context) => {
      const { runner, made } = await counting(context);
      const program = parsed(open.text);
      const options = { ...onWebgpu, ...open.options };
      const kernel = compile(program, options);
      const texts = new Set<string>();
      for (const bind of open.sizes) {
        const bound = kernel.bind(bind);
        const inputs = inputsFor(bound);
        const alone = compile(program, { ...options, tile: kernel.tile.schedule.tile!, bind });
        const expected = await outcomeOf(() => simulateBytes(alone, inputs).output);
        expect(await outcomeOf(() => runner.runBytes(bound, inputs)), JSON.stringify(bind)).toEqual(expected);
        if (dynamicFormOf(bound.tile) !== undefined) texts.add(runner.wgsl(bound).code);
        else if (bind["N"] !== 0)
          expect(runner.wgsl(bound).bindings.map(({ role }) => role)).not.toContain("sizes");
      }
      expect(texts.size).toBe(1);
      // A size of V that is 0 has a kernel of its own; an empty output has none.
      const degenerate = open.sizes.filter(({ V, N }) => V === 0 && N !== 0).length;
      expect(made()).toBe(1 + degenerate);
      const { gather } = planWgsl(dynamicFormOf(kernel.bind(open.sizes[2]!).tile)!.program);
      expect(gather?.unit.how).toBe(open.how);
    },
  );

  it("tells sizes by a uniform buffer: extents, bounds and, of tasks that are numbered through, their counts", () => {
    const kernel = compile(parsed(openPrograms[12]!.text), { ...onWebgpu, ...openPrograms[12]!.options });
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
      dim_V: 13,
      dim_N: 37,
      below0: 13,
      tasks: 96,
      columns: 96,
      trips0: 4,
      trips2: 3,
      dispatch: [96, 1, 1],
    });
    expect(told(4)).toMatchObject({ dim_N: 4, tasks: 8, trips0: 1, trips2: 1 });
  });

  it("binds the bytes of each size", () => {
    const kernel = compile(parsed(openRows("f32", 8)), { ...onWebgpu, ...gm });
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
    const kernel = compile(parsed(openRows("f32", 8)), { ...onWebgpu, ...gm });
    const limits = { ...defaultLimits, maxStorageBufferBindingSize: 20 * 32 };
    expect(kernel.bind({ V: 20, N: 20 }).wgsl(limits).dispatch[0]).toBeGreaterThan(0);
    expect(() => kernel.bind({ V: 21, N: 20 }).wgsl(limits)).toThrow("%x takes 672 B");
  });

  it("an index out of range is reported at every size", async (context: TestContext) => {
    const runner = await testRunner();
    if (runner === undefined) context.skip();
    const kernel = compile(parsed(openRows("f32", 8)), { ...onWebgpu, ...gm });
    const bound = kernel.bind({ V: 5, N: 3 });
    const run = runner.run(bound, { data: new Float32Array(40), indices: Int32Array.of(4, -5, 5) });
    await expect(run).rejects.toThrow(
      "index 5 at indices[2] is out of range for dim 0 of data, which takes [-5, 4]",
    );
  });

  it("a launch on the caller's own buffers takes no sizes of theirs", async (context: TestContext) => {
    const runner = await testRunner();
    if (runner === undefined) context.skip();
    const bound = compile(parsed(openRows("f32", 8, "clamp")), { ...onWebgpu, ...gm }).bind({ V: 5, N: 3 });
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
    const kernel = compile(parsed(openRows("f32", 8)), { ...onWebgpu, ...gm, bind: { V: 13, N: 37 } });
    const { code } = emitWgsl(kernel.tile, { target: targets.webgpu });
    expect(code).not.toContain("sizes");
    expect(code).toContain("array<vec4u, 26>");
  });
});
