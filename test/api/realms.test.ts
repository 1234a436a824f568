import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import type { GatherData } from "../../backends/index.js";
import { compile, onnx, run } from "../../src/index.js";

/** An array as another realm makes it: no `instanceof` of this one knows it. */
const foreign = (expression: string): never => runInNewContext(expression) as never;

describe("typed arrays of another realm", () => {
  it.each([
    ["f32", "Float32Array.of(1, 2, 3)", [3, 1]],
    ["f16", "Uint16Array.of(1, 2, 3)", [3, 1]],
    ["i64", "BigInt64Array.of(1n, 2n, 3n)", [3n, 1n]],
    ["c64", "Float32Array.of(1, 2, 3, 4, 5, 6)", [5, 6, 1, 2]],
    ["u16", "new Uint8Array([1, 0, 2, 0, 3, 0])", [3, 1]],
  ] as const)("are inputs of %s", (dtype, data, expected) => {
    const kernel = compile(onnx.gather({ data: [dtype, [3]], indices: ["i32", [2]] }));
    const inputs: GatherData = { data: foreign(data), indices: foreign("Int32Array.of(2, 0)") };
    expect(inputs.indices instanceof Int32Array).toBe(false);
    expect([...simulate(kernel, inputs).outputs.output]).toEqual(expected);
  });

  it("are refused where those of this realm are", () => {
    const kernel = compile(onnx.gather({ data: ["f32", [3]], indices: ["i32", [2]] }));
    const data = foreign("Int32Array.of(1, 2, 3)");
    expect(() => simulate(kernel, { data, indices: new Int32Array(2) })).toThrow(
      /data is 3xf32, 12 bytes; got a Int32Array of 12 bytes/,
    );
    const view = foreign("new DataView(new ArrayBuffer(12))");
    expect(() => simulate(kernel, { data: view, indices: new Int32Array(2) })).toThrow(/got a DataView/);
  });

  it("hold strings too", async () => {
    const kernel = compile(onnx.gather({ data: ["string", [2]], indices: ["i64", [2]] }));
    const { outputs } = await run(kernel, {
      data: foreign('["a", "b"]'),
      indices: foreign("BigInt64Array.of(1n, -1n)"),
    });
    expect(outputs.output).toEqual(["b", "b"]);
  });
});
