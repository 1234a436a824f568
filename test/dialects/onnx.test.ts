/** ONNX's rules, one by one. Expected values: onnx/onnx docs/Operators.md and Changelog.md; see docs/specifications.md. */
import { defined } from "../../ir/defined.js";
import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import type { DType, Shape, SourceFunc } from "../../ir/index.js";
import { compile, onnx } from "../../src/index.js";
import { refusal, verdict } from "../support/refusal.js";
import { operandOf } from "../support/operands.js";

const sixteen: readonly DType[] = [
  ...(["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "bf16", "f16", "f32", "f64"] as const),
  ...(["string", "bool", "c64", "c128"] as const),
];

const twos = (rank: number): Shape => new Array<number>(rank).fill(2);
const f32 = (shape: Shape) => ["f32", shape] as const;
const i64 = (shape: Shape) => ["i64", shape] as const;

const gathered = (func: SourceFunc, data: readonly number[], indices: readonly number[]): number[] =>
  Array.from(
    simulate(compile(func), {
      data: Float32Array.from(data),
      indices: BigInt64Array.from(indices, BigInt),
    }).outputs.output as Float32Array,
  );

/** Each operator on two elements and two indices, along the only axis. */
const operators: readonly (readonly [
  name: string,
  build: (data: DType, indices: DType, opset?: number) => SourceFunc,
])[] = [
  [
    "Gather",
    (data, indices, opset = 13) => onnx.gather({ data: [data, [2]], indices: [indices, [2]], opset }),
  ],
  [
    "GatherElements",
    (data, indices, opset = 13) => onnx.gatherElements({ data: [data, [2]], indices: [indices, [2]], opset }),
  ],
  [
    "GatherND",
    (data, indices, opset = 13) => onnx.gatherNd({ data: [data, [2]], indices: [indices, [2, 1]], opset }),
  ],
];

describe("every ONNX gather", () => {
  it.each(operators)("%s takes the sixteen types, bfloat16 since opset 13", (_name, build) => {
    for (const dtype of sixteen) {
      expect(operandOf(build(dtype, "i64", 13), "output").type.dtype).toBe(dtype);
      expect(verdict(() => build(dtype, "i64", 12))).toBe(dtype === "bf16" ? "TC104" : "accepted");
    }
  });

  it.each(operators)("%s takes int64 indices; int32 where it is not GatherND; no others", (name, build) => {
    const taken = sixteen.filter((dtype) => verdict(() => build("f32", dtype)) === "accepted");
    expect(taken).toEqual(name === "GatherND" ? ["i64"] : ["i32", "i64"]);
    expect(verdict(() => build("f32", "u32"))).toBe("TC104");
  });

  it.each([
    ["Gather", 1],
    ["GatherElements", 11],
    ["GatherND", 11],
  ])("%s exists since opset %i", (name, since) => {
    const build = operators.find(([known]) => known === name)![1];
    expect(verdict(() => build("f32", "i64", since))).toBe("accepted");
    expect(verdict(() => build("f32", "i64", since - 1))).toBe("TC105");
  });

  it.each(operators)(
    "%s: -s to s - 1 are in range, s and -s - 1 are errors that name them",
    (_name, build) => {
      const func = build("f32", "i64");
      expect(gathered(func, [10, 20], [-2, 1])).toEqual([10, 20]);
      for (const bad of [2, -3]) {
        const found = refusal(() => gathered(func, [10, 20], [0, bad]));
        expect(found).toMatchObject({ code: "TC601", data: { position: 1, value: String(bad), extent: 2 } });
      }
    },
  );

  it("has no empty-tensor rule: no index gives no element", () => {
    expect(gathered(onnx.gather({ data: f32([2]), indices: i64([0]) }), [1, 2], [])).toEqual([]);
    expect(gathered(onnx.gatherElements({ data: f32([2]), indices: i64([0]) }), [1, 2], [])).toEqual([]);
    expect(gathered(onnx.gatherNd({ data: f32([2]), indices: i64([0, 1]) }), [1, 2], [])).toEqual([]);
  });
});

describe("ONNX Gather", () => {
  it("takes data of rank 1 to 8 and indices of rank 0 to 8, as far as the output has rank 8 at most", () => {
    const build = (r: number, q: number) => () => onnx.gather({ data: f32(twos(r)), indices: i64(twos(q)) });
    expect(verdict(build(0, 1))).toBe("TC102");
    expect(operandOf(build(1, 0)(), "output").type.shape).toEqual([]);
    expect(operandOf(build(1, 8)(), "output").type.shape).toEqual(twos(8));
    expect(operandOf(build(8, 1)(), "output").type.shape).toEqual(twos(8));
    expect(verdict(build(9, 0))).toBe("TC102");
    expect(verdict(build(8, 2))).toBe("TC102");
  });

  it("takes axis 0 when none is given, and -r to r - 1", () => {
    const build = (axis?: number) => () =>
      onnx.gather({ data: f32([2, 3]), indices: i64([5]), ...defined({ axis }) });
    expect(operandOf(build()(), "output").type.shape).toEqual([5, 3]);
    expect(operandOf(build(-2)(), "output").type.shape).toEqual([5, 3]);
    expect(operandOf(build(1)(), "output").type.shape).toEqual([2, 5]);
    expect(operandOf(build(-1)(), "output").type.shape).toEqual([2, 5]);
    expect(verdict(build(2))).toBe("TC101");
    expect(verdict(build(-3))).toBe("TC101");
  });

  it.each([
    [[2, 3], [], 0, [3]],
    [[2, 3, 4], [], 1, [2, 4]],
    [[2, 3], [4, 5], 0, [4, 5, 3]],
    [[2, 3], [4, 5], 1, [2, 4, 5]],
  ])(
    "puts the dims of indices in the axis's place: %j by %j along %i gives %j",
    (data, indices, axis, output) => {
      const func = onnx.gather({ data: f32(data), indices: i64(indices), axis });
      expect(operandOf(func, "output").type.shape).toEqual(output);
    },
  );

  it("knows no negative index before opset 11: in opset 1 it is out of range", () => {
    const build = (opset: number) => onnx.gather({ data: f32([3]), indices: i64([1]), opset });
    expect(gathered(build(11), [7, 8, 9], [-1])).toEqual([9]);
    expect(verdict(() => gathered(build(1), [7, 8, 9], [-1]))).toBe("TC601");
  });
});

describe("ONNX GatherElements", () => {
  const build = (data: Shape, indices: Shape, axis?: number, opset = 13) =>
    onnx.gatherElements({
      data: f32(data),
      indices: i64(indices),
      opset,
      ...defined({ axis }),
    });

  it("takes data and indices of one rank, 1 to 8", () => {
    expect(verdict(() => build([], []))).toBe("TC102");
    expect(verdict(() => build([2, 2], [2]))).toBe("TC102");
    expect(operandOf(build([2], [2]), "output").type.shape).toEqual([2]);
    expect(operandOf(build(twos(8), twos(8)), "output").type.shape).toEqual(twos(8));
    expect(verdict(() => build(twos(9), twos(9)))).toBe("TC102");
  });

  it("takes axis 0 when none is given, and -r to r - 1", () => {
    expect(operandOf(build([2, 3], [7, 3]), "output").type.shape).toEqual([7, 3]);
    expect(operandOf(build([2, 3], [7, 3], -2), "output").type.shape).toEqual([7, 3]);
    expect(operandOf(build([2, 3], [2, 7], -1), "output").type.shape).toEqual([2, 7]);
    expect(verdict(() => build([2, 3], [2, 3], 2))).toBe("TC101");
    expect(verdict(() => build([2, 3], [2, 3], -3))).toBe("TC101");
  });

  it("D4: takes indices no larger than data off the axis, of any length along it", () => {
    expect(gathered(build([2, 3], [3, 2], 0), [1, 2, 3, 4, 5, 6], [0, 1, 1, 0, 0, 0])).toEqual([
      1, 5, 4, 2, 1, 2,
    ]);
    expect(verdict(() => build([2, 3], [2, 4], 0))).toBe("TC103");
  });

  it("gives the examples' output in the shape of indices in opset 11, whose page prints a pair of brackets more", () => {
    const first = build([2, 2], [2, 2], 1, 11);
    expect(operandOf(first, "output").type.shape).toEqual([2, 2]);
    expect(gathered(first, [1, 2, 3, 4], [0, 0, 1, 0])).toEqual([1, 1, 4, 3]);
    const second = build([3, 3], [2, 3], 0, 11);
    expect(operandOf(second, "output").type.shape).toEqual([2, 3]);
    expect(gathered(second, [1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 0, 2, 0, 0])).toEqual([4, 8, 3, 7, 2, 3]);
  });

  it("D13: reads beyond 32 elements and does not wrap, as the Python evaluator's numpy.choose does", () => {
    const data = Array.from({ length: 40 }, (_, k) => 100 + k);
    expect(gathered(build([40], [3]), data, [39, 32, -40])).toEqual([139, 132, 100]);
    expect(verdict(() => gathered(build([40], [1]), data, [40]))).toBe("TC601");
  });
});

describe("ONNX GatherND", () => {
  const build = (data: Shape, indices: Shape, batchDims?: number, opset = 13) =>
    onnx.gatherNd({
      data: f32(data),
      indices: i64(indices),
      opset,
      ...defined({ batchDims }),
    });

  it("takes ranks from 1 that need not agree, to 8", () => {
    expect(verdict(() => build([], [1, 1]))).toBe("TC102");
    expect(verdict(() => build([2], []))).toBe("TC102");
    expect(operandOf(build([2], [3, 4, 5, 1]), "output").type.shape).toEqual([3, 4, 5]);
    expect(operandOf(build([2, 3, 4, 5], [1]), "output").type.shape).toEqual([3, 4, 5]);
    expect(operandOf(build([2, 3], [2]), "output").type.shape).toEqual([]);
    expect(verdict(() => build(twos(9), [1]))).toBe("TC102");
  });

  it("takes batch dims 0 when none are given, equal in both tensors, fewer than either rank, not below 0", () => {
    expect(operandOf(build([2, 3], [2, 1]), "output").type.shape).toEqual([2, 3]);
    expect(operandOf(build([2, 3], [2, 1], 1), "output").type.shape).toEqual([2]);
    expect(verdict(() => build([3, 3], [2, 1], 1))).toBe("TC103");
    expect(verdict(() => build([2, 3], [2], 1))).toBe("TC105");
    expect(verdict(() => build([2], [2, 1], 1))).toBe("TC105");
    expect(verdict(() => build([2, 3], [2, 1], -1))).toBe("TC105");
  });

  it("takes tuples of 0 to r - b", () => {
    expect(verdict(() => build([2, 3], [4, 0]))).toBe("accepted");
    expect(verdict(() => build([2, 3], [4, 2]))).toBe("accepted");
    expect(verdict(() => build([2, 3], [4, 3]))).toBe("TC103");
    expect(verdict(() => build([2, 3], [2, 2], 1))).toBe("TC103");
  });

  it("gives rank q + r - tuple - 1 - b, not the Outputs section's without b", () => {
    const func = build([2, 2, 2], [2, 1], 1);
    expect(operandOf(func, "output").type.shape).toEqual([2, 2]);
    expect(gathered(func, [0, 1, 2, 3, 4, 5, 6, 7], [1, 0])).toEqual([2, 3, 4, 5]);
  });

  it("has batch dims since opset 12", () => {
    expect(verdict(() => build([2, 3], [2, 1], 1, 12))).toBe("accepted");
    expect(verdict(() => build([2, 3], [2, 1], 1, 11))).toBe("TC105");
    expect(verdict(() => build([2, 3], [2, 1], 0, 11))).toBe("accepted");
  });

  it.each([
    [[2, 2], [2, 2], [0, 0, 1, 1], [2], [0, 3]],
    [
      [2, 2],
      [2, 1],
      [1, 0],
      [2, 2],
      [2, 3, 0, 1],
    ],
    [
      [2, 2, 2],
      [2, 2],
      [0, 1, 1, 0],
      [2, 2],
      [2, 3, 4, 5],
    ],
    [
      [2, 2, 2],
      [2, 1, 2],
      [0, 1, 1, 0],
      [2, 1, 2],
      [2, 3, 4, 5],
    ],
  ])("gathers scalars by whole tuples and slices by short ones: examples 1 to 4, %j by %j", (...example) => {
    const [data, indices, values, shape, output] = example;
    const func = build(data, indices);
    expect(operandOf(func, "output").type.shape).toEqual(shape);
    const counting = Array.from({ length: data.reduce((a, b) => a * b) }, (_, k) => k);
    expect(gathered(func, counting, values)).toEqual(output);
  });
});
