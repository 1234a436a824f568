/** Masks of ONNX models: Compress and NonZero of what the model fixes are gathers by positions, beside plain loops. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compile, program, run } from "../../src/index.js";
import { findGathers, readModel, readNodeTest, surveyModel } from "../../src/formats/onnx/index.js";
import { checkCase } from "../../src/testing/check-case.js";
import {
  bytes,
  info,
  initializer,
  input,
  intAttribute,
  intsAttribute,
  model,
  node,
  onnxTypes,
  raw,
  tensor,
} from "../support/onnx-bytes.js";

const count = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);
const rawBytes = (values: Iterable<number>) => bytes(9, values);
const mask = (name: string, shape: readonly number[], values: readonly number[]) =>
  initializer("bool", shape, rawBytes(values), name);
const extents = (least: number, most: number) =>
  fc.array(fc.integer({ min: 0, max: 6 }), { minLength: least, maxLength: most });
const truths = (length: number) =>
  fc.array(fc.integer({ min: 0, max: 1 }), { minLength: length, maxLength: length });

/** Runs the only gather of a model on data that counts from 0. */
async function runGather(graph: readonly number[], shape: readonly number[], opset = 17) {
  const [gather, ...others] = findGathers(readModel(model(graph, opset), "m.onnx"));
  if (gather?.ok !== true || others.length > 0) throw new Error(JSON.stringify(gather));
  const { indices } = gather;
  if (indices === undefined) throw new Error("its positions are not known");
  const func = program(gather.program);
  const kernel = compile(func);
  const data = Int32Array.from({ length: count(shape) }, (_, k) => k);
  const positions = new BigInt64Array(new Uint8Array(indices.bytes).buffer);
  const [reference, sim] = await Promise.all(
    (["reference", "sim"] as const).map(async (backend) => {
      const { outputs } = await run(kernel, { data, indices: positions }, { backend });
      return [...(outputs.output as Int32Array)];
    }),
  );
  expect(sim).toEqual(reference);
  return { shape: func.operands.at(-1)?.type.shape, values: reference };
}

/** numpy.compress: what stands where the condition holds, in front of the extent. */
function compressed(shape: readonly number[], condition: readonly number[], axis: number | undefined) {
  const [own, along] = axis === undefined ? [[count(shape)], 0] : [shape, axis];
  const [outer, inner] = [count(own.slice(0, along)), count(own.slice(along + 1))];
  const extent = own[along] ?? 0;
  const kept = [...condition.keys()].filter((k) => condition[k] === 1 && k < extent);
  const values: number[] = [];
  for (let o = 0; o < outer; o++)
    for (const k of kept) for (let i = 0; i < inner; i++) values.push((o * extent + k) * inner + i);
  return { shape: own.map((dim, k) => (k === along ? kept.length : dim)), values };
}

describe("Compress", () => {
  it("of a constant condition, however long, is a gather along its axis or of the flat data", async () => {
    const cases = extents(1, 3).chain((shape) =>
      fc.record({
        shape: fc.constant(shape),
        axis: fc.option(fc.integer({ min: -shape.length, max: shape.length - 1 }), { nil: undefined }),
        condition: fc.integer({ min: 0, max: 240 }).chain(truths),
        opset: fc.constantFrom(9, 11, 17, 21),
      }),
    );
    let kept = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ shape, axis, condition, opset }) => {
        const graph = [
          ...node("Compress", ["x", "c"], ["y"], axis === undefined ? [] : intAttribute("axis", axis)),
          ...input("x", onnxTypes.i32, shape),
          ...mask("c", [condition.length], condition),
        ];
        const place = axis === undefined || axis >= 0 ? axis : axis + shape.length;
        const expected = compressed(shape, condition, place);
        kept += expected.values.length;
        expect(await runGather(graph, shape, opset)).toEqual(expected);
      }),
      { numRuns: 40, seed: 2 },
    );
    expect(kept).toBeGreaterThan(100);
  });

  it("of a condition of run time is one refused row, with the way out", () => {
    const graph = [
      ...node("Compress", ["x", "c"], ["y"], intAttribute("axis", 0)),
      ...input("x", onnxTypes.f32, [4, 2]),
      ...input("c", onnxTypes.bool, [4]),
    ];
    const { nodes } = surveyModel(readModel(model(graph), "m.onnx"));
    expect(nodes).toMatchObject([{ ok: false, compiled: false, diagnostic: { code: "TC014" } }]);
    const [{ diagnostic } = {}] = nodes as readonly { diagnostic?: { message: string; hint?: string } }[];
    expect(diagnostic?.message).toContain("the shape of its output depends on the values of its condition");
    expect(diagnostic?.hint).toContain("flatnonzero");
  });

  it("of the flat data is compiled in models that are older than GatherND", async () => {
    const graph = [
      ...node("Compress", ["x", "c"], ["y"]),
      ...input("x", onnxTypes.i32, [2, 2]),
      ...mask("c", [5], [0, 1, 1, 0, 1]),
    ];
    expect(await runGather(graph, [2, 2], 9)).toEqual({ shape: [2], values: [1, 2] });
  });

  it("follows a condition that nodes compute of constants", async () => {
    const graph = [
      ...node("Greater", ["k", "two"], ["c"]),
      ...node("Compress", ["x", "c"], ["y"], intAttribute("axis", 1)),
      ...input("x", onnxTypes.i32, [2, 3]),
      ...initializer("i64", [3], raw([5, 1, 3]), "k"),
      ...initializer("i64", [], raw([2]), "two"),
    ];
    expect(await runGather(graph, [2, 3])).toEqual({ shape: [2, 2], values: [0, 2, 3, 5] });
  });

  it("asks for the extents that it needs, and takes them", () => {
    const graph = [
      ...node("Compress", ["x", "c"], ["y"], intAttribute("axis", 1)),
      ...input("x", onnxTypes.f32, ["batch", 3]),
      ...mask("c", [3], [0, 1, 1]),
    ];
    const read = readModel(model(graph), "m.onnx");
    const [alone] = findGathers(read);
    expect(alone).toMatchObject({
      ok: false,
      diagnostic: { message: expect.stringContaining('"batch"') as string },
    });
    expect(findGathers(read, { bind: { batch: 2 } })).toMatchObject([
      {
        ok: true,
        node: { op: "Compress" },
        program: { op: "onnx.gather", indices: { dtype: "i64", shape: [2] } },
      },
    ]);
    expect(findGathers(read, { most: { batch: 8 } })).toMatchObject([{ ok: false, open: { func: {} } }]);
  });

  it("folds with the views around it", () => {
    const graph = [
      ...node("Transpose", ["x"], ["t"], intsAttribute("perm", [1, 0])),
      ...node("Compress", ["t", "c"], ["y"], intAttribute("axis", 0)),
      ...input("x", onnxTypes.f32, [2, 3]),
      ...mask("c", [3], [0, 1, 1]),
    ];
    const [gather] = findGathers(readModel(model(graph), "m.onnx"));
    if (gather?.ok !== true) throw new Error("no gather");
    expect(gather.folded?.nodes.map(({ op }) => op)).toEqual(["Transpose", "Compress"]);
    expect(gather.folded?.reads).toEqual({ data: "x", indices: "c" });
    expect(Object.keys(gather.folded?.inputs ?? {})).toEqual(["indices"]);
  });

  it("of a backend test takes its condition from the data set", async () => {
    const i32s = (values: readonly number[], shape: readonly number[], name: string) =>
      Uint8Array.from(tensor("i32", shape, rawBytes(new Uint8Array(Int32Array.from(values).buffer)), name));
    const graph = [
      ...node("Compress", ["x", "c"], ["y"], intAttribute("axis", 0)),
      ...input("x", onnxTypes.i32, [3, 2]),
      ...input("c", onnxTypes.bool, [3]),
      ...bytes(12, info("y", onnxTypes.i32, ["n", 2])),
    ];
    const [test] = readNodeTest(
      "compress",
      new Map([
        ["model.onnx", model(graph)],
        ["test_data_set_0/input_0.pb", i32s([1, 2, 3, 4, 5, 6], [3, 2], "x")],
        ["test_data_set_0/input_1.pb", Uint8Array.from(tensor("bool", [3], rawBytes([0, 1, 1]), "c"))],
        ["test_data_set_0/output_0.pb", i32s([3, 4, 5, 6], [2, 2], "y")],
      ]),
    );
    if (test === undefined) throw new Error("no case");
    const results = await checkCase(test, ["reference", "sim"], {});
    expect(results.map(({ status }) => status)).toEqual(["pass", "pass"]);
  });
});

describe("NonZero", () => {
  it("of a constant, turned about, gives the tuples of a GatherND: x[mask]", async () => {
    const cases = extents(1, 3).chain((front) =>
      fc.record({
        front: fc.constant(front),
        rest: extents(0, 1),
        values: truths(count(front)),
        dtype: fc.constantFrom("bool" as const, "i64" as const),
      }),
    );
    let largest = 0;
    await fc.assert(
      fc.asyncProperty(cases, async ({ front, rest, values, dtype }) => {
        const shape = [...front, ...rest];
        const graph = [
          ...node("NonZero", ["m"], ["n"]),
          ...node("Transpose", ["n"], ["t"], intsAttribute("perm", [1, 0])),
          ...node("GatherND", ["x", "t"], ["y"]),
          ...input("x", onnxTypes.i32, shape),
          ...(dtype === "bool" ? mask("m", front, values) : initializer("i64", front, raw(values), "m")),
        ];
        const row = count(rest);
        const kept = [...values.keys()].filter((k) => values[k] === 1);
        largest = Math.max(largest, kept.length * front.length);
        expect(await runGather(graph, shape)).toEqual({
          shape: [kept.length, ...rest],
          values: kept.flatMap((k) => Array.from({ length: row }, (_, i) => k * row + i)),
        });
      }),
      { numRuns: 40, seed: 2 },
    );
    // More than inference follows element by element.
    expect(largest).toBeGreaterThan(64);
  });

  it("of a constant of one dim, squeezed, gives the indices of a Gather", async () => {
    const values = Array.from({ length: 90 }, (_, k) => k % 2);
    const graph = [
      ...node("NonZero", ["m"], ["n"]),
      ...node("Squeeze", ["n", "zero"], ["s"]),
      ...node("Gather", ["x", "s"], ["y"]),
      ...input("x", onnxTypes.i32, [90]),
      ...mask("m", [90], values),
      ...initializer("i64", [1], raw([0]), "zero"),
    ];
    const expected = values.flatMap((value, k) => (value === 1 ? [k] : []));
    expect(await runGather(graph, [90])).toEqual({ shape: [45], values: expected });
  });

  it("of a value of run time leaves the gather open", () => {
    const graph = [
      ...node("NonZero", ["m"], ["n"]),
      ...node("Transpose", ["n"], ["t"], intsAttribute("perm", [1, 0])),
      ...node("GatherND", ["x", "t"], ["y"]),
      ...input("x", onnxTypes.f32, [4, 4]),
      ...input("m", onnxTypes.bool, [4, 4]),
    ];
    const [gather] = findGathers(readModel(model(graph), "m.onnx"));
    const message = expect.stringContaining('indices "t" has shape [?, 2]') as string;
    expect(gather).toMatchObject({ ok: false, diagnostic: { message } });
  });
});
