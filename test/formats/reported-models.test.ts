/** ONNX models of problem reports: what onnxruntime 1.30 says of them, on every backend. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findGathers, readModel } from "../../src/formats/onnx/index.js";
import { compile, program, run, targets, type Kernel, type TensorData } from "../../src/index.js";
import { testRunner } from "../support/gpu.js";

const kernelOf = (name: string): Kernel => {
  const file = readFileSync(new URL(`inputs/${name}`, import.meta.url));
  const [found, ...others] = findGathers(readModel(file, name));
  expect(others).toEqual([]);
  if (found?.ok !== true) throw new Error(`${name} has a gather`);
  return compile(program(found.program), { target: targets.webgpu });
};

async function onEveryBackend(
  kernel: Kernel,
  inputs: Readonly<Record<string, TensorData>>,
  judge: (output: Promise<TensorData>) => Promise<void>,
): Promise<void> {
  const runner = await testRunner();
  const backends = ["reference", "sim", ...(runner === undefined ? [] : (["webgpu"] as const))] as const;
  for (const backend of backends)
    await judge(run(kernel, inputs, { backend, runner }).then(({ outputs }) => outputs.output));
}

describe("a reported model", () => {
  it("whose output is empty rejects an index that is out of range, and takes one in range", async () => {
    const kernel = kernelOf("empty-output.onnx");
    const given = (index: bigint) => ({ data: new Float32Array(0), indices: BigInt64Array.of(index) });
    for (const index of [5n, 3n, -4n])
      await onEveryBackend(kernel, given(index), (output) => expect(output).rejects.toThrow("TC601"));
    for (const index of [2n, -3n])
      await onEveryBackend(kernel, given(index), (output) => expect(output).resolves.toHaveLength(0));
  });

  it("whose tuples are empty gathers all of the data for each", async () => {
    const kernel = kernelOf("empty-tuples.onnx");
    const data = Float32Array.of(1, 2, 3, 4, 5, 6);
    const want = Float32Array.from({ length: 24 }, (_, k) => data[k % 6]!);
    await onEveryBackend(kernel, { data, indices: new BigInt64Array(0) }, async (output) => {
      expect(await output).toEqual(want);
    });
  });
});
