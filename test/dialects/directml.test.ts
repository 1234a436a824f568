/** DirectML's rules, one by one. Expected values: the pages of MicrosoftDocs/sdk-api; see docs/specifications.md. */
import { describe, expect, it } from "vitest";
import { simulate } from "../../backends/sim/index.js";
import { defined, featureLevels, type FeatureLevel, type Shape, type SourceFunc } from "../../ir/index.js";
import { compile, directml } from "../../src/index.js";
import type { DmlDataType } from "../../src/dialects/directml.js";
import { verdict } from "../support/refusal.js";
import { operandOf } from "../support/operands.js";

const f32 = (Sizes: Shape) => ({ DataType: "FLOAT32", Sizes }) as const;
const u32 = (Sizes: Shape) => ({ DataType: "UINT32", Sizes }) as const;

const i32 = (Sizes: Shape) => ({ DataType: "INT32", Sizes }) as const;

type Elements = Int32Array | Uint32Array | BigInt64Array | BigUint64Array;
const gathered = (func: SourceFunc, data: readonly number[], indices: Elements): number[] =>
  Array.from(
    simulate(compile(func), { data: Float32Array.from(data), indices }).outputs.output as Float32Array,
  );

describe("the documents' errata", () => {
  const example3 = (IndexDimensions: number, OutputTensor?: ReturnType<typeof f32>) => () =>
    directml.gather({
      InputTensor: f32([3, 2]),
      IndicesTensor: u32([1, 2]),
      Axis: 1,
      IndexDimensions,
      ...defined({ OutputTensor }),
    });

  it("D8: Gather example 3 as printed is refused; its picture is that of IndexDimensions 1", () => {
    expect(verdict(example3(2, f32([3, 2])))).toBe("TC102");
    expect(operandOf(example3(1, f32([3, 2]))(), "output").type.shape).toEqual([3, 2]);
  });

  it("D9: IndexDimensions may equal DimensionCount, as example 1 does", () => {
    const build = (IndexDimensions: number) => () =>
      directml.gather({ InputTensor: f32([4]), IndicesTensor: u32([5]), Axis: 0, IndexDimensions });
    expect(operandOf(build(1)(), "output").type.shape).toEqual([5]);
    expect(verdict(build(2))).toBe("TC105");
    expect(verdict(build(-1))).toBe("TC105");
  });

  it("D10: the output's tail starts after the tuple of the meaningful input dims", () => {
    const func = directml.gatherNd({
      InputTensor: f32([3, 4, 5, 6, 7]),
      IndicesTensor: u32([1, 1, 1, 2, 3]),
      InputDimensionCount: 5,
      IndicesDimensionCount: 2,
    });
    expect(operandOf(func, "output").type.shape).toEqual([1, 1, 2, 6, 7]);
  });

  it("D11: the output of GatherElements has the input's type, not UINT32", () => {
    const build = (DataType: DmlDataType) => () =>
      directml.gatherElements({
        InputTensor: f32([3, 3]),
        IndicesTensor: u32([2, 3]),
        OutputTensor: { DataType, Sizes: [2, 3] },
        Axis: 0,
      });
    expect(verdict(build("UINT32"))).toBe("TC104");
    expect(operandOf(build("FLOAT32")(), "output").type).toEqual({ dtype: "f32", shape: [2, 3] });
  });
});

describe("the operators", () => {
  const nd = (input: Shape, indices: Shape, counts: readonly [number, number]) =>
    directml.gatherNd({
      InputTensor: f32(input),
      IndicesTensor: u32(indices),
      InputDimensionCount: counts[0],
      IndicesDimensionCount: counts[1],
    });
  const nd1 = (
    input: Shape,
    indices: Shape,
    counts: readonly [number, number],
    BatchDimensionCount: number,
  ) =>
    directml.gatherNd1({
      InputTensor: f32(input),
      IndicesTensor: u32(indices),
      InputDimensionCount: counts[0],
      IndicesDimensionCount: counts[1],
      BatchDimensionCount,
    });

  it("take tensors of one DimensionCount", () => {
    const tensors = { InputTensor: f32([2, 2]), IndicesTensor: u32([2]) };
    const counts = { InputDimensionCount: 1, IndicesDimensionCount: 1 };
    expect(verdict(() => directml.gather({ ...tensors, Axis: 0, IndexDimensions: 1 }))).toBe("TC102");
    expect(verdict(() => directml.gatherElements({ ...tensors, Axis: 0 }))).toBe("TC102");
    expect(verdict(() => directml.gatherNd({ ...tensors, ...counts }))).toBe("TC102");
    expect(verdict(() => directml.gatherNd1({ ...tensors, ...counts, BatchDimensionCount: 0 }))).toBe(
      "TC102",
    );
  });

  it("write an output of the input's type, in the sizes of the formula, and no other", () => {
    const build = (OutputTensor: { DataType: DmlDataType; Sizes: Shape }) => () =>
      directml.gather({
        InputTensor: f32([3, 2]),
        IndicesTensor: u32([1, 4]),
        OutputTensor,
        Axis: 0,
        IndexDimensions: 1,
      });
    expect(verdict(build(f32([4, 2])))).toBe("accepted");
    expect(verdict(build({ DataType: "FLOAT16", Sizes: [4, 2] }))).toBe("TC104");
    expect(verdict(build(f32([4, 3])))).toBe("TC103");
    expect(verdict(build(f32([1, 4, 2])))).toBe("TC103");

    const tensors = { InputTensor: f32([2, 2]), IndicesTensor: u32([2, 1]) };
    const counts = { InputDimensionCount: 2, IndicesDimensionCount: 2 };
    for (const [OutputTensor, expected] of [
      [f32([2, 2]), "accepted"],
      [u32([2, 2]), "TC104"],
      [f32([2, 1]), "TC103"],
    ] as const) {
      expect(verdict(() => directml.gatherNd({ ...tensors, ...counts, OutputTensor }))).toBe(expected);
      const nd1 = { ...tensors, ...counts, BatchDimensionCount: 0, OutputTensor };
      expect(verdict(() => directml.gatherNd1(nd1))).toBe(expected);
    }
  });

  it("take an Axis in [0, DimensionCount)", () => {
    const tensors = { InputTensor: f32([2, 2]), IndicesTensor: u32([1, 2]) };
    for (const [Axis, expected] of [
      [-1, "TC101"],
      [0, "accepted"],
      [1, "accepted"],
      [2, "TC101"],
    ] as const) {
      expect(verdict(() => directml.gather({ ...tensors, Axis, IndexDimensions: 1 }))).toBe(expected);
    }
    expect(verdict(() => directml.gatherElements({ ...tensors, Axis: 2 }))).toBe("TC101");
    expect(verdict(() => directml.gatherElements({ ...tensors, Axis: 0 }))).toBe("accepted");
  });

  it("count the meaningful sizes of IndicesTensor from the end", () => {
    const func = directml.gather({
      InputTensor: f32([1, 1, 1, 5]),
      IndicesTensor: u32([1, 1, 4, 6]),
      Axis: 3,
      IndexDimensions: 3,
    });
    expect(operandOf(func, "output").type.shape).toEqual([1, 1, 4, 6]);
  });

  it("GatherND takes dimension counts in [1, DimensionCount] that ignore ones alone", () => {
    expect(operandOf(nd([1, 1, 4, 6], [1, 1, 3, 2], [3, 2]), "output").type.shape).toEqual([1, 1, 3, 6]);
    expect(verdict(() => nd([1, 2], [2, 1], [0, 2]))).toBe("TC105");
    expect(verdict(() => nd([1, 2], [2, 1], [3, 2]))).toBe("TC105");
    expect(verdict(() => nd([1, 2], [2, 1], [2, 0]))).toBe("TC105");
    expect(verdict(() => nd([1, 2], [2, 1], [2, 3]))).toBe("TC105");
    expect(verdict(() => nd([2, 2], [2, 1], [1, 2]))).toBe("TC103");
    expect(verdict(() => nd([1, 2], [2, 1], [2, 1]))).toBe("TC103");
  });

  it("GatherND reads an IndicesTensor of {1,4,5,2} under IndicesDimensionCount 3 as 4 by 5 pairs", () => {
    const pairs = nd([1, 1, 4, 6], [1, 4, 5, 2], [2, 3]);
    expect(operandOf(pairs, "output").type.shape).toEqual([1, 1, 4, 5]);
    const rows = nd([1, 3, 4, 6], [1, 4, 5, 2], [3, 3]);
    expect(operandOf(rows, "output").type.shape).toEqual([1, 4, 5, 6]);
  });

  it("D10: GatherND bounds the tuple by InputDimensionCount, not by DimensionCount", () => {
    expect(operandOf(nd([1, 1, 4, 6], [1, 1, 3, 2], [2, 2]), "output").type.shape).toEqual([1, 1, 1, 3]);
    expect(verdict(() => nd([1, 1, 4, 6], [1, 1, 3, 3], [2, 2]))).toBe("TC103");
    expect(verdict(() => nd([1, 1, 4, 6], [1, 1, 3, 3], [3, 2]))).toBe("accepted");
  });

  it("GatherND refuses an output that needs more than DimensionCount", () => {
    expect(verdict(() => nd([2, 2], [2, 1], [2, 2]))).toBe("accepted");
    expect(verdict(() => nd([2, 2, 2], [2, 2, 1], [3, 3]))).toBe("TC102");
  });

  it("GatherND1 gathers within batches, as example 2 does, whose size formula forgets them", () => {
    const func = nd1([1, 3, 2, 2], [1, 3, 2, 2], [3, 3], 1);
    expect(operandOf(func, "output").type.shape).toEqual([1, 1, 3, 2]);
    const data = Array.from({ length: 12 }, (_, k) => k);
    const indices = Uint32Array.of(0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0);
    expect(gathered(func, data, indices)).toEqual([0, 3, 7, 4, 9, 10]);
  });

  it("GatherND1 counts batches from the first meaningful size, below both counts and equal in both tensors", () => {
    // Sizes {1,3,4,5,6,7}, IndicesDimensionCount 5, BatchDimensionCount 2: batches {3,4}.
    expect(operandOf(nd1([1, 3, 4, 8, 8, 8], [1, 3, 4, 5, 6, 2], [5, 5], 2), "output").type.shape).toEqual([
      1, 3, 4, 5, 6, 8,
    ]);
    expect(verdict(() => nd1([2, 3], [2, 1], [2, 2], 2))).toBe("TC105");
    expect(verdict(() => nd1([2, 3], [2, 1], [2, 2], -1))).toBe("TC105");
    expect(verdict(() => nd1([2, 3], [1, 1], [2, 2], 1))).toBe("TC103");
    expect(verdict(() => nd1([2, 3], [2, 1], [2, 2], 1))).toBe("accepted");
  });

  it("GatherND1 without batches is GatherND", () => {
    const [one, other] = [nd([2, 3, 4], [1, 5, 2], [3, 2]), nd1([2, 3, 4], [1, 5, 2], [3, 2], 0)];
    expect(operandOf(other, "output").type).toEqual(operandOf(one, "output").type);
    const data = Array.from({ length: 24 }, (_, k) => k);
    const indices = Uint32Array.of(0, 0, 1, 2, 0, 1, 1, 1, 0, 2);
    expect(gathered(other, data, indices)).toEqual(gathered(one, data, indices));
    expect(gathered(one, data, indices).slice(0, 8)).toEqual([0, 1, 2, 3, 20, 21, 22, 23]);
  });
});

describe("indices out of range", () => {
  const data = [10, 20, 30];
  const builders: readonly (readonly [name: string, build: (DataType: DmlDataType) => SourceFunc])[] = [
    [
      "Gather",
      (DataType) =>
        directml.gather({
          InputTensor: f32([3]),
          IndicesTensor: { DataType, Sizes: [4] },
          Axis: 0,
          IndexDimensions: 1,
        }),
    ],
    [
      "GatherElements",
      (DataType) =>
        directml.gatherElements({ InputTensor: f32([3]), IndicesTensor: { DataType, Sizes: [4] }, Axis: 0 }),
    ],
    [
      "GatherND",
      (DataType) =>
        directml.gatherNd({
          InputTensor: f32([1, 3]),
          IndicesTensor: { DataType, Sizes: [4, 1] },
          InputDimensionCount: 1,
          IndicesDimensionCount: 2,
        }),
    ],
    [
      "GatherND1",
      (DataType) =>
        directml.gatherNd1({
          InputTensor: f32([1, 3]),
          IndicesTensor: { DataType, Sizes: [4, 1] },
          InputDimensionCount: 1,
          IndicesDimensionCount: 2,
          BatchDimensionCount: 0,
        }),
    ],
  ];

  it.each(builders)("%s counts negative indices of signed types from the end", (_name, build) => {
    expect(gathered(build("INT32"), data, Int32Array.of(-1, -2, -3, 0))).toEqual([30, 20, 10, 10]);
    expect(gathered(build("INT64"), data, BigInt64Array.of(-1n, -2n, -3n, 0n))).toEqual([30, 20, 10, 10]);
  });

  it.each(builders)(
    "D12: %s fails for no index; what is out of range is clamped along its axis",
    (_name, build) => {
      expect(gathered(build("INT32"), data, Int32Array.of(3, 99, -4, -99))).toEqual([30, 30, 10, 10]);
      expect(gathered(build("UINT32"), data, Uint32Array.of(3, 99, 2 ** 32 - 1, 1))).toEqual([
        30, 30, 30, 20,
      ]);
      const wide = BigUint64Array.of(2n ** 64n - 1n, 2n ** 32n, 1n, 0n);
      expect(gathered(build("UINT64"), data, wide)).toEqual([30, 30, 20, 10]);
    },
  );

  it("D12: are clamped along their own axis where there are several", () => {
    const func = directml.gatherNd({
      InputTensor: f32([2, 3]),
      IndicesTensor: i32([3, 2]),
      InputDimensionCount: 2,
      IndicesDimensionCount: 2,
    });
    const indices = Int32Array.of(0, 3, 2, 0, -3, -4);
    expect(gathered(func, [10, 11, 12, 20, 21, 22], indices)).toEqual([12, 20, 10]);
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
    expect(operandOf(func, "output").type.shape).toEqual([3, 1, 2]);
  });

  it("pad an output of lower rank", () => {
    const func = directml.gather({
      InputTensor: f32([3, 2]),
      IndicesTensor: u32([1, 1]),
      Axis: 0,
      IndexDimensions: 0,
    });
    expect(operandOf(func, "output").type.shape).toEqual([1, 2]);
  });

  it("must be ones: what a count ignores holds nothing", () => {
    const build = () =>
      directml.gather({ InputTensor: f32([3, 2]), IndicesTensor: u32([2, 2]), Axis: 0, IndexDimensions: 1 });
    expect(verdict(build)).toBe("TC103");
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
    expect(verdict(gather(level, data, index, rank))).toBe(expected);
  });

  /** The pages' tables: from a level on, DimensionCounts, element types, index types. */
  const small = ["FLOAT32", "FLOAT16", "INT32", "INT16", "INT8", "UINT32", "UINT16", "UINT8"] as const;
  const wide = ["FLOAT64", "INT64", "UINT64"] as const;
  const index = ["INT64", "INT32", "UINT64", "UINT32"] as const;
  const every = [...small, ...wide];
  const tables = {
    gather: { "1.0": [[4], ["FLOAT32", "FLOAT16"], ["UINT32"]], "2.1": [[4], small, ["UINT32"]] },
    gatherElements: { "2.1": [[4], small, ["UINT32"]] },
    gatherNd: { "2.1": [[4], small, ["UINT32"]] },
    gatherNd1: {},
  } as const;
  const later = {
    "3.0": [[1, 2, 3, 4, 5, 6, 7, 8], small, index],
    "4.1": [[1, 2, 3, 4, 5, 6, 7, 8], every, index],
  } as const;

  it.each(Object.keys(tables) as (keyof typeof tables)[])("give %s what its page's tables list", (name) => {
    type Row = readonly [readonly number[], readonly DmlDataType[], readonly DmlDataType[]];
    const table: Partial<Record<FeatureLevel, Row>> = { ...tables[name], ...later };
    let row: Row = [[], [], []];
    for (const featureLevel of featureLevels) {
      row = table[featureLevel] ?? row;
      const [counts, types, indexTypes] = row;
      const build = (rank: number, data: DmlDataType, indices: DmlDataType) => () => {
        const ones = new Array<number>(rank - 1).fill(1);
        const InputTensor = { DataType: data, Sizes: [...ones, 2] };
        const IndicesTensor = { DataType: indices, Sizes: [...ones, 1] };
        const tensors = { InputTensor, IndicesTensor };
        const nd = { ...tensors, InputDimensionCount: 1, IndicesDimensionCount: 1 };
        const builders = {
          gather: () => directml.gather({ ...tensors, Axis: rank - 1, IndexDimensions: 1 }, { featureLevel }),
          gatherElements: () => directml.gatherElements({ ...tensors, Axis: rank - 1 }, { featureLevel }),
          gatherNd: () => directml.gatherNd(nd, { featureLevel }),
          gatherNd1: () => directml.gatherNd1({ ...nd, BatchDimensionCount: 0 }, { featureLevel }),
        };
        return builders[name]();
      };
      const taken = (makes: (value: DmlDataType) => () => unknown) =>
        every.filter((type) => verdict(makes(type)) === "accepted");
      expect(
        [1, 2, 3, 4, 5, 6, 7, 8, 9].filter(
          (rank) => verdict(build(rank, "FLOAT32", "UINT32")) === "accepted",
        ),
        featureLevel,
      ).toEqual(counts);
      const byName = (types: readonly DmlDataType[]) => [...types].sort();
      expect(byName(taken((type) => build(4, type, "UINT32"))), featureLevel).toEqual(byName(types));
      expect(byName(taken((type) => build(4, "FLOAT32", type))), featureLevel).toEqual(byName(indexTypes));
    }
  });

  it("take a level beyond the last table as that one, and no level that is none", () => {
    const build = (featureLevel: string, DataType: DmlDataType = "FLOAT64") =>
      directml.gather(
        {
          InputTensor: { DataType, Sizes: [1, 1, 2, 2] },
          IndicesTensor: { DataType: "INT64", Sizes: [1, 1, 1, 2] },
          Axis: 2,
          IndexDimensions: 1,
        },
        { featureLevel },
      );
    for (const level of ["4.1", "5.0", "5.2", "6.4", "10.0"])
      expect(verdict(() => build(level))).toBe("accepted");
    for (const level of ["4.0", "3.1"]) expect(verdict(() => build(level))).toBe("TC104");
    for (const level of ["2.5", "5", "5.", "five", "5.0.1", "-5.0"])
      expect(verdict(() => build(level))).toBe("TC105");
  });

  it("introduce Gather with 1.0, GatherElements and GatherND with 2.1, GatherND1 with 3.0", () => {
    const since = (build: (featureLevel: FeatureLevel) => unknown) =>
      featureLevels.find((level) => verdict(() => build(level)) === "accepted");
    const tensors = { InputTensor: f32([1, 1, 2, 2]), IndicesTensor: u32([1, 1, 2, 2]) };
    const counts = { InputDimensionCount: 2, IndicesDimensionCount: 2 };
    const one = { ...tensors, IndicesTensor: u32([1, 1, 1, 2]) };
    expect(
      since((featureLevel) => directml.gather({ ...one, Axis: 2, IndexDimensions: 1 }, { featureLevel })),
    ).toBe("1.0");
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
    expect(verdict(elements([2, 3], [2, 3], -1))).toBe("TC101");
    expect(verdict(elements([2, 3], [1, 2], 0))).toBe("TC103");
    expect(verdict(elements([2, 0], [2, 0], 0))).toBe("TC103");
    expect(verdict(elements([2, 3], [5, 3], 0))).toBe("accepted");
  });
});
