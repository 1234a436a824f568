/** Scatters of dialects, where their pages say more than the cases: numbers, factors, and what is written in place. */
import { describe, expect, it } from "vitest";
import { parseModule, printModule, type DType } from "../../ir/index.js";
import { compile, onnx, pypto, run, torch } from "../../src/index.js";
import { codesOf } from "../support/refusal.js";
import { parsed } from "../support/parsed.js";

describe("the factor of index_add", () => {
  it.each([
    ["i8", Int8Array, [100, -100, 7], 3],
    ["u8", Uint8Array, [100, 200, 7], -1],
    ["i16", Int16Array, [30000, -30000, 9], 5],
    ["i32", Int32Array, [2 ** 30, -(2 ** 30), 9], 7],
  ] as const)("wraps in %s as the type does", async (dtype, Elements, source, alpha) => {
    const func = torch.indexAdd({
      ...{ input: [dtype, [4]], index: ["i64", [3]], source: [dtype, [3]] },
      ...{ dim: 0, alpha },
    });
    const inputs = {
      input: Elements.of(1, 2, 3, 4),
      index: BigInt64Array.of(2n, 0n, 2n),
      source: Elements.from(source),
    };
    const { outputs } = await run(compile(func), inputs, { backend: "reference" });
    const [first, second, third] = source;
    const expected = Elements.of(1 + alpha * second, 2, 3 + alpha * first + alpha * third, 4);
    expect(outputs.output).toEqual(expected);
  });

  it("is a whole number of an integer type", () => {
    const tensors = { input: ["i32", [4]], index: ["i64", [3]], source: ["i32", [3]], dim: 0 } as const;
    expect(codesOf(() => torch.indexAdd({ ...tensors, alpha: 0.5 }))).toEqual(["TC105"]);
    expect(codesOf(() => torch.indexAdd({ ...tensors, alpha: 2 ** 31 }))).toEqual(["TC105"]);
  });
});

describe("a number that is written", () => {
  const tensors = (dtype: DType) => ({ input: [dtype, [4]], index: ["i64", [3]], dim: 0 }) as const;
  it("is of the type of the elements, or refused", () => {
    expect(codesOf(() => pypto.scatter({ ...tensors("f32"), value: 0.015 }))).toEqual([]);
    expect(codesOf(() => pypto.scatter({ ...tensors("i8"), value: 128 }))).toEqual(["TC105"]);
    expect(codesOf(() => torch.scatter({ ...tensors("i64"), value: 1 }))).toEqual(["TC104"]);
  });
  it("stands in the place of a tensor, never beside one", () => {
    expect(codesOf(() => pypto.scatter(tensors("f32")))).toEqual(["TC105"]);
    expect(codesOf(() => pypto.scatter({ ...tensors("f32"), src: ["f32", [3]], value: 1 }))).toEqual([
      "TC105",
    ]);
  });
});

describe("an operator that writes in place", () => {
  const built = pypto.scatterUpdate({ input: ["f32", [8, 4]], index: ["i64", [2, 1]], src: ["f32", [2, 4]] });
  const text = printModule({ funcs: [built] });

  it("says so in its text, and is refused where it does not", () => {
    expect(text).toContain("%input: inout tensor<8x4xf32>");
    const func = parsed(text.replace("inout ", ""));
    expect(codesOf(() => func && compile(func))).toContain("TC204");
  });

  it("is told apart from one that gathers", () => {
    const gather =
      "func @f(%x: inout tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {\n  %y = onnx.gather %x, %i\n  return %y\n}\n";
    expect(parseModule(gather, "a.tir").diagnostics).toHaveLength(1);
  });
});

it("a reduction in 64 bits is refused by name", () => {
  const types = { data: ["i64", [4]], indices: ["i64", [2]], updates: ["i64", [2]] } as const;
  expect(codesOf(() => onnx.scatterElements({ ...types, reduction: "add" }))).toEqual(["TC104"]);
  expect(codesOf(() => onnx.scatterElements(types))).toEqual([]);
});

describe("a bad index of what is written", () => {
  it("names the dim of the output, on every backend that runs scatters", async () => {
    const kernel = compile(
      onnx.scatterElements({
        data: ["f32", [4, 3]],
        indices: ["i64", [1, 3]],
        updates: ["f32", [1, 3]],
        axis: 0,
      }),
    );
    const inputs = {
      data: new Float32Array(12),
      indices: BigInt64Array.of(0n, 9n, 1n),
      updates: new Float32Array(3),
    };
    for (const backend of ["reference", "sim"] as const)
      await expect(run(kernel, inputs, { backend, executor: "checked" }), backend).rejects.toThrow(
        "index 9 at indices[0, 1] is out of range for dim 0 of output, which takes [-4, 3]",
      );
  });
});
