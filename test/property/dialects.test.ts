import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { simulateChecked } from "../../backends/sim/index.js";
import type { Shape, SourceFunc } from "../../ir/index.js";
import { compile, directml, onnx, pypto, targets } from "../../src/index.js";
import { operandOf } from "../support/operands.js";

const run = (func: SourceFunc, data: Float32Array, indices: Int32Array): Uint8Array => {
  const kernel = compile(func, { target: targets.webgpu });
  const { tile, target } = kernel;
  const inputs = {
    data: { type: operandOf(tile, "data").type, bytes: new Uint8Array(data.buffer) },
    indices: { type: operandOf(tile, "indices").type, bytes: new Uint8Array(indices.buffer) },
  };
  return simulateChecked(tile, inputs, target).output;
};

const shapes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 });
const values = (count: number, limit: number, seed: number): Int32Array =>
  Int32Array.from({ length: count }, (_, k) => ((k + 1) * (seed * 2 + 1) * 7919) % limit);
const size = (shape: Shape): number => shape.reduce((a, b) => a * b, 1);
const counting = (shape: Shape): Float32Array =>
  Float32Array.from({ length: size(shape) }, (_, k) => k - 0.5);

describe("the same data through each dialect", () => {
  it("gives the same bits for a gather along an axis", () => {
    fc.assert(
      fc.property(
        shapes,
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(1000),
        (data, pick, count, seed) => {
          const axis = pick % data.length;
          const table = counting(data);
          const indices = values(count, data[axis]!, seed);
          const padded = [...new Array<number>(data.length - 1).fill(1), count];
          const outputs = [
            run(onnx.gather({ data: ["f32", data], indices: ["i32", [count]], axis }), table, indices),
            run(
              pypto.indexSelect({ input: ["f32", data], index: ["i32", [count]], dim: axis }),
              table,
              indices,
            ),
            run(
              directml.gather({
                InputTensor: { DataType: "FLOAT32", Sizes: data },
                IndicesTensor: { DataType: "INT32", Sizes: padded },
                Axis: axis,
                IndexDimensions: 1,
              }),
              table,
              indices,
            ),
          ];
          for (const output of outputs) expect(output).toEqual(outputs[0]);
        },
      ),
    );
  });

  it("gives the same bits for gather_elements", () => {
    fc.assert(
      fc.property(
        shapes,
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.nat(1000),
        (data, pick, length, seed) => {
          const axis = pick % data.length;
          const index = data.map((extent, k) => (k === axis ? length : extent));
          const table = counting(data);
          const indices = values(size(index), data[axis]!, seed);
          const outputs = [
            run(onnx.gatherElements({ data: ["f32", data], indices: ["i32", index], axis }), table, indices),
            run(
              pypto.gather({
                input: ["f32", data],
                index: ["i32", index],
                dim: axis - data.length,
                level: "head",
              }),
              table,
              indices,
            ),
            run(
              directml.gatherElements({
                InputTensor: { DataType: "FLOAT32", Sizes: data },
                IndicesTensor: { DataType: "INT32", Sizes: index },
                Axis: axis,
              }),
              table,
              indices,
            ),
          ];
          for (const output of outputs) expect(output).toEqual(outputs[0]);
        },
      ),
    );
  });

  it("gives the same bits for gather_nd, gather and gather_nd with a tuple of one", () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 6 }), fc.nat(1000), (data, count, seed) => {
        const table = counting(data);
        const narrow = values(count, data[0]!, seed);
        const wide = new Int32Array(BigInt64Array.from(narrow, (v) => BigInt(v)).buffer);
        const gathered = run(
          onnx.gather({ data: ["f32", data], indices: ["i32", [count]], axis: 0 }),
          table,
          narrow,
        );
        expect(
          run(onnx.gatherNd({ data: ["f32", data], indices: ["i64", [count, 1]] }), table, wide),
        ).toEqual(gathered);
        const rank = Math.max(2, data.length);
        const func = directml.gatherNd({
          InputTensor: {
            DataType: "FLOAT32",
            Sizes: [...new Array<number>(rank - data.length).fill(1), ...data],
          },
          IndicesTensor: { DataType: "INT32", Sizes: [...new Array<number>(rank - 2).fill(1), count, 1] },
          InputDimensionCount: data.length,
          IndicesDimensionCount: 2,
        });
        expect(run(func, table, narrow)).toEqual(gathered);
      }),
    );
  });
});
