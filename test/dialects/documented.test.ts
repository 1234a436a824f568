/** The examples of each framework's documentation give its documented values. */
import { describe, expect, it } from "vitest";
import {
  CompileError,
  inputsOf,
  keyOf,
  outputOf,
  resolveSource,
  sourceOp,
  type DType,
  type SourceFunc,
} from "../../ir/index.js";
import { compile, jax, numpy, run, targets, tf, torch } from "../../src/index.js";

type Nested = number | string | readonly Nested[];

const flat = (values: Nested): readonly (number | string)[] =>
  typeof values === "object" ? values.flatMap(flat) : [values];
const shapeOf = (values: Nested): number[] =>
  typeof values === "object" ? [values.length, ...shapeOf(values[0] ?? 0)] : [];

const f32 = (values: Nested) => ["f32", shapeOf(values)] as const;
const text = (values: Nested) => ["string", shapeOf(values)] as const;
const i64 = (values: Nested) => ["i64", shapeOf(values)] as const;

/** The output's shape and values, on the definition and the simulator alike. */
async function given(func: SourceFunc, ...inputs: readonly Nested[]): Promise<unknown> {
  const kernel = compile(func, { target: targets.webgpu });
  const operands = inputsOf(func);
  const data = Object.fromEntries(
    operands.map((operand, k) => {
      const values = flat(inputs[k] ?? []);
      const held =
        operand.type.dtype === "string"
          ? values.map(String)
          : operand.type.dtype === "f32"
            ? Float32Array.from(values.map(Number))
            : BigInt64Array.from(values.map((value) => BigInt(value)));
      return [keyOf(operand), held];
    }),
  );
  const found: unknown[] = [];
  for (const backend of ["reference", "sim"] as const) {
    const { outputs } = await run(kernel, data, { backend });
    found.push(nested([...(outputs.output as Iterable<number | string>)], outputOf(func).type.shape));
  }
  expect(found[1]).toEqual(found[0]);
  return found[0];
}

function nested(values: readonly (number | string)[], shape: readonly number[]): unknown {
  const [extent, ...rest] = shape;
  if (extent === undefined) return values[0];
  const size = rest.reduce((product, n) => product * n, 1);
  return Array.from({ length: extent }, (_, k) => nested(values.slice(k * size, (k + 1) * size), rest));
}

const rounded = (values: Nested): unknown =>
  nested(Array.from(Float32Array.from(flat(values).map(Number))), shapeOf(values));

describe("torch", () => {
  it("gather", async () => {
    const [t, index] = [
      [
        [1, 2],
        [3, 4],
      ],
      [
        [0, 0],
        [1, 0],
      ],
    ];
    expect(await given(torch.gather({ input: f32(t), dim: 1, index: i64(index) }), t, index)).toEqual([
      [1, 1],
      [4, 3],
    ]);
  });

  const x = [
    [0.1427, 0.0231, -0.5414, -1.0009],
    [-0.4664, 0.2647, -0.1228, -1.1068],
    [-1.1734, -0.6571, 0.723, -0.6004],
  ];

  it("index_select", async () => {
    const index = [0, 2];
    expect(await given(torch.indexSelect({ input: f32(x), dim: 0, index: i64(index) }), x, index)).toEqual(
      rounded([x[0]!, x[2]!]),
    );
    expect(await given(torch.indexSelect({ input: f32(x), dim: 1, index: i64(index) }), x, index)).toEqual(
      rounded([
        [0.1427, -0.5414],
        [-0.4664, -0.1228],
        [-1.1734, 0.723],
      ]),
    );
  });

  it("take_along_dim", async () => {
    const [t, sorted] = [
      [
        [10, 30, 20],
        [60, 40, 50],
      ],
      [
        [0, 2, 1],
        [1, 2, 0],
      ],
    ];
    expect(
      await given(torch.takeAlongDim({ input: f32(t), indices: i64(sorted), dim: 1 }), t, sorted),
    ).toEqual([
      [10, 20, 30],
      [40, 50, 60],
    ]);
    // Without a dim both tensors count as flat: the index is torch.argmax(t), a scalar.
    expect(await given(torch.takeAlongDim({ input: f32(t), indices: i64(3) }), t, 3)).toEqual([60]);
    const square = [
      [5, 0],
      [1, 4],
    ];
    expect(await given(torch.takeAlongDim({ input: f32(t), indices: i64(square) }), t, square)).toEqual([
      50, 10, 30, 40,
    ]);
  });

  // The page of nn.EmbeddingBag, from_pretrained, which prints four digits.
  it("embedding_bag", async () => {
    const [weight, input] = [
      [
        [1, 2.3, 3],
        [4, 5.1, 6.3],
      ],
      [[1, 0]],
    ];
    const found = await given(torch.embeddingBag({ weight: f32(weight), input: i64(input) }), weight, input);
    expect(flat(found as Nested).map((value) => Number(value).toFixed(4))).toEqual([
      "2.5000",
      "3.7000",
      "4.6500",
    ]);
  });

  it("embedding, whose padding row is read like any other", async () => {
    const weight = Array.from({ length: 10 }, (_, k) => (k === 0 ? [0, 0, 0] : [k, k + 0.5, k + 0.25]));
    const input = [[0, 2, 0, 5]];
    const func = torch.embedding({ weight: f32(weight), input: i64(input), paddingIdx: 0 });
    expect(await given(func, weight, input)).toEqual([[[0, 0, 0], weight[2], [0, 0, 0], weight[5]]]);
    const trained = weight.map((row, k) => (k === 0 ? [7, 8, 9] : row));
    expect(await given(func, trained, input)).toEqual([[[7, 8, 9], weight[2], [7, 8, 9], weight[5]]]);
  });
});

describe("tf", () => {
  const words = ["p0", "p1", "p2", "p3", "p4", "p5"];
  const params = [
    [0, 1, 2],
    [10, 11, 12],
    [20, 21, 22],
    [30, 31, 32],
  ];

  it("gather", async () => {
    expect(await given(tf.gather({ params: text(words), indices: i64(3) }), words, 3)).toBe("p3");
    const rows = [2, 0, 2, 5];
    expect(await given(tf.gather({ params: text(words), indices: i64(rows) }), words, rows)).toEqual([
      "p2",
      "p0",
      "p2",
      "p5",
    ]);
    const matrix = [
      [2, 0],
      [2, 5],
    ];
    expect(await given(tf.gather({ params: text(words), indices: i64(matrix) }), words, matrix)).toEqual([
      ["p2", "p0"],
      ["p2", "p5"],
    ]);
    expect(await given(tf.gather({ params: f32(params), indices: i64([3, 1]) }), params, [3, 1])).toEqual([
      params[3],
      params[1],
    ]);
    expect(
      await given(tf.gather({ params: f32(params), indices: i64([2, 1]), axis: 1 }), params, [2, 1]),
    ).toEqual([
      [2, 1],
      [12, 11],
      [22, 21],
      [32, 31],
    ]);
  });

  it("gather with batch dims", async () => {
    const [p, indices] = [
      [
        [0, 0, 1, 0, 2],
        [3, 0, 0, 0, 4],
        [0, 5, 0, 6, 0],
      ],
      [
        [2, 4],
        [0, 4],
        [1, 3],
      ],
    ];
    const func = tf.gather({ params: f32(p), indices: i64(indices), axis: 1, batchDims: 1 });
    expect(await given(func, p, indices)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    const first = tf.gather({ params: f32(p), indices: i64(indices), batchDims: 1 });
    expect(await given(first, p, indices)).toEqual(await given(func, p, indices));
  });

  it("gather_nd, with batch dims too", async () => {
    const p = [
      ["a", "b"],
      ["c", "d"],
    ];
    const nd = (params: Nested, indices: Nested, batchDims = 0) =>
      given(tf.gatherNd({ params: text(params), indices: i64(indices), batchDims }), params, indices);
    expect(
      await nd(p, [
        [0, 0],
        [1, 1],
      ]),
    ).toEqual(["a", "d"]);
    expect(await nd(p, [[1], [0]])).toEqual([
      ["c", "d"],
      ["a", "b"],
    ]);
    const batched = [
      [
        ["a0", "b0"],
        ["c0", "d0"],
      ],
      [
        ["a1", "b1"],
        ["c1", "d1"],
      ],
    ];
    expect(await nd(batched, [[1], [0]], 1)).toEqual([
      ["c0", "d0"],
      ["a1", "b1"],
    ]);
    expect(await nd(batched, [[[1]], [[0]]], 1)).toEqual([[["c0", "d0"]], [["a1", "b1"]]]);
  });
});

describe("numpy", () => {
  it("take", async () => {
    const a = [4, 3, 5, 7, 6, 8];
    expect(await given(numpy.take({ a: f32(a), indices: i64([0, 1, 4]) }), a, [0, 1, 4])).toEqual([4, 3, 6]);
    const matrix = [
      [0, 1],
      [2, 3],
    ];
    expect(await given(numpy.take({ a: f32(a), indices: i64(matrix) }), a, matrix)).toEqual([
      [4, 3],
      [5, 7],
    ]);
  });

  it("take without an axis counts the array as flat, in every mode", async () => {
    const a = [
      [1, 2, 3],
      [4, 5, 6],
    ];
    const taken = (indices: readonly number[], mode: "raise" | "wrap" | "clip") =>
      given(numpy.take({ a: f32(a), indices: i64(indices), mode }), a, indices);
    expect(await taken([0, 4, -1], "raise")).toEqual([1, 5, 6]);
    expect(await taken([7, -2], "wrap")).toEqual([2, 5]);
    expect(await taken([7, -2], "clip")).toEqual([6, 1]);
  });

  it("take_along_axis", async () => {
    const a = [
      [10, 30, 20],
      [60, 40, 50],
    ];
    const along = (indices: readonly (readonly number[])[]) =>
      given(numpy.takeAlongAxis({ arr: f32(a), indices: i64(indices), axis: 1 }), a, indices);
    expect(
      await along([
        [0, 2, 1],
        [1, 2, 0],
      ]),
    ).toEqual([
      [10, 20, 30],
      [40, 50, 60],
    ]);
    expect(await along([[1], [0]])).toEqual([[30], [60]]);
    // Indices of one row are broadcast over the rows of arr.
    expect(await along([[0, -1]])).toEqual([
      [10, 20],
      [60, 50],
    ]);
  });

  const x = [10, 9, 8, 7, 6, 5, 4, 3, 2];
  const y = Array.from({ length: 5 }, (_, r) => Array.from({ length: 7 }, (_, c) => 7 * r + c));

  it("index arrays", async () => {
    const at = (indices: Nested) => given(numpy.index({ x: f32(x), key: [i64(indices)] }), x, indices);
    expect(await at([3, 3, 1, 8])).toEqual([7, 7, 9, 2]);
    expect(await at([3, 3, -3, 8])).toEqual([7, 7, 4, 2]);
    expect(
      await at([
        [1, 1],
        [2, 3],
      ]),
    ).toEqual([
      [9, 9],
      [8, 7],
    ]);
  });

  it("multi-dimensional index arrays", async () => {
    const rows = [0, 2, 4];
    expect(
      await given(numpy.index({ x: f32(y), key: [i64(rows), i64([0, 1, 2])] }), y, rows, [0, 1, 2]),
    ).toEqual([0, 15, 30]);
    expect(await given(numpy.index({ x: f32(y), key: [i64(rows), 1] }), y, rows)).toEqual([1, 15, 29]);
    expect(await given(numpy.index({ x: f32(y), key: [i64(rows)] }), y, rows)).toEqual([y[0], y[2], y[4]]);
    const pairs = [
      [1, 2],
      [3, 4],
      [5, 6],
    ];
    const picked = numpy.index({ x: f32(pairs), key: [i64([0, 1, 2]), i64([0, 1, 0])] });
    expect(await given(picked, pairs, [0, 1, 2], [0, 1, 0])).toEqual([1, 4, 5]);
  });

  it("corners by broadcasting", async () => {
    const grid = [
      [0, 1, 2],
      [3, 4, 5],
      [6, 7, 8],
      [9, 10, 11],
    ];
    const [rows, columns] = [
      [[0], [3]],
      [0, 2],
    ];
    const func = numpy.index({ x: f32(grid), key: [i64(rows), i64(columns)] });
    expect(await given(func, grid, rows, columns)).toEqual([
      [0, 2],
      [9, 11],
    ]);
  });

  it("arrays combined with slices", async () => {
    const rows = [0, 2, 4];
    expect(await given(numpy.index({ x: f32(y), key: [i64(rows), "1:3"] }), y, rows)).toEqual([
      [1, 2],
      [15, 16],
      [29, 30],
    ]);
    const grid = [
      [0, 1, 2],
      [3, 4, 5],
      [6, 7, 8],
      [9, 10, 11],
    ];
    expect(await given(numpy.index({ x: f32(grid), key: ["1:2", i64([1, 2])] }), grid, [1, 2])).toEqual([
      [4, 5],
    ]);
  });

  it("puts the dims that the arrays share in their place, or in front where something is between them", () => {
    const x = ["f32", [10, 20, 30, 40, 50]] as const;
    const [one, two] = [
      ["i64", [2, 3, 4]],
      ["i64", [2, 3, 4]],
    ] as const;
    const shape = (...key: Parameters<typeof numpy.index>[0]["key"]) =>
      outputOf(numpy.index({ x, key })).type.shape;
    expect(shape(":", one, two)).toEqual([10, 2, 3, 4, 40, 50]);
    expect(shape(":", one, ":", two)).toEqual([2, 3, 4, 10, 30, 50]);
    expect(outputOf(numpy.index({ x: ["f32", [10, 20, 30]], key: ["...", one, ":"] })).type.shape).toEqual([
      10, 2, 3, 4, 30,
    ]);
  });
});

describe("jax", () => {
  const x = [
    [1, 2, 3],
    [4, 5, 6],
  ];
  const indices = [2, 0];

  it("take", async () => {
    expect(await given(jax.take({ a: f32(x), indices: i64(indices) }), x, indices)).toEqual([3, 1]);
    expect(await given(jax.take({ a: f32(x), indices: i64(indices), axis: 1 }), x, indices)).toEqual([
      [3, 1],
      [6, 4],
    ]);
  });

  it("take of an index out of range", async () => {
    expect(await given(jax.take({ a: f32(x), indices: i64(indices), axis: 0 }), x, indices)).toEqual([
      [NaN, NaN, NaN],
      [1, 2, 3],
    ]);
    const clipped = jax.take({ a: f32(x), indices: i64(indices), axis: 0, mode: "clip" });
    expect(await given(clipped, x, indices)).toEqual([
      [4, 5, 6],
      [1, 2, 3],
    ]);
  });

  it("take and take_along_axis with a fill_value", async () => {
    const filled = jax.take({ a: f32(x), indices: i64(indices), axis: 0, fillValue: -7 });
    expect(await given(filled, x, indices)).toEqual([
      [-7, -7, -7],
      [1, 2, 3],
    ]);
    const zero = jax.takeAlongAxis({ arr: f32(x), indices: i64([[1, 0, 2]]), axis: 0, fillValue: 0 });
    expect(await given(zero, x, [[1, 0, 2]])).toEqual([[4, 2, 0]]);
  });

  it("fill_value has the bits of its type, and is refused where the type does not hold it", () => {
    const taken = (dtype: DType, fillValue: number, mode: "fill" | "clip" = "fill") => {
      const result = resolveSource(
        sourceOp(jax.take({ a: [dtype, [4]], indices: ["i64", [2]], axis: 0, fillValue, mode })),
      );
      if (!result.ok) throw new CompileError(result.diagnostics);
      const { operator } = result.resolved;
      return operator.op === "mapped" ? Number(operator.map.fill) : 0;
    };
    const floats = new DataView(new ArrayBuffer(8));
    floats.setFloat32(0, -1234);
    expect(taken("f32", -1234)).toBe(floats.getUint32(0));
    expect(taken("c64", -1234)).toBe(floats.getUint32(0));
    floats.setFloat64(0, 3);
    expect(taken("f64", 3)).toBe(Number(floats.getBigUint64(0)));
    expect([taken("f16", 1), taken("f16", -2), taken("bf16", 1), taken("bf16", 65536)]).toEqual([
      0x3c00, 0xc000, 0x3f80, 0x4780,
    ]);
    expect([taken("i8", -1), taken("u16", 65535), taken("bool", 1), taken("i32", 0)]).toEqual([
      0xff, 0xffff, 1, 0,
    ]);
    for (const [dtype, value] of [
      ["f16", 2049],
      ["f16", 65536],
      ["u8", -1],
      ["i8", 128],
      ["bool", 2],
    ] as const)
      expect(() => taken(dtype, value)).toThrow(`fills with ${value}, which ${dtype} does not hold exactly`);
    expect(() => taken("f32", 1, "clip")).toThrow("uses fill_value in mode fill only");
  });

  it("take_along_axis", async () => {
    const along = (at: readonly (readonly number[])[], axis: number) =>
      given(jax.takeAlongAxis({ arr: f32(x), indices: i64(at), axis }), x, at);
    expect(
      await along(
        [
          [0, 2],
          [1, 0],
        ],
        1,
      ),
    ).toEqual([
      [1, 3],
      [5, 4],
    ]);
    expect(await along([[1, 0, 2]], 0)).toEqual([[4, 2, NaN]]);
    const last = jax.takeAlongAxis({ arr: f32(x), indices: i64([[2], [0]]) });
    expect(await given(last, x, [[2], [0]])).toEqual([[3], [4]]);
  });

  it("counts negative indices from the end, but for take's clip and wrap", async () => {
    const taken = (mode: "fill" | "clip" | "wrap") =>
      given(jax.take({ a: f32(x), indices: i64([-1, -4]), axis: 1, mode }), x, [-1, -4]);
    expect(await taken("fill")).toEqual([
      [3, NaN],
      [6, NaN],
    ]);
    expect(await taken("clip")).toEqual([
      [1, 1],
      [4, 4],
    ]);
    expect(await taken("wrap")).toEqual([
      [3, 3],
      [6, 6],
    ]);
  });
});
