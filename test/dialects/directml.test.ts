import { describe, expect, it } from "vitest";
import { CompileError, featureLevels, type FeatureLevel, type Shape } from "../../ir/index.js";
import { directml } from "../../src/index.js";
import type { DmlDataType } from "../../src/dialects/directml.js";

const f32 = (Sizes: Shape) => ({ DataType: "FLOAT32", Sizes }) as const;
const u32 = (Sizes: Shape) => ({ DataType: "UINT32", Sizes }) as const;

function refusal(build: () => unknown): string {
  try {
    build();
  } catch (thrown) {
    if (thrown instanceof CompileError) return thrown.diagnostics[0]!.code;
    throw thrown;
  }
  return "accepted";
}

describe("the documents' errata", () => {
  const example3 = (IndexDimensions: number, OutputTensor?: ReturnType<typeof f32>) => () =>
    directml.gather({
      InputTensor: f32([3, 2]),
      IndicesTensor: u32([1, 2]),
      Axis: 1,
      IndexDimensions,
      ...(OutputTensor === undefined ? {} : { OutputTensor }),
    });

  it("D8: Gather example 3 as printed is refused; its picture is that of IndexDimensions 1", () => {
    expect(refusal(example3(2, f32([3, 2])))).toBe("TC102");
    expect(example3(1, f32([3, 2]))().output.type.shape).toEqual([3, 2]);
  });

  it("D9: IndexDimensions may equal DimensionCount, as example 1 does", () => {
    const build = (IndexDimensions: number) => () =>
      directml.gather({ InputTensor: f32([4]), IndicesTensor: u32([5]), Axis: 0, IndexDimensions });
    expect(build(1)().output.type.shape).toEqual([5]);
    expect(refusal(build(2))).toBe("TC105");
    expect(refusal(build(-1))).toBe("TC105");
  });

  it("D10: the output's tail starts after the tuple of the meaningful input dims", () => {
    const func = directml.gatherNd({
      InputTensor: f32([3, 4, 5, 6, 7]),
      IndicesTensor: u32([1, 1, 1, 2, 3]),
      InputDimensionCount: 5,
      IndicesDimensionCount: 2,
    });
    expect(func.output.type.shape).toEqual([1, 1, 2, 6, 7]);
  });

  it("D11: the output of GatherElements has the input's type, not UINT32", () => {
    const build = (DataType: DmlDataType) => () =>
      directml.gatherElements({
        InputTensor: f32([3, 3]),
        IndicesTensor: u32([2, 3]),
        OutputTensor: { DataType, Sizes: [2, 3] },
        Axis: 0,
      });
    expect(refusal(build("UINT32"))).toBe("TC104");
    expect(build("FLOAT32")().output.type).toEqual({ dtype: "f32", shape: [2, 3] });
  });
});

describe("leading ones", () => {
  it("are cropped from the input where the output would overflow DimensionCount", () => {
    const func = directml.gather({
      InputTensor: f32([1, 3, 3]),
      IndicesTensor: u32([1, 1, 2]),
      Axis: 2,
      IndexDimensions: 2,
    });
    expect(func.output.type.shape).toEqual([3, 1, 2]);
  });

  it("pad an output of lower rank", () => {
    const func = directml.gather({
      InputTensor: f32([3, 2]),
      IndicesTensor: u32([1, 1]),
      Axis: 0,
      IndexDimensions: 0,
    });
    expect(func.output.type.shape).toEqual([1, 2]);
  });

  it("must be ones: what a count ignores holds nothing", () => {
    const build = () =>
      directml.gather({ InputTensor: f32([3, 2]), IndicesTensor: u32([2, 2]), Axis: 0, IndexDimensions: 1 });
    expect(refusal(build)).toBe("TC103");
  });
});

describe("feature levels", () => {
  const gather =
    (featureLevel: FeatureLevel, DataType: DmlDataType, index: DmlDataType, rank: number) => () =>
      directml.gather(
        {
          InputTensor: { DataType, Sizes: new Array<number>(rank).fill(2) },
          IndicesTensor: { DataType: index, Sizes: [...new Array<number>(rank - 1).fill(1), 2] },
          Axis: rank - 1,
          IndexDimensions: 1,
        },
        { featureLevel },
      );

  it.each([
    ["1.0", "FLOAT32", "UINT32", 4, "accepted"],
    ["1.0", "FLOAT32", "UINT32", 3, "TC102"],
    ["1.0", "INT32", "UINT32", 4, "TC104"],
    ["2.0", "INT32", "UINT32", 4, "TC104"],
    ["2.1", "INT32", "UINT32", 4, "accepted"],
    ["2.1", "INT32", "INT32", 4, "TC104"],
    ["3.0", "INT8", "INT64", 8, "accepted"],
    ["3.0", "INT64", "INT64", 4, "TC104"],
    ["4.1", "FLOAT64", "UINT64", 8, "accepted"],
  ] as const)("%s: %s by %s of rank %i is %s", (level, data, index, rank, expected) => {
    expect(refusal(gather(level, data, index, rank))).toBe(expected);
  });

  it("introduce GatherElements and GatherND with 2.1, GatherND1 with 3.0", () => {
    const since = (build: (featureLevel: FeatureLevel) => unknown) =>
      featureLevels.find((level) => refusal(() => build(level)) === "accepted");
    const tensors = { InputTensor: f32([1, 1, 2, 2]), IndicesTensor: u32([1, 1, 2, 2]) };
    const counts = { InputDimensionCount: 2, IndicesDimensionCount: 2 };
    expect(since((featureLevel) => directml.gatherElements({ ...tensors, Axis: 2 }, { featureLevel }))).toBe(
      "2.1",
    );
    expect(since((featureLevel) => directml.gatherNd({ ...tensors, ...counts }, { featureLevel }))).toBe(
      "2.1",
    );
    const nd1 = (featureLevel: FeatureLevel) =>
      directml.gatherNd1(
        { ...tensors, InputDimensionCount: 3, IndicesDimensionCount: 2, BatchDimensionCount: 0 },
        { featureLevel },
      );
    expect(since(nd1)).toBe("3.0");
  });
});

describe("what DirectML forbids", () => {
  it("an axis that counts from the end, unequal sizes off the axis, and empty tensors", () => {
    const elements = (input: Shape, indices: Shape, Axis: number) => () =>
      directml.gatherElements({ InputTensor: f32(input), IndicesTensor: u32(indices), Axis });
    expect(refusal(elements([2, 3], [2, 3], -1))).toBe("TC101");
    expect(refusal(elements([2, 3], [1, 2], 0))).toBe("TC103");
    expect(refusal(elements([2, 0], [2, 0], 0))).toBe("TC103");
    expect(refusal(elements([2, 3], [5, 3], 0))).toBe("accepted");
  });
});
