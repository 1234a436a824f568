/** Shapes, and elements of small integer tensors, that inference finds before a gather: those that onnxruntime computes. */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { OnnxRuntime } from "../../bench/onnxruntime.js";
import { findGathers, readModel } from "../../src/formats/onnx/index.js";
import {
  graphAttribute,
  i64s,
  initializer,
  input,
  intAttribute,
  intsAttribute,
  model,
  node,
  onnxTypes,
  output,
  raw,
  stringAttribute,
  tensor,
  tensorAttribute,
  text,
} from "../support/onnx-bytes.js";
import { requireOnnxRuntime } from "../support/onnxruntime.js";

/** A graph that gives `y`, without its outputs. Inputs are zeros of f32; what is followed stands in initializers. */
interface Graph {
  readonly nodes: readonly number[];
  readonly inputs?: Readonly<Record<string, readonly number[]>>;
  readonly type?: "f32" | "i64" | "bool";
  readonly opset?: number;
}

const extent = (least: number, most: number) => fc.integer({ min: least, max: most });
const shape = (least: number, most: number) => fc.array(extent(1, 4), { minLength: least, maxLength: most });
const listed = (name: string, values: readonly number[]) =>
  initializer("i64", [values.length], raw(values), name);
const constants = (name: string, dims: readonly number[], values: readonly number[]) =>
  initializer("i64", dims, raw(values), name);
const graphName = text(2, "g");
const size = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);

/** A tensor of small integers, 0 among them. */
const small = shape(1, 3).chain((dims) =>
  fc
    .array(fc.integer({ min: -3, max: 5 }), { minLength: size(dims), maxLength: size(dims) })
    .map((values) => ({ dims, values })),
);

const slice: fc.Arbitrary<Graph> = small.chain(({ dims, values }) =>
  fc
    .subarray([...dims.keys()], { minLength: 1 })
    .chain((axes) =>
      fc.tuple(
        fc.constant(axes),
        fc.array(extent(-6, 6), { minLength: axes.length, maxLength: axes.length }),
        fc.array(fc.oneof(extent(-6, 6), fc.constantFrom(2 ** 31 - 1, 2 ** 40, -(2 ** 40))), {
          minLength: axes.length,
          maxLength: axes.length,
        }),
        fc.array(fc.constantFrom(1, 2, 3, -1, -2), { minLength: axes.length, maxLength: axes.length }),
        fc.boolean(),
      ),
    )
    .map(([axes, starts, ends, steps, fromEnd]) => ({
      type: "i64",
      nodes: [
        ...node("Slice", ["x", "starts", "ends", "axes", "steps"], ["y"]),
        ...constants("x", dims, values),
        ...listed("starts", starts),
        ...listed("ends", ends),
        ...listed(
          "axes",
          axes.map((axis) => (fromEnd ? axis - dims.length : axis)),
        ),
        ...listed("steps", steps),
      ],
    })),
);

const pad: fc.Arbitrary<Graph> = shape(1, 3).chain((dims) =>
  fc.array(extent(0, 3), { minLength: 2 * dims.length, maxLength: 2 * dims.length }).map((pads) => ({
    inputs: { x: dims },
    nodes: [...node("Pad", ["x", "pads"], ["y"]), ...listed("pads", pads)],
  })),
);

const window = fc.record({
  batch: extent(1, 2),
  channels: extent(1, 3),
  features: extent(1, 3),
  extents: fc.array(extent(5, 12), { minLength: 1, maxLength: 2 }),
  kernel: fc.array(extent(1, 3), { minLength: 2, maxLength: 2 }),
  strides: fc.array(extent(1, 3), { minLength: 2, maxLength: 2 }),
  dilations: fc.array(extent(1, 2), { minLength: 2, maxLength: 2 }),
  pads: fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 4, maxLength: 4 }),
  auto: fc.constantFrom("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"),
});

const conv: fc.Arbitrary<Graph> = window.map(
  ({ batch, channels, features, extents, kernel, strides, dilations, pads, auto }) => {
    const rank = extents.length;
    return {
      inputs: { x: [batch, channels, ...extents], w: [features, channels, ...kernel.slice(0, rank)] },
      nodes: node(
        "Conv",
        ["x", "w"],
        ["y"],
        [
          ...intsAttribute("strides", strides.slice(0, rank)),
          // onnxruntime takes no dilations beside SAME.
          ...(auto.startsWith("SAME") ? [] : intsAttribute("dilations", dilations.slice(0, rank))),
          ...(auto === "NOTSET" ? intsAttribute("pads", pads.slice(0, 2 * rank)) : []),
          ...stringAttribute("auto_pad", auto),
        ],
      ),
    };
  },
);

const pool: fc.Arbitrary<Graph> = window.map(({ batch, channels, extents, kernel, strides, auto }) => ({
  inputs: { x: [batch, channels, ...extents] },
  nodes: node(
    "MaxPool",
    ["x"],
    ["y"],
    [
      ...intsAttribute("kernel_shape", kernel.slice(0, extents.length)),
      // onnxruntime refuses windows that leave something out between them.
      ...intsAttribute(
        "strides",
        extents.map((_, k) => Math.min(strides[k] ?? 1, kernel[k] ?? 1)),
      ),
      ...stringAttribute("auto_pad", auto),
    ],
  ),
}));

const recurrent: fc.Arbitrary<Graph> = fc
  .record({
    op: fc.constantFrom("LSTM", "GRU", "RNN"),
    steps: extent(1, 4),
    batch: extent(1, 3),
    features: extent(1, 3),
    hidden: extent(1, 3),
    both: fc.boolean(),
    which: fc.constantFrom(0, 1),
  })
  .map(({ op, steps, batch, features, hidden, both, which }) => {
    const gates = { LSTM: 4, GRU: 3, RNN: 1 }[op];
    const directions = both ? 2 : 1;
    return {
      inputs: {
        x: [steps, batch, features],
        w: [directions, gates * hidden, features],
        r: [directions, gates * hidden, hidden],
      },
      nodes: node(op, ["x", "w", "r"], which === 0 ? ["y"] : ["all", "y"], [
        ...intAttribute("hidden_size", hidden),
        ...stringAttribute("direction", both ? "bidirectional" : "forward"),
      ]),
    };
  });

const reduce: fc.Arbitrary<Graph> = shape(1, 4).chain((dims) =>
  fc
    .tuple(
      fc.subarray([...dims.keys()]),
      fc.boolean(),
      fc.constantFrom("ReduceSum", "ReduceMean", "ReduceMax", "ArgMax"),
    )
    .map(([axes, keeps, op]) => {
      const keepdims = intAttribute("keepdims", keeps ? 1 : 0);
      const [axis = 0] = axes;
      if (op === "ArgMax")
        return {
          inputs: { x: dims },
          type: "i64",
          nodes: node(op, ["x"], ["y"], [...keepdims, ...intAttribute("axis", axis - dims.length)]),
        };
      if (op === "ReduceSum")
        return {
          inputs: { x: dims },
          nodes: [...node(op, ["x", "axes"], ["y"], keepdims), ...listed("axes", axes)],
        };
      const given = axes.length === 0 ? [] : intsAttribute("axes", axes);
      return { inputs: { x: dims }, nodes: node(op, ["x"], ["y"], [...keepdims, ...given]) };
    }),
);

/** Integers and truth values on their way through a model. */
const binary: fc.Arbitrary<Graph> = fc
  .tuple(
    small,
    fc.boolean(),
    fc.constantFrom("Add", "Sub", "Mul", "Div", "Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual"),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([{ dims, values }, single, op, turn]) => {
    // The second operand is one row of the first, turned about, or one number; a divisor is never 0.
    const count = single ? 1 : (dims.at(-1) ?? 1);
    const other = Array.from({ length: count }, (_, k) => values[(k + turn) % values.length] ?? 1);
    const divisor = op === "Div" ? other.map((value) => (value === 0 ? 2 : value)) : other;
    return {
      type: ["Add", "Sub", "Mul", "Div"].includes(op) ? "i64" : "bool",
      nodes: [
        ...node(op, ["a", "b"], ["y"]),
        ...constants("a", dims, values),
        ...constants("b", single ? [] : [count], divisor),
      ],
    };
  });

const picked: fc.Arbitrary<Graph> = small.map(({ dims, values }) => ({
  type: "i64",
  nodes: [
    ...node("Cast", ["a"], ["c"], intAttribute("to", 9)),
    ...node("Not", ["c"], ["n"]),
    ...node("Where", ["n", "one", "a"], ["y"]),
    ...constants("a", dims, values),
    ...constants("one", [], [7]),
  ],
}));

const moved: fc.Arbitrary<Graph> = small.chain(({ dims, values }) =>
  fc.shuffledSubarray([...dims.keys()], { minLength: dims.length }).map((perm) => ({
    type: "i64",
    nodes: [
      ...node("Transpose", ["a"], ["t"], intsAttribute("perm", perm)),
      ...node("Reshape", ["t", "flat"], ["y"]),
      ...constants("a", dims, values),
      ...listed("flat", [-1]),
    ],
  })),
);

const made: fc.Arbitrary<Graph> = fc.oneof(
  shape(1, 3).map((dims): Graph => ({
    type: "i64",
    nodes: [
      ...node(
        "ConstantOfShape",
        ["dims"],
        ["y"],
        tensorAttribute("value", tensor("i64", [1], raw([3]), "value")),
      ),
      ...listed("dims", dims),
    ],
  })),
  fc
    .tuple(extent(-5, 5), extent(-5, 9), fc.constantFrom(1, 2, 3, -1, -2))
    .map(([start, limit, delta]): Graph => ({
      type: "i64",
      nodes: [
        ...node("Range", ["start", "limit", "delta"], ["y"]),
        ...constants("start", [], [start]),
        ...constants("limit", [], [limit]),
        ...constants("delta", [], [delta]),
      ],
    })),
  shape(1, 4).map((dims): Graph => ({
    inputs: { x: dims },
    type: "i64",
    nodes: [...node("Size", ["x"], ["s"]), ...node("Reshape", ["s", "one"], ["y"]), ...listed("one", [1])],
  })),
  fc
    .tuple(extent(1, 4), extent(1, 4), extent(1, 4), fc.boolean(), fc.boolean())
    .map(([m, k, n, a, b]): Graph => ({
      inputs: { a: a ? [k, m] : [m, k], b: b ? [n, k] : [k, n] },
      nodes: node(
        "Gemm",
        ["a", "b"],
        ["y"],
        [...intAttribute("transA", a ? 1 : 0), ...intAttribute("transB", b ? 1 : 0)],
      ),
    })),
);

/** As exporters write `squeeze(dim)`: branches of other ranks, of which the shape takes one. */
const branch: fc.Arbitrary<Graph> = fc
  .tuple(extent(1, 2), extent(1, 4), fc.boolean())
  .map(([first, second, elseFirst]) => {
    const taken = graphAttribute("then_branch", [
      ...node("Squeeze", ["x", "zero"], ["t"]),
      ...graphName,
      ...output("t", onnxTypes.f32),
    ]);
    const other = graphAttribute("else_branch", [
      ...node("Identity", ["x"], ["e"]),
      ...graphName,
      ...output("e", onnxTypes.f32),
    ]);
    return {
      inputs: { x: [first, second] },
      nodes: [
        ...node("Shape", ["x"], ["s"]),
        ...node("Gather", ["s", "zero"], ["d"]),
        ...node("Equal", ["d", "one"], ["c"]),
        ...node("If", ["c"], ["y"], elseFirst ? [...other, ...taken] : [...taken, ...other]),
        ...listed("zero", [0]),
        ...listed("one", [1]),
      ],
    };
  });

/** What inference knows of `y` where a gather reads it. */
function inferred({ nodes, inputs = {}, type = "f32", opset = 17 }: Graph) {
  const gathers = findGathers(
    readModel(
      model(
        [
          ...nodes,
          ...node("Gather", ["y", "first"], ["z"]),
          ...listed("first", [0]),
          ...Object.entries(inputs).flatMap(([name, dims]) => input(name, onnxTypes.f32, dims)),
        ],
        opset,
      ),
      `${type}.onnx`,
    ),
  );
  const last = gathers.at(-1);
  if (last?.ok !== true) throw new Error(last?.diagnostic.message ?? "no gather");
  const { data } = last.program;
  const bytes = last.data?.bytes;
  return { dtype: data.dtype, dims: [...data.shape], elements: bytes === undefined ? undefined : [...bytes] };
}

async function computed(ort: OnnxRuntime, { nodes, inputs = {}, type = "f32", opset = 17 }: Graph) {
  const graph = [
    ...nodes,
    // Under static shapes onnxruntime refuses what stands in a branch that is not taken.
    ...Object.entries(inputs).flatMap(([name, dims]) =>
      input(
        name,
        onnxTypes.f32,
        dims.map((_, k) => `${name}${k}`),
      ),
    ),
    ...output("y", onnxTypes[type]),
  ];
  const session = await ort.InferenceSession.create(model([...graph, ...graphName], opset), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, dims]) => [
      name,
      new ort.Tensor("float32", new Float32Array(size(dims)), dims),
    ]),
  );
  const { y } = await session.run(feeds);
  await session.release();
  if (y === undefined) throw new Error("onnxruntime gave no output");
  return {
    dtype: type,
    dims: [...y.dims],
    elements: type === "i64" ? i64s([...(y.data as BigInt64Array)].map(Number)) : undefined,
  };
}

const graphs = { slice, pad, conv, pool, recurrent, reduce, binary, picked, moved, made, branch };
/** Whose elements are followed, an operator that makes them from nothing known apart. */
const followed = ["slice", "binary", "picked", "moved", "made"];

const ort = await requireOnnxRuntime();

it.for(Object.entries(graphs))("onnxruntime agrees about %s", async ([name, arbitrary], context) => {
  if (ort === undefined) return context.skip();
  let elements = 0;
  await fc.assert(
    fc.asyncProperty(arbitrary, async (graph) => {
      const expected = await computed(ort, graph);
      // A gather takes nothing of a scalar.
      fc.pre(expected.dims.length > 0);
      const found = inferred(graph);
      expect({ dtype: found.dtype, dims: found.dims }).toEqual({
        dtype: expected.dtype,
        dims: expected.dims,
      });
      if (found.elements === undefined || expected.elements === undefined) return;
      expect(found.elements).toEqual(expected.elements);
      elements++;
    }),
    { numRuns: 60, seed: 7 },
  );
  if (followed.includes(name)) expect(elements).toBeGreaterThan(5);
});
