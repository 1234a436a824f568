/**
 * Shape inference, as far as it helps to find gathers of static shape: shapes on their way through a model, and
 * operators whose output has the shape of an input. Sources: onnx/onnx docs/Operators.md. What a rule does not know it
 * leaves open; it never guesses.
 */
import { elementCount } from "../../../ir/index.js";
import { dataType } from "./data-type.js";
import type { Dim, OnnxNode } from "./model.js";
import { elementsOf, isStatic, maxFollowed, type Value } from "./value.js";

export interface RuleInput {
  readonly node: OnnxNode;
  readonly inputs: readonly (Value | undefined)[];
  readonly opset: number;
}

/** What is known of the first output. */
type Rule = (input: RuleInput) => Value;

const unknown: Value = {};

const typed = (type: number | undefined): Value => (type === undefined ? unknown : { dataType: type });

const withDims = (type: number | undefined, dims: readonly Dim[] | undefined): Value =>
  dims === undefined ? typed(type) : { ...typed(type), dims };

/** Elements that are too many to follow, or do not fill the shape (the model is wrong), are let go. */
function withElements(value: Value, elements: Value["elements"]): Value {
  if (elements === undefined || elements.length > maxFollowed) return value;
  if (value.dims === undefined || !isStatic(value.dims)) return value;
  return elementCount(value.dims) === elements.length ? { ...value, elements } : value;
}

function int(node: OnnxNode, name: string): number | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "int" ? Number(attribute.value) : undefined;
}

function ints(node: OnnxNode, name: string): readonly number[] | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "ints" ? attribute.values.map(Number) : undefined;
}

/** Axes as given: an attribute up to opset 12, input 1 since. `undefined`: not known; `[]`: none. */
function givenAxes({ node, inputs, opset }: RuleInput): readonly number[] | undefined {
  if (opset < 13) return ints(node, "axes") ?? [];
  if ((node.inputs[1] ?? "") === "") return [];
  const elements = elementsOf(inputs[1]);
  return elements?.every((element) => element !== undefined) === true ? elements.map(Number) : undefined;
}

/** Axes from 0 up to `rank`, or undefined when one is outside. */
function normalized(given: readonly number[], rank: number): readonly number[] | undefined {
  const axes = given.map((axis) => (axis < 0 ? axis + rank : axis));
  return axes.every((axis) => axis >= 0 && axis < rank) ? axes : undefined;
}

const sameShape: Rule = ({ inputs: [x] }) => withDims(x?.dataType, x?.dims);
/** Convolutions, pools, pads and slices keep the rank alone. */
const sameRank: Rule = ({ inputs: [x] }) =>
  withDims(
    x?.dataType,
    x?.dims?.map(() => ""),
  );

/** Multidirectional broadcasting. */
function broadcast(shapes: readonly (readonly Dim[] | undefined)[]): readonly Dim[] | undefined {
  let result: readonly Dim[] = [];
  for (const shape of shapes) {
    if (shape === undefined) return undefined;
    const [a, b, rank] = [result, shape, Math.max(shape.length, result.length)];
    result = Array.from({ length: rank }, (_, k) =>
      broadcastDim(a[k - rank + a.length] ?? 1, b[k - rank + b.length] ?? 1),
    );
  }
  return result;
}

/** Two symbols are the same extent only if they share a name; a number other than 1 is the extent, or the model is wrong. */
function broadcastDim(a: Dim, b: Dim): Dim {
  if (a === b || b === 1) return a;
  if (a === 1) return b;
  if (typeof a === "number") return a;
  return typeof b === "number" ? b : "";
}

/** Before opset 7 shapes were broadcast by an attribute. */
const elementwise =
  (type?: number): Rule =>
  ({ inputs, opset }) =>
    withDims(
      type ?? inputs[0]?.dataType,
      opset < 7 ? inputs[0]?.dims : broadcast(inputs.map((input) => input?.dims)),
    );

const rules: Readonly<Record<string, Rule>> = {
  Identity: ({ inputs: [x] }) => x ?? unknown,

  Cast({ node, inputs: [x] }) {
    const to = int(node, "to");
    const value = withDims(to, x?.dims);
    if (to !== dataType.i32 && to !== dataType.i64) return value;
    const fits = (e: bigint | undefined): bigint | undefined =>
      e !== undefined && to === dataType.i32 && e !== BigInt.asIntN(32, e) ? undefined : e;
    return withElements(value, elementsOf(x)?.map(fits));
  },

  /** `start` and `end` since opset 15. */
  Shape({ node, inputs: [x] }) {
    if (x?.dims === undefined) return typed(dataType.i64);
    const part = x.dims.slice(int(node, "start") ?? 0, int(node, "end") ?? x.dims.length);
    return withElements(
      { dataType: dataType.i64, dims: [part.length] },
      part.map((dim) => (typeof dim === "number" ? BigInt(dim) : undefined)),
    );
  },

  Unsqueeze(input) {
    const [x] = input.inputs;
    const given = givenAxes(input);
    if (x?.dims === undefined || given === undefined) return typed(x?.dataType);
    const rank = x.dims.length + given.length;
    const axes = rank > maxFollowed ? undefined : normalized(given, rank);
    if (axes === undefined) return typed(x.dataType);
    const rest = [...x.dims];
    const dims = Array.from({ length: rank }, (_, k) => (axes.includes(k) ? 1 : (rest.shift() ?? 1)));
    return withElements({ ...typed(x.dataType), dims }, elementsOf(x));
  },

  /** Without axes, every dim of 1 goes. */
  Squeeze(input) {
    const [x] = input.inputs;
    const given = givenAxes(input);
    if (x?.dims === undefined || given === undefined) return typed(x?.dataType);
    const axes = normalized(given, x.dims.length);
    if (axes === undefined || (axes.length === 0 && !isStatic(x.dims))) return typed(x.dataType);
    const dims = x.dims.filter((dim, k) => (axes.length === 0 ? dim !== 1 : !axes.includes(k)));
    return withElements({ ...typed(x.dataType), dims }, elementsOf(x));
  },

  Concat({ node, inputs }) {
    const [first] = inputs;
    const shapes = inputs.map((input) => input?.dims);
    const rank = first?.dims?.length ?? 0;
    const axis = (int(node, "axis") ?? 1) + ((int(node, "axis") ?? 1) < 0 ? rank : 0);
    if (rank === 0 || axis >= rank || shapes.some((shape) => shape?.length !== rank))
      return typed(first?.dataType);
    const dims = Array.from({ length: rank }, (_, k): Dim => {
      const along: readonly Dim[] = shapes.map((shape) => shape?.[k] ?? "");
      if (k !== axis) return along.find((dim) => typeof dim === "number") ?? along[0] ?? "";
      return isStatic(along) ? along.reduce((sum, dim) => sum + dim, 0) : "";
    });
    const parts = inputs.map(elementsOf);
    const value = withDims(first?.dataType, dims);
    if (rank !== 1 || typeof dims[0] !== "number" || dims[0] > maxFollowed) return value;
    return parts.some((part) => part === undefined)
      ? value
      : withElements(
          value,
          parts.flatMap((part) => part ?? []),
        );
  },

  Gather({ node, inputs: [data, indices] }) {
    if (data?.dims === undefined || indices?.dims === undefined) return typed(data?.dataType);
    const rank = data.dims.length;
    const axis = (int(node, "axis") ?? 0) + ((int(node, "axis") ?? 0) < 0 ? rank : 0);
    if (axis < 0 || axis >= rank) return typed(data.dataType);
    const value = withDims(data.dataType, [
      ...data.dims.slice(0, axis),
      ...indices.dims,
      ...data.dims.slice(axis + 1),
    ]);
    const [elements, places] = [elementsOf(data), elementsOf(indices)];
    if (rank !== 1 || elements === undefined || places === undefined) return value;
    return withElements(
      value,
      places.map((k) => (k === undefined ? undefined : elements.at(Number(k)))),
    );
  },

  GatherElements: ({ inputs: [data, indices] }) => withDims(data?.dataType, indices?.dims),

  GatherND({ node, inputs: [data, indices] }) {
    const tuple = indices?.dims?.at(-1);
    if (data?.dims === undefined || indices?.dims === undefined || typeof tuple !== "number") {
      return typed(data?.dataType);
    }
    const batch = int(node, "batch_dims") ?? 0;
    return withDims(data.dataType, [...indices.dims.slice(0, -1), ...data.dims.slice(batch + tuple)]);
  },

  Transpose({ node, inputs: [x] }) {
    if (x?.dims === undefined) return typed(x?.dataType);
    const { dims } = x;
    const perm = ints(node, "perm") ?? dims.map((_, k) => dims.length - 1 - k);
    return perm.length === dims.length && perm.every((k) => k >= 0 && k < dims.length)
      ? withDims(
          x.dataType,
          perm.map((k) => dims[k] ?? ""),
        )
      : typed(x.dataType);
  },

  /** 0 keeps the input's extent unless `allowzero`; -1 takes what is left. */
  Reshape({ node, inputs: [x, shape] }) {
    const wanted = elementsOf(shape);
    if (wanted === undefined) return typed(x?.dataType);
    const keepsZero = int(node, "allowzero") === 1;
    const dims = wanted.map((extent, k): Dim => {
      if (extent === undefined || extent < 0n) return "";
      return extent === 0n && !keepsZero ? (x?.dims?.[k] ?? "") : Number(extent);
    });
    const open = dims.flatMap((dim, k) => (typeof dim === "number" ? [] : [k]));
    const [rest] = open;
    if (rest !== undefined && open.length === 1 && wanted[rest] === -1n && x?.dims !== undefined) {
      const others = elementCount(dims.filter((dim) => typeof dim === "number"));
      const left = isStatic(x.dims) ? elementCount(x.dims) / others : Number.NaN;
      if (Number.isSafeInteger(left)) dims[rest] = left;
    }
    return withElements(withDims(x?.dataType, dims), elementsOf(x));
  },

  Expand({ inputs: [x, shape] }) {
    const wanted = elementsOf(shape)?.map((extent) => (extent === undefined ? "" : Number(extent)));
    return withDims(x?.dataType, broadcast([x?.dims, wanted]));
  },

  Where: ({ inputs }) =>
    withDims(inputs[1]?.dataType ?? inputs[2]?.dataType, broadcast(inputs.map((input) => input?.dims))),

  MatMul({ inputs: [a, b] }) {
    const [x, y] = [a?.dims, b?.dims];
    if (x === undefined || y === undefined || x.length < 2 || y.length < 2) return typed(a?.dataType);
    const batch = broadcast([x.slice(0, -2), y.slice(0, -2)]) ?? [];
    return withDims(a?.dataType, [...batch, x.at(-2) ?? "", y.at(-1) ?? ""]);
  },
};

const groups: readonly (readonly [Rule, string])[] = [
  [
    sameShape,
    "Abs BatchNormalization Ceil Clip CumSum Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish InstanceNormalization LayerNormalization LeakyRelu Log LogSoftmax Mish Neg Not Reciprocal Relu Round Selu Sigmoid Sign Softmax Softplus Sqrt Tanh",
  ],
  [sameRank, "AveragePool Conv ConvTranspose MaxPool Pad Slice"],
  [elementwise(), "Add Div Max Min Mod Mul Pow PRelu Sub And Or Xor"],
  [elementwise(dataType.bool), "Equal Greater GreaterOrEqual Less LessOrEqual"],
];

const table: ReadonlyMap<string, Rule> = new Map([
  ...Object.entries(rules),
  ...groups.flatMap(([rule, names]) => names.split(" ").map((name) => [name, rule] as const)),
]);

/** The first output of one of ONNX's own operators. */
export function inferOutput(input: RuleInput): Value {
  // Within a function, an attribute may be what the caller gives: nothing follows from it.
  for (const { kind } of input.node.attributes.values()) if (kind === "reference") return unknown;
  return sane(table.get(input.node.op)?.(input) ?? unknown);
}

/** Models are untrusted: a chain of gathers doubles the rank at each step, and a shape's elements may be negative. */
function sane(value: Value): Value {
  const { dims, ...rest } = value;
  if (dims === undefined) return value;
  if (dims.length > maxFollowed) return typed(value.dataType);
  const legal = (dim: Dim): boolean => typeof dim === "string" || (Number.isSafeInteger(dim) && dim >= 0);
  return dims.every(legal) ? value : { ...rest, dims: dims.map((dim) => (legal(dim) ? dim : "")) };
}
