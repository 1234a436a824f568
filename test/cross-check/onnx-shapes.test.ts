/** Shapes, and elements of small integer tensors, that inference finds behind several nodes: those that onnxruntime computes. */
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

/** As exporters write shapes: extents of an input, one by one, computed with, and put together. */
const computedShape: fc.Arbitrary<Graph> = fc
  .tuple(extent(1, 4), extent(1, 4), extent(1, 4), fc.constantFrom("Split", "Slice", "Gather", "ReduceProd"))
  .map(([a, b, c, how]) => {
    const front = {
      Split: [...node("Split", ["s", "parts"], ["f", "l"])],
      Slice: [...node("Slice", ["s", "zero", "two"], ["f"]), ...node("Slice", ["s", "two", "three"], ["l"])],
      Gather: [...node("Gather", ["s", "zeroOne"], ["f"]), ...node("Gather", ["s", "two"], ["l"])],
      ReduceProd: [
        ...node("ReduceProd", ["s"], ["all"], intAttribute("keepdims", 1)),
        ...node("Slice", ["s", "two", "three"], ["l"]),
        ...node("Div", ["all", "l"], ["f"]),
      ],
    }[how];
    return {
      inputs: { x: [a, b, c] },
      nodes: [
        ...node("Shape", ["x"], ["s"]),
        ...front,
        ...node("ReduceProd", ["f"], ["p"], intAttribute("keepdims", 1)),
        ...node("Max", ["p", "one"], ["m"]),
        ...node("Concat", ["one", "m", "l"], ["t"], intAttribute("axis", 0)),
        ...node("Reshape", ["x", "t"], ["r"]),
        ...node("Tile", ["r", "twice"], ["y"]),
        ...listed("parts", [2, 1]),
        ...listed("zeroOne", [0, 1]),
        ...listed("zero", [0]),
        ...listed("one", [1]),
        ...listed("two", [2]),
        ...listed("three", [3]),
        ...listed("twice", [1, 2, 1]),
      ],
    };
  });

/** As exporters write `x[topk(s)]`: positions of the largest, in the shape of what they choose. */
const largest: fc.Arbitrary<Graph> = fc
  .tuple(extent(1, 3), extent(2, 6), extent(1, 4), extent(1, 2))
  .map(([batch, count, width, k]) => ({
    inputs: { s: [batch, count], x: [batch, count, width] },
    opset: 17,
    nodes: [
      ...node("TopK", ["s", "k"], ["v", "i"]),
      ...node("Unsqueeze", ["i", "last"], ["u"]),
      ...node("Expand", ["u", "shape"], ["e"]),
      ...node("GatherElements", ["x", "e"], ["y"], intAttribute("axis", 1)),
      ...listed("k", [k]),
      ...listed("last", [-1]),
      ...listed("shape", [batch, k, width]),
    ],
  }));

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

const graphs = { picked, moved, computedShape, largest, branch };
/** Whose elements are followed. */
const followed = ["picked", "moved"];

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
