/** The kernel that the page compares with: it gathers what it is written for, and is not written for the rest. */
import { describe, expect, it } from "vitest";
import { bufferUsage } from "../../backends/webgpu/buffers.js";
import { deviceFaults } from "../../backends/webgpu/errors.js";
import { resourcesOn } from "../../backends/webgpu/work.js";
import { parseModule } from "../../ir/index.js";
import { plainKernel } from "../../playground/src/jobs/plain-kernel.js";
import { compile, run } from "../../src/index.js";
import { requireGpu } from "../support/gpu.js";

const compiled = (text: string) => {
  const { module, diagnostics } = parseModule(text, "map.tir");
  expect(diagnostics).toEqual([]);
  const kernel = compile(module.funcs[0]!, {});
  return { kernel, plain: plainKernel(kernel.access!) };
};

const kernelOf = (inputs: string, output: string, map: string) => {
  const names = [...inputs.matchAll(/%\w+/g)].map(([name]) => name).join(", ");
  return compiled(
    `func @f(${inputs}) -> tensor<${output}> target("webgpu") {\n  %y = access.gather ${names} ${map}\n  return %y\n}\n`,
  );
};

/** Runs a shader over its bindings, the last of which it writes. */
async function dispatched(
  device: GPUDevice,
  { code, workgroups }: NonNullable<ReturnType<typeof plainKernel>>,
  inputs: readonly Int32Array[],
  words: number,
): Promise<number[]> {
  const resources = resourcesOn({ device: device, faults: deviceFaults });
  const usage = bufferUsage.STORAGE | bufferUsage.COPY_SRC;
  const bound = inputs.map((values) =>
    resources.buffer(values.byteLength, usage, new Uint8Array(values.buffer)),
  );
  const output = resources.buffer(4 * words, usage);
  const pipeline = device.createComputePipeline({
    layout: "auto",
    compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  const entries = [...bound, output].map((buffer, binding) => ({ binding, resource: { buffer } }));
  pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
  pass.dispatchWorkgroups(...workgroups);
  pass.end();
  const read = resources.readback(encoder, output, 0, 4 * words);
  device.queue.submit([encoder.finish()]);
  const bytes = await read();
  resources.destroy();
  return [...new Int32Array(bytes.buffer)];
}

describe("the plain kernel", () => {
  const x = Int32Array.from({ length: 24 * 6 }, (_, k) => 1000 + k);

  it.each([
    ["rows", "(d0, d1) -> (from_end(%i[d0]), d1) {oob = clamp}", { i: [3, -2, 0, 23] }],
    ["windows", "(d0, d1) -> (clamp(%i[d0] in 20) + d1 mod 3, 5 - d1) {oob = clamp}", { i: [3, 2, 0, 19] }],
    [
      "pages",
      "(d0, d1) let t = clamp(%i[d0] in 24) -> (4 * clamp(%j[t div 4] in 6) + t mod 4, d1) {oob = clamp}",
      { i: [3, 22, 0, 9], j: [5, 0, 2, 1, 4, 3] },
    ],
  ] as const)("gathers %s as the reference does", async (_, map, indices) => {
    const lists = Object.entries(indices).map(([name, list]) => [name, Int32Array.from(list)] as const);
    const types = lists.map(([name, { length }]) => `, %${name}: tensor<${length}xi32>`).join("");
    const { kernel, plain } = kernelOf(`%x: tensor<24x6xi32>${types}`, "4x6xi32", map);
    expect(plain).toBeDefined();
    const { outputs } = await run(kernel, { x, ...Object.fromEntries(lists) }, { backend: "reference" });
    const gpu = await requireGpu();
    if (gpu === undefined) return;
    const found = await dispatched(gpu.device, plain!, [x, ...lists.map(([, list]) => list)], 24);
    expect(found).toEqual([...(outputs.output as Int32Array)]);
  });

  it.each([
    ["index values that are sums", "%x: tensor<24xi32>, %i: tensor<4xi32>", "(clamp(%i[d0] + 1 in 24))"],
    ["index values of one byte", "%x: tensor<24xi32>, %i: tensor<4xu8>", "(%i[d0])"],
    ["elements of two bytes", "%x: tensor<24xf16>, %i: tensor<4xi32>", "(%i[d0])"],
    [
      "an input that nothing reads",
      "%x: tensor<24xi32>, %i: tensor<4xi32>, %j: tensor<4xi32>",
      "(clamp(%i[d0] in 24))",
    ],
  ])("is not written for %s", (_, inputs, results) => {
    const output = inputs.includes("f16") ? "4xf16" : "4xi32";
    expect(kernelOf(inputs, output, `(d0) -> ${results} {oob = clamp}`).plain).toBeUndefined();
  });

  it("is not written for a scatter, whose dims are those of points", () => {
    const { plain } =
      compiled(`func @f(%x: tensor<8xi32>, %i: tensor<8xi32>) -> tensor<8xi32> target("webgpu") {
  %y = access.scatter %x, %i (d0 < 8) -> (%i[d0]) yield %i[d0] {oob = skip, duplicates = last}
  return %y
}
`);
    expect(plain).toBeUndefined();
  });
});
