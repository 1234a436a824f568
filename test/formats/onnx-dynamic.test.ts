/** Gathers whose outermost dims a model leaves open, as programs over symbols. */
import { describe, expect, it } from "vitest";
import { bindSizes, elementCount, parseModule, printFunc, targets } from "../../ir/index.js";
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
  text,
} from "../support/onnx-bytes.js";
import { testRunner } from "../support/gpu.js";
import { loadModule } from "../support/modules.js";

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
    ["no extent", { batch: -1 }, 'the maximum of "batch" is -1; it must be 1 or more'],
    ["no element", { batch: 0 }, 'the maximum of "batch" is 0; it must be 1 or more'],
  ])("is given %s", (_, most, message) => {
    expect(() => gathers(embedding, most)).toThrow(message);
  });

  it("is given a dim that is bound too", () => {
    const both = { most: { batch: 4 }, bind: { batch: 3 } };
    expect(() => findGathers(readModel(model([...embedding, ...y]), "m.onnx"), both)).toThrow(
      'dim "batch" is both bound to 3 and dynamic',
    );
  });
});

describe("a dequantizing gather whose outermost dims stay open", () => {
  /** Rows of 32 elements of 4 bits in blocks of 16, with or without zero points. */
  const quantized = (rows: number | string, ids: readonly (number | string)[], zeroPoints: boolean) => [
    ...input("table", onnxTypes.u8, [rows, 16]),
    ...input("ids", onnxTypes.i32, ids),
    ...input("scales", onnxTypes.f32, [rows, 2]),
    ...(zeroPoints ? input("zeros", onnxTypes.u8, [rows, 1]) : []),
    ...node(
      "GatherBlockQuantized",
      ["table", "ids", "scales", ...(zeroPoints ? ["zeros"] : [])],
      ["y"],
      [
        ...named("pick"),
        ...intAttribute("bits", 4),
        ...intAttribute("block_size", 16),
        ...intAttribute("quantize_axis", 1),
        ...text(7, "com.microsoft"),
      ],
    ),
  ];

  it.for([
    { rows: 9, ids: ["batch", 3], zeroPoints: false, sizes: [{ BATCH: 1 }, { BATCH: 3 }, { BATCH: 4 }] },
    { rows: 9, ids: ["batch", 3], zeroPoints: true, sizes: [{ BATCH: 2 }, { BATCH: 4 }] },
    { rows: "rows", ids: [5], zeroPoints: true, sizes: [{ ROWS: 4 }, { ROWS: 9 }] },
    {
      rows: "rows",
      ids: ["batch"],
      zeroPoints: false,
      sizes: [
        { ROWS: 5, BATCH: 7 },
        { ROWS: 9, BATCH: 1 },
      ],
    },
  ] as const)(
    "gives the rows at every size: $rows by $ids, zero points $zeroPoints",
    async (shape, context) => {
      const { rows, ids, zeroPoints, sizes } = shape;
      const { func } = opened(quantized(rows, ids, zeroPoints), {
        ...(rows === "rows" ? { rows: 9 } : {}),
        ...(ids[0] === "batch" ? { batch: 7 } : {}),
      });
      const kernel = compile(func, { target: targets.webgpu });
      const modules = await Promise.all(
        (["module", "module-cpu"] as const).map((kind) => loadModule(kernel, kind)),
      );
      const runner = await testRunner();
      if (runner === undefined) context.skip();
      const [onGpu, onCpu] = await Promise.all(modules.map((made) => made.create(runner!.device)));
      for (const own of sizes as readonly Readonly<Record<string, number>>[]) {
        const bound = kernel.bind(own);
        const extents = bound.tile.operands.map(({ type }) => type.shape);
        const count = extents[0]![0]!;
        const byte = (k: number): number => (k * 89 + 17) % 256;
        const inputs: Record<string, Uint8Array | Int32Array | Float32Array> = {
          data: Uint8Array.from({ length: count * 16 }, (_, k) => byte(k)),
          indices: Int32Array.from(
            { length: elementCount(extents[1]!) },
            (_, k) => ((5 * k + 3) % (2 * count)) - count,
          ),
          scales: Float32Array.from({ length: count * 2 }, (_, k) => 0.25 * k - 1),
          ...(zeroPoints ? { zero_points: Uint8Array.from({ length: count }, (_, k) => byte(k + 5)) } : {}),
        };
        const nibble = (list: Uint8Array, place: number): number =>
          (list[place >> 1]! >> (4 * (place & 1))) & 15;
        const expected = [...(inputs["indices"] as Int32Array)].flatMap((id) => {
          const row = id < 0 ? id + count : id;
          return Array.from({ length: 32 }, (_, column) => {
            const block = column >> 4;
            const zero = zeroPoints ? nibble(inputs["zero_points"] as Uint8Array, 2 * row + block) : 8;
            const element = nibble(inputs["data"] as Uint8Array, 32 * row + column);
            return Math.fround((element - zero) * (inputs["scales"] as Float32Array)[2 * row + block]!);
          });
        });
        const list = (output: unknown): number[] => [...(output as Float32Array)];
        for (const backend of ["reference", "sim", "webgpu"] as const)
          expect(
            list((await run(bound, inputs, { backend, runner: runner! })).outputs.output),
            backend,
          ).toEqual(expected);
        for (const made of [onGpu!, onCpu!])
          expect(list((await made.run(inputs, own)).outputs["output"])).toEqual(expected);
      }
    },
  );

  it("says which dim to bind where the open one is not outermost", () => {
    const [gather] = gathers(quantized(9, [2, "batch"], false), { batch: 7 });
    expect(gather).toMatchObject({
      ok: false,
      verdict: "open",
      diagnostic: {
        code: "TC014",
        message: expect.stringContaining(
          'indices "ids" has shape [2, batch]: dim 1 ("batch") has no fixed extent',
        ),
        hint: "--bind batch=7 in place of --most: only an outermost dim stays open, of the output too",
      },
    });
    const along = [
      ...input("table", onnxTypes.f32, [4, 9]),
      ...input("ids", onnxTypes.i32, ["batch"]),
      ...node("Gather", ["table", "ids"], ["y"], [...named("pick"), ...intAttribute("axis", 1)]),
    ];
    const [columns] = gathers(along, { batch: 7 });
    expect(columns).toMatchObject({
      diagnostic: {
        hint: expect.stringContaining("--bind batch=7"),
      },
    });
  });
});
