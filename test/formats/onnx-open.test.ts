/** Gathers whose outermost dims a model leaves open, as programs over symbols. */
import { describe, expect, it } from "vitest";
import { bindSizes, parseModule, printFunc, targets } from "../../ir/index.js";
import { compile, explain, run } from "../../src/index.js";
import { findGathers, readModel, type OnnxGather } from "../../src/formats/onnx/index.js";
import {
  info,
  bytes,
  initializer,
  input,
  intAttribute,
  model,
  named,
  node,
  onnxTypes,
  raw,
} from "../support/onnx-bytes.js";

const y = bytes(12, info("y", onnxTypes.f32));
const gathers = (graph: readonly number[], most: Readonly<Record<string, number>> = {}): OnnxGather[] =>
  findGathers(readModel(model([...graph, ...y]), "m.onnx"), { most });
const opened = (graph: readonly number[], most: Readonly<Record<string, number>>) => {
  const [gather] = gathers(graph, most);
  if (gather?.ok !== false || gather.open === undefined) throw new Error("a gather of open size");
  return gather.open;
};
const refused = (graph: readonly number[], most: Readonly<Record<string, number>>): string => {
  const [gather] = gathers(graph, most);
  if (gather?.ok !== false || gather.open !== undefined) throw new Error("a gather that has no program");
  return `${gather.diagnostic.code} ${gather.diagnostic.message}`;
};

const embedding = [
  ...input("table", onnxTypes.f32, [50, 8]),
  ...input("ids", onnxTypes.i64, ["batch", 4]),
  ...node("Gather", ["table", "ids"], ["y"], named("embed")),
];

describe("a gather whose outermost dims stay open", () => {
  it("is a program over symbols that prints and parses back to itself", () => {
    const { func } = opened(embedding, { batch: 64 });
    const text = printFunc(func);
    expect(text).toContain("dim BATCH <= 64\n");
    expect(text).toContain("%indices: tensor<BATCHx4xi64>) -> tensor<BATCHx4x8xf32>");
    expect(text).toContain("(d0, d1, d2) -> (from_end(%indices[d0, d1]), d2) {oob = error}");
    const { module, diagnostics } = parseModule(text, "t.tir");
    expect(diagnostics).toEqual([]);
    expect(module.funcs[0]).toMatchObject({ map: func.map, symbolic: func.symbolic });
  });

  it("has none without the most that they may be, and says so as ever", () => {
    const [gather] = gathers(embedding);
    expect(gather).toMatchObject({ ok: false, diagnostic: { code: "TC014" } });
    expect(gather).not.toHaveProperty("open");
  });

  it("bound to a size, gives what the model bound to it gives", async () => {
    const { func } = opened(embedding, { batch: 64 });
    const [bound] = findGathers(readModel(model([...embedding, ...y]), "m.onnx"), { bind: { batch: 3 } });
    if (bound?.ok !== true) throw new Error("a gather of fixed size");
    const sized = bindSizes(func, { BATCH: 3 });
    if (!sized.ok) throw new Error(sized.diagnostics[0]?.message);
    const data = Float32Array.from({ length: 400 }, (_, k) => k);
    const indices = BigInt64Array.from({ length: 12 }, (_, k) => BigInt(((17 * k) % 100) - 50));
    const expected = Array.from(indices).flatMap((id) =>
      Array.from({ length: 8 }, (_, k) => 8 * (Number(id) < 0 ? Number(id) + 50 : Number(id)) + k),
    );
    const { outputs } = await run(compile(sized.func, { target: targets.webgpu }), { data, indices });
    expect(Array.from(outputs.output as Float32Array)).toEqual(expected);
  });

  it("has a verdict with the size up to which it fits", () => {
    const table = [
      ...input("table", onnxTypes.f32, ["vocabulary", 8]),
      ...input("ids", onnxTypes.i32, [4]),
      ...node("Gather", ["table", "ids"], ["y"]),
    ];
    const { func } = opened(table, { vocabulary: 100_000 });
    const { legal, sizes } = explain(func, { target: targets.ascendA2, residency: "ub" });
    expect(legal).toBe(false);
    expect(JSON.stringify(sizes)).toContain("VOCABULARY");
  });

  it("shares a symbol between tensors that share a dim, and an index keeps its place in it", () => {
    const paired = [
      ...input("x", onnxTypes.f32, ["N", 6]),
      ...input("i", onnxTypes.i64, ["N", 2]),
      ...node("GatherElements", ["x", "i"], ["y"], intAttribute("axis", 1)),
    ];
    const { func } = opened(paired, { N: 9 });
    expect(func.symbolic?.symbols).toEqual([{ name: "N", most: 9 }]);
    expect(func.symbolic?.outermost).toEqual(["N", "N", "N"]);
  });

  it("has the operands that the model fixes", () => {
    const table = initializer("f32", [2, 3], bytes(9, new Uint8Array(24)), "table");
    const ids = input("ids", onnxTypes.i64, ["batch"]);
    const open = opened([...table, ...ids, ...node("Gather", ["table", "ids"], ["y"])], { batch: 5 });
    expect(open.data?.type.shape).toEqual([2, 3]);
    expect(open.indices).toBeUndefined();
  });

  it.each([
    ["seq len", "SEQ_LEN"],
    ["2batch", "N_2BATCH"],
    ["x", "N_X"],
  ])("calls dim %o by the symbol %s", (dim, symbol) => {
    const graph = [
      ...input("table", onnxTypes.f32, [5, 2]),
      ...input("ids", onnxTypes.i64, [dim]),
      ...node("Gather", ["table", "ids"], ["y"]),
    ];
    expect(opened(graph, { [dim]: 7 }).func.symbolic?.symbols).toEqual([{ name: symbol, most: 7 }]);
  });
});

describe("a gather that has no program over symbols", () => {
  const list = (name: string, values: readonly number[]) =>
    initializer("i64", [values.length], raw(values), name);

  it("leaves open what is not outermost", () => {
    const inner = [
      ...input("x", onnxTypes.f32, ["rows", "columns"]),
      ...list("i", [0]),
      ...node("Gather", ["x", "i"], ["y"]),
    ];
    expect(refused(inner, { rows: 4, columns: 4 })).toContain('dim 1 ("columns")');
    // The open dim of the indices comes to stand behind the data's.
    const behind = [...input("x", onnxTypes.f32, [3, 4]), ...input("i", onnxTypes.i64, ["n"])];
    const gather = node("Gather", ["x", "i"], ["y"], intAttribute("axis", 1));
    expect(refused([...behind, ...gather], { n: 4 })).toMatch(/^TC014 .*dim 0 \("n"\) has no fixed extent$/);
  });

  it("reads outside at some size", () => {
    const apart = [...input("x", onnxTypes.f32, ["A", 6]), ...input("i", onnxTypes.i64, ["B", 2])];
    const gather = node("GatherElements", ["x", "i"], ["y"], intAttribute("axis", 1));
    expect(refused([...apart, ...gather], { A: 8, B: 8 })).toMatch(/^TC204 /);
  });

  it.each<[string, Readonly<Record<string, number>>, string]>([
    ["no dim of the model", { rows: 4 }, 'no symbolic dim "rows"'],
    ["no extent", { batch: -1 }, '"batch" is at most -1, which is no extent'],
  ])("is given %s", (_, most, message) => {
    expect(() => gathers(embedding, most)).toThrow(message);
  });

  it("is given a dim that is bound too", () => {
    const both = { most: { batch: 4 }, bind: { batch: 3 } };
    expect(() => findGathers(readModel(model([...embedding, ...y]), "m.onnx"), both)).toThrow(
      'dim "batch" is bound to 3 and left open',
    );
  });
});
