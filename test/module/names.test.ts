/** Modules of programs whose operands are called as what modules, kernels or objects are made of. */
import ts from "typescript";
import { expect, it } from "vitest";
import { targets, type Func } from "../../ir/index.js";
import { compile } from "../../src/index.js";
import { emitModule } from "../../src/module/emit-module.js";
import { runtimeOf } from "../../src/module/runtime-of.js";
import { requireGpu } from "../support/gpu.js";
import { loadModule } from "../support/modules.js";
import { parsed } from "../support/parsed.js";

const sumOf = (t: string, i: string, o: string): Func => {
  const text = `func @f(%${t}: tensor<7x4xf32>, %${i}: tensor<5xi32>, %${o}: tensor<7xf32>) -> tensor<5x4xf32> {
  %y = access.gather %${t}, %${i}, %${o} (d0, d1) let s = error(%${i}[d0] in 7) yield %${t}[s, d1] + %${o}[s] {oob = error}
  return %y
}
`;
  return parsed(text);
};
const rows = [0, 3, 6, 1, 2];
const table = Float32Array.from({ length: 28 }, (_, k) => k);
const hundreds = Float32Array.from({ length: 7 }, (_, k) => 100 * k);
const sums = rows.flatMap((row) => [0, 1, 2, 3].map((column) => 4 * row + column + 100 * row));
const names = [
  ["status", "output", "constructor"],
  ["__proto__", "toString", "sizes"],
] as const;

it.each(names)("declare each operand once, by its name: %s, %s, %s", (t, i, o) => {
  const kernel = compile(sumOf(t, i, o), { target: targets.webgpu });
  const { declarations } = emitModule(kernel, "module", runtimeOf);
  const file = ts.createSourceFile("names.d.ts", declarations, ts.ScriptTarget.ES2022);
  const membersOf = (name: string): readonly string[] =>
    file.statements
      .filter(ts.isInterfaceDeclaration)
      .filter((own) => own.name.text === name)
      .flatMap(({ members }) => members.map((member) => (member.name as ts.Identifier).text));
  const output = i === "output" ? "y" : "output";
  expect(membersOf("Inputs")).toEqual([t, i, o]);
  expect(membersOf("Outputs")).toEqual([output]);
  expect(membersOf("Buffers")).toEqual([t, i, o, output]);
});

it.for(names)(
  "launch on buffers by these names, and find a bad index in them: %s, %s, %s",
  async ([t, i, o], context) => {
    const gpu = await requireGpu();
    if (gpu === undefined) return context.skip();
    const { device } = gpu;
    const [copySrc, copyDst, storage, mapRead] = [4, 8, 128, 1];
    const bufferOf = (contents: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>): GPUBuffer => {
      const buffer = device.createBuffer({ size: contents.byteLength, usage: storage | copySrc | copyDst });
      device.queue.writeBuffer(buffer, 0, contents);
      return buffer;
    };
    const made = await (await loadModule(compile(sumOf(t, i, o), { target: targets.webgpu }))).create(device);
    const launched = async (indices: readonly number[]): Promise<readonly number[]> => {
      const output = bufferOf(new Float32Array(20));
      const given = [bufferOf(table), bufferOf(Int32Array.from(indices)), bufferOf(hundreds), output];
      const keys = [t, i, o, i === "output" ? "y" : "output"];
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      made.encode(pass, Object.fromEntries(keys.map((key, k) => [key, given[k]!])));
      pass.end();
      const read = device.createBuffer({ size: 80, usage: mapRead | copyDst });
      encoder.copyBufferToBuffer(output, 0, read, 0, 80);
      device.queue.submit([encoder.finish()]);
      await read.mapAsync(1);
      const found = [...new Float32Array(read.getMappedRange().slice(0))];
      await made.check();
      return found;
    };
    expect(await launched(rows)).toEqual(sums);
    await expect(launched([0, 3, 7, 1, 2])).rejects.toThrow(`TC601: index 7 at ${i}[2] is out of range`);
    made.dispose();
  },
);
