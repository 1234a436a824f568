/** torch.embedding_bag and moe.combine on every backend, against a loop that rounds each step, and what its rules refuse. */
import { describe, expect, it } from "vitest";
import { randomBag, randomCombine } from "../support/random-bags.js";
import { hasRightBits } from "../support/right-bits.js";
import { compile, moe, run, targets, torch, type DType, type Shape } from "../../src/index.js";
import { refusal, verdict } from "../support/refusal.js";

describe.each([
  ["an embedding bag", randomBag],
  ["a mixture of experts", randomCombine],
])("%s", (_, random) => {
  hasRightBits(random, {
    oracle: "the loop",
    executors: { programs: 400, outputs: 200, errors: 20 },
    webgpu: { programs: 40 },
  });
});

type Arguments = Parameters<typeof torch.embeddingBag>[0];
const listed = { weight: ["f32", [5, 4]], input: ["i64", [6]], offsets: ["i64", [3]] } as const;
const rows = { weight: ["f32", [5, 4]], input: ["i64", [3, 2]] } as const;

describe("torch.embedding_bag", () => {
  it.each<[string, Arguments, string]>([
    ["a list without offsets", { weight: ["f32", [5, 4]], input: ["i64", [6]] }, "TC102"],
    [
      "rows and offsets",
      { ...rows, offsets: ["i64", [3]], perSampleWeights: ["f32", [3, 2]], mode: "sum" },
      "TC102",
    ],
    ["offsets of two dims", { ...listed, offsets: ["i64", [3, 1]] }, "TC102"],
    ["offsets of u8", { ...listed, offsets: ["u8", [3]] }, "TC104"],
    ["f64 rows", { ...listed, weight: ["f64", [5, 4]] }, "TC104"],
    ["a cube of weights", { ...listed, weight: ["f32", [5, 4, 2]] }, "TC102"],
    ["weights in mode mean", { ...listed, perSampleWeights: ["f32", [6]] }, "TC105"],
    ["weights of another type", { ...listed, perSampleWeights: ["f16", [6]], mode: "sum" }, "TC104"],
    ["weights of another shape", { ...rows, perSampleWeights: ["f32", [6]], mode: "sum" }, "TC103"],
    ["a padding row that is not there", { ...listed, paddingIdx: 5 }, "TC105"],
    ["a padding row before the first", { ...listed, paddingIdx: -6 }, "TC105"],
    ["a last offset of rows", { ...rows, includeLastOffset: 1 }, "TC105"],
    ["a longest bag of rows", { ...rows, longestBag: 2 }, "TC105"],
    ["a last offset that is 2", { ...listed, includeLastOffset: 2 }, "TC105"],
    ["no offset at all, with the last", { ...listed, offsets: ["i64", [0]], includeLastOffset: 1 }, "TC103"],
    ["bags of no more than 0 rows", { ...listed, longestBag: 0 }, "TC105"],
    ["a mean of 2^24 rows", { ...listed, longestBag: 2 ** 24 }, "TC105"],
    ["rows without a place", { ...rows, input: ["i64", [3, 0]] }, "TC103"],
  ])("refuses %s", (_, given, code) => {
    expect(verdict(() => torch.embeddingBag(given))).toBe(code);
  });

  it("takes a sum of 2^24 rows, and a list longer than any bag may be", () => {
    expect(verdict(() => torch.embeddingBag({ ...listed, mode: "sum", longestBag: 2 ** 24 }))).toBe(
      "accepted",
    );
    const long = torch.embeddingBag({ ...listed, input: ["i64", [2 ** 25]] });
    expect(verdict(() => compile(long, { target: targets.webgpu }))).toBe("accepted");
  });

  it("names its inputs by what they are", () => {
    const weighted = torch.embeddingBag({ ...rows, perSampleWeights: ["f32", [3, 2]], mode: "sum" });
    expect(weighted.operands.map(({ name }) => name)).toEqual([
      "weight",
      "input",
      "per_sample_weights",
      "output",
    ]);
    expect(refusal(() => torch.embeddingBag({ ...listed, offsets: ["f32", [3]] }))?.message).toContain(
      "offsets",
    );
  });

  const zeros = (dtype: DType, shape: Shape) => {
    const count = shape.reduce((product, extent) => product * extent, 1);
    return dtype === "i64" ? new BigInt64Array(count) : new Float32Array(count).fill(1);
  };
  it.each<[string, Arguments, readonly number[]]>([
    ["an empty list", { ...listed, input: ["i64", [0]] }, new Array(12).fill(0)],
    ["no offset", { ...listed, offsets: ["i64", [0]] }, []],
    ["one offset", { ...listed, offsets: ["i64", [1]], mode: "sum" }, new Array(4).fill(6)],
    ["one offset, the last", { ...listed, offsets: ["i64", [1]], includeLastOffset: 1 }, []],
    ["rows of no elements", { ...listed, weight: ["f32", [5, 0]] }, []],
    ["no rows at all", { ...listed, weight: ["f32", [0, 4]], input: ["i64", [0]] }, new Array(12).fill(0)],
    ["no bags of two places", { ...rows, input: ["i64", [0, 2]] }, []],
  ])("has the output of torch for %s", async (_, given, want) => {
    const func = torch.embeddingBag(given);
    const inputs = Object.fromEntries(
      func.operands
        .slice(0, -1)
        .map(({ key, role, type }) => [key ?? role, zeros(type.dtype, type.shape)] as const),
    );
    for (const target of [targets.cpu, targets.webgpu, targets.ascendA2])
      for (const backend of ["reference", "sim"] as const) {
        const { outputs } = await run(compile(func, { target }), inputs, { backend });
        expect([...(outputs.output as Float32Array)]).toEqual(want);
      }
  });
});

describe("moe.combine", () => {
  const takes = { x: ["f16", [5, 4]], inverse: ["i32", [3, 2]], weights: ["f32", [3, 2]] } as const;
  it.each<[string, Parameters<typeof moe.combine>[0], string]>([
    ["rows of i8", { ...takes, x: ["i8", [5, 4]] }, "TC104"],
    ["weights of i32", { ...takes, weights: ["i32", [3, 2]] }, "TC104"],
    ["weights of f64", { ...takes, weights: ["f64", [3, 2]] }, "TC104"],
    ["weights of another shape", { ...takes, weights: ["f32", [2, 3]] }, "TC103"],
    ["one index for each token", { ...takes, inverse: ["i32", [3]] }, "TC102"],
    ["no expert", { ...takes, inverse: ["i32", [3, 0]], weights: ["f32", [3, 0]] }, "TC103"],
  ])("refuses %s", (_, given, code) => {
    expect(verdict(() => moe.combine(given))).toBe(code);
  });
});
