/** What an optional attribute means where it is absent: what the framework's page says, value by value. */
import { describe, expect, it } from "vitest";
import { opDefs, profiles, resolveSource, type Attrs, type OpName, type Profile } from "../../ir/index.js";
import { jax, numpy, torch } from "../../src/index.js";
import { tensorTypeOf, type TypePair } from "../../src/api/program.js";

const f32 = (...shape: readonly number[]): TypePair => ["f32", shape];
const i64 = (...shape: readonly number[]): TypePair => ["i64", shape];

/** An operator on its inputs, and the attributes that it needs. */
interface Gather {
  readonly op: OpName;
  readonly inputs: readonly TypePair[];
  readonly attrs?: Attrs;
}

/** The operator that it stands for, its output and policies; its codes where it is refused. */
function meaning({ op, inputs, attrs = {} }: Gather, given: Attrs): unknown {
  const result = resolveSource({ op, attrs: { ...attrs, ...given }, inputs: inputs.map(tensorTypeOf) });
  return result.ok ? result.resolved : result.diagnostics.map(({ code }) => code);
}

/** Absent, the attribute means `value`; `other` tells that it means something. */
function expectDefault(gather: Gather, name: string, value: number | string, other: number | string): void {
  const absent = meaning(gather, {});
  expect(absent).toEqual(meaning(gather, { [name]: value }));
  expect(absent).not.toEqual(meaning(gather, { [name]: other }));
}

const rows = (op: OpName): Gather => ({ op, inputs: [f32(4, 4), i64(4)] });
const square = (op: OpName): Gather => ({ op, inputs: [f32(4, 4), i64(4, 4)] });
/** The last two dims of tuples that name elements. */
const tuples = (op: OpName): Gather => ({ op, inputs: [f32(2, 2, 2), i64(2, 2, 1)] });

describe("onnx", () => {
  it("Gather: axis is 0", () => {
    expectDefault(rows("onnx.gather"), "axis", 0, 1);
  });
  it("GatherElements: axis is 0", () => {
    expectDefault(square("onnx.gather_elements"), "axis", 0, 1);
  });
  it("GatherND: batch_dims is 0", () => {
    expectDefault(tuples("onnx.gather_nd"), "batch_dims", 0, 1);
  });
  it("opset is 13", () => {
    const bf16: Gather = { op: "onnx.gather", inputs: [["bf16", [4]], i64(2)] };
    expectDefault(bf16, "opset", 13, 11);
  });
});

describe("directml", () => {
  const ones: Gather = { op: "directml.gather", inputs: [f32(1, 1, 4, 4), i64(1, 1, 1, 4)] };
  it("Gather: Axis is 0", () => {
    expectDefault({ ...ones, attrs: { index_dimensions: 1 } }, "axis", 0, 3);
  });
  it("GatherElements: Axis is 0", () => {
    expectDefault(square("directml.gather_elements"), "axis", 0, 1);
  });
  it("Gather: IndexDimensions is DimensionCount", () => {
    expectDefault({ ...ones, attrs: { axis: 3 } }, "index_dimensions", 4, 1);
  });
  it("GatherND: InputDimensionCount is DimensionCount", () => {
    const nd: Gather = { op: "directml.gather_nd", inputs: [f32(1, 2, 2), i64(1, 2, 1)] };
    expectDefault({ ...nd, attrs: { indices_dimension_count: 2 } }, "input_dimension_count", 3, 2);
  });
  it("GatherND: IndicesDimensionCount is DimensionCount", () => {
    const nd: Gather = { op: "directml.gather_nd", inputs: [f32(1, 2, 2), i64(1, 2, 1)] };
    expectDefault({ ...nd, attrs: { input_dimension_count: 2 } }, "indices_dimension_count", 3, 2);
  });
  it("GatherND1: BatchDimensionCount is 0", () => {
    expectDefault(tuples("directml.gather_nd1"), "batch_dimension_count", 0, 1);
  });
  it("the feature level is 4.1", () => {
    const wide: Gather = { op: "directml.gather", inputs: [["f64", [4]], i64(2)] };
    expectDefault(wide, "feature_level", "4.1", "3.0");
  });
});

describe("pypto", () => {
  it("gather: dim is 0", () => {
    expectDefault(square("pypto.gather"), "dim", 0, 1);
  });
  it("index_select: dim is 0", () => {
    expectDefault(rows("pypto.index_select"), "dim", 0, 1);
  });
  it("the level is that of the profile", () => {
    const inputs = [["u16", [4, 4]] as const, i64(4, 4)].map(tensorTypeOf);
    const taken = (profile: Profile | undefined, attrs: Attrs = {}) =>
      resolveSource({ op: "pypto.gather", attrs, inputs, profile }).ok;
    expect(profiles.map((profile) => taken(profile))).toEqual([false, true, true]);
    expect(taken("strict", { level: "documented" })).toBe(true);
    expect(taken("head", { level: "specification" })).toBe(false);
    // Without a schedule no profile tells it.
    expect(taken(undefined)).toBe(true);
  });
  it("gather_in_ub: axis is -2", () => {
    const paged: Gather = {
      op: "pypto.gather_in_ub",
      inputs: [f32(8, 4), ["i32", [1, 3]], ["i32", [1, 2]]],
      attrs: { block_size: 4 },
    };
    expectDefault(paged, "axis", -2, 0);
  });
});

describe("stablehlo", () => {
  const gather: Gather = { op: "stablehlo.gather", inputs: [f32(4, 4), i64(4)] };
  it("gather: lists of dims are empty", () => {
    const scalar = { ...gather, inputs: [f32(4), i64(1)] as const };
    const attrs = { start_index_map: [0], slice_sizes: [4] };
    const given = { ...attrs, offset_dims: [0] };
    const none = { collapsed_slice_dims: [], operand_batching_dims: [], start_indices_batching_dims: [] };
    expect(meaning(scalar, given)).toEqual(meaning(scalar, { ...given, ...none }));
    expect(meaning(scalar, given)).toMatchObject({ output: [4] });
    expect(meaning(scalar, attrs)).toEqual(meaning(scalar, { ...attrs, ...none, offset_dims: [] }));
    expect(meaning(scalar, {})).toEqual(meaning(scalar, { ...none, start_index_map: [], slice_sizes: [] }));
  });
  it("gather: index_vector_dim is 0", () => {
    const attrs = { offset_dims: [0], collapsed_slice_dims: [0], start_index_map: [0], slice_sizes: [1, 4] };
    const one = { ...gather, inputs: [f32(4, 4), i64(1)] as const, attrs };
    expectDefault(one, "index_vector_dim", 0, 1);
  });
});

describe("torch", () => {
  it("gather: dim is 0", () => {
    expectDefault(square("torch.gather"), "dim", 0, 1);
  });
  it("index_select: dim is 0", () => {
    expectDefault(rows("torch.index_select"), "dim", 0, 1);
  });
  it("take_along_dim: without dim, both tensors count as flat", () => {
    const flat = meaning(square("torch.take_along_dim"), {});
    expect(flat).toMatchObject({ output: [16] });
    // The first element of the second row of indices is the fifth of all.
    const { operator } = flat as { operator: { map: unknown } };
    expect(JSON.stringify(operator.map)).toContain('"extent":16');
    expect(torch.takeAlongDim({ input: f32(2, 3), indices: i64() }).operands.at(-1)?.type.shape).toEqual([1]);
    expect(meaning({ op: "torch.take_along_dim", inputs: [f32(3), i64(5)] }, {})).toEqual(
      meaning({ op: "torch.take_along_dim", inputs: [f32(3), i64(5)] }, { dim: 0 }),
    );
  });
  it("embedding: without padding_idx every row is like any other", () => {
    const table: Gather = { op: "torch.embedding", inputs: [f32(4, 4), i64(2)] };
    expect(meaning(table, {})).toEqual(meaning(table, { padding_idx: 3 }));
  });

  const bags: Gather = { op: "torch.embedding_bag", inputs: [f32(4, 4), i64(6), i64(3)] };
  it("embedding_bag: mode is mean", () => {
    expectDefault(bags, "mode", "mean", "sum");
  });
  it("embedding_bag: without padding_idx every row counts", () => {
    const { operator } = meaning(bags, {}) as { operator: { map: unknown } };
    expect(JSON.stringify(operator.map)).not.toContain('"but"');
    expect(meaning(bags, { padding_idx: -1 })).toEqual(meaning(bags, { padding_idx: 3 }));
  });
  it("embedding_bag: include_last_offset is 0", () => {
    expectDefault(bags, "include_last_offset", 0, 1);
  });
  it("embedding_bag: longest_bag is the length of input", () => {
    expectDefault(bags, "longest_bag", 6, 5);
  });
});

describe("tf", () => {
  it("gather: axis is batch_dims", () => {
    const batched: Gather = { op: "tf.gather", inputs: [f32(4, 4, 4), i64(4, 4)], attrs: { batch_dims: 1 } };
    expectDefault(batched, "axis", 1, 2);
    expectDefault(rows("tf.gather"), "axis", 0, 1);
  });
  it("gather: batch_dims is 0", () => {
    expectDefault({ ...square("tf.gather"), attrs: { axis: 1 } }, "batch_dims", 0, 1);
  });
  it("gather_nd: batch_dims is 0", () => {
    expectDefault(tuples("tf.gather_nd"), "batch_dims", 0, 1);
  });
});

describe("numpy", () => {
  it("take: without axis the array counts as flat", () => {
    expect(meaning(rows("numpy.take"), {})).toMatchObject({ output: [4] });
    expect(numpy.take({ a: f32(4, 4), indices: i64(2, 3) }).operands.at(-1)?.type.shape).toEqual([2, 3]);
  });
  it("take: mode is raise", () => {
    expectDefault({ ...rows("numpy.take"), attrs: { axis: 0 } }, "mode", "raise", "clip");
  });
  it("take_along_axis: axis is -1", () => {
    expectDefault(square("numpy.take_along_axis"), "axis", -1, 0);
  });
  it("index: subscript is i0", () => {
    expectDefault({ op: "numpy.index", inputs: [f32(4, 4), i64(3)] }, "subscript", "i0", ":, i0");
  });
});

describe("jax", () => {
  it("take: without axis the array counts as flat", () => {
    expect(meaning(rows("jax.take"), {})).toMatchObject({ output: [4] });
  });
  it("take: mode is fill", () => {
    expectDefault({ ...rows("jax.take"), attrs: { axis: 0 } }, "mode", "fill", "clip");
  });
  it("take: fill_value is that of the type", () => {
    const bytes: Gather = { op: "jax.take", inputs: [["i8", [4]], i64(2)] };
    expectDefault(bytes, "fill_value", -128, 0);
  });
  it("take_along_axis: axis is -1", () => {
    expectDefault(square("jax.take_along_axis"), "axis", -1, 0);
    const { operands } = jax.takeAlongAxis({ arr: f32(2, 3), indices: i64(2, 1) });
    expect(operands.at(-1)?.type.shape).toEqual([2, 1]);
  });
  it("take_along_axis: mode is fill", () => {
    expectDefault(square("jax.take_along_axis"), "mode", "fill", "clip");
  });
  it("take_along_axis: fill_value is that of the type", () => {
    const bytes: Gather = { op: "jax.take_along_axis", inputs: [["u8", [4]], i64(2)] };
    expectDefault(bytes, "fill_value", 255, 0);
  });
});

/** The policy where the page says what an index out of range is, or leaves it open. */
describe("the policy for an index out of range", () => {
  const gathers = opDefs.filter(({ writes }) => writes === undefined);
  const scatters = opDefs.filter(({ writes }) => writes !== undefined);

  it("of a scatter is skip for directml, stablehlo and a slot of a cache, and error for every other that names none itself", () => {
    for (const { name, attrs } of scatters) {
      if (attrs["oob"] === undefined) continue;
      const skips = /^(?:directml|stablehlo)\./.test(name) || name === "pypto.scatter_update";
      expect(attrs["oob"].default, name).toBe(skips ? "skip" : "error");
    }
  });

  it("is clamp for directml and stablehlo, and error for every other dialect that names none itself", () => {
    const fallback = Object.fromEntries(
      gathers.flatMap(({ name, attrs }) =>
        "oob" in attrs && attrs["oob"] !== undefined ? [[name, attrs["oob"].default]] : [],
      ),
    );
    const clamped = Object.keys(fallback).filter((name) => /^(?:directml|stablehlo)\./.test(name));
    expect(new Set(clamped.map((name) => fallback[name]))).toEqual(new Set(["clamp"]));
    for (const name of Object.keys(fallback))
      if (!clamped.includes(name)) expect(fallback[name], name).toBe("error");
  });
});
