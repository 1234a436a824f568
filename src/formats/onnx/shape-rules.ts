/**
 * Shape inference, as far as it helps to find gathers of static shape: shapes on their way through a model, and
 * operators whose output has the shape of an input. Sources: onnx/onnx docs/Operators.md. What a rule does not know it
 * leaves open; it never guesses.
 */
import { elementCount } from "../../../ir/index.js";
import { dataType } from "./data-type.js";
import { elementRules, elementwise } from "./element-rules.js";
import type { Dim } from "./model.js";
import { readTensor } from "./read-tensor.js";
import { recurrentRules } from "./recurrent-rules.js";
import {
  broadcast,
  elementsAt,
  givenAxes,
  int,
  ints,
  normalized,
  typed,
  unknown,
  withDims,
  withElements,
  type ShapeRule,
  type RuleInput,
} from "./rule.js";
import { knownElements, isStatic, maxFollowed, type TrackedValue } from "./value.js";
import { transposed, windowRules } from "./window-rules.js";

const sameShape: ShapeRule = ({ inputs: [x] }) => withDims(x?.dataType, x?.dims);
const sameRank: ShapeRule = ({ inputs: [x] }) =>
  withDims(
    x?.dataType,
    x?.dims?.map(() => ""),
  );

/** Reductions: `axes` moved from an attribute to an input; none given means all, or none by `noop_with_empty_axes`. */
const reduction =
  (since: number): ShapeRule =>
  (input) => {
    const { node, inputs } = input;
    const [x] = inputs;
    const given = givenAxes(input, since);
    if (x?.dims === undefined || given === undefined) return typed(x?.dataType);
    if (given.length === 0 && int(node, "noop_with_empty_axes") === 1) return withDims(x.dataType, x.dims);
    const axes = given.length === 0 ? x.dims.map((_, k) => k) : normalized(given, x.dims.length);
    return axes === undefined ? typed(x.dataType) : withDims(x.dataType, reduced(x.dims, axes, node));
  };

const reduced = (dims: readonly Dim[], axes: readonly number[], node: RuleInput["node"]): readonly Dim[] =>
  (int(node, "keepdims") ?? 1) === 1
    ? dims.map((dim, k) => (axes.includes(k) ? 1 : dim))
    : dims.filter((_, k) => !axes.includes(k));

/** Position of the largest or least along one axis. */
const position: ShapeRule = ({ node, inputs: [x] }) => {
  const axes = x?.dims === undefined ? undefined : normalized([int(node, "axis") ?? 0], x.dims.length);
  if (x?.dims === undefined || axes === undefined) return typed(dataType.i64);
  return withDims(dataType.i64, reduced(x.dims, axes, node));
};

const rules: Readonly<Record<string, ShapeRule>> = {
  Identity: ({ inputs: [x] }) => x ?? unknown,

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
    const given = givenAxes(input, 13);
    if (x?.dims === undefined || given === undefined) return typed(x?.dataType);
    const rank = x.dims.length + given.length;
    const axes = rank > maxFollowed ? undefined : normalized(given, rank);
    if (axes === undefined) return typed(x.dataType);
    const rest = [...x.dims];
    const dims = Array.from({ length: rank }, (_, k) => (axes.includes(k) ? 1 : (rest.shift() ?? 1)));
    return withElements({ ...typed(x.dataType), dims }, knownElements(x));
  },

  /** Without axes, every dim of 1 goes. */
  Squeeze(input) {
    const [x] = input.inputs;
    const given = givenAxes(input, 13);
    if (x?.dims === undefined || given === undefined) return typed(x?.dataType);
    const axes = normalized(given, x.dims.length);
    if (axes === undefined || (axes.length === 0 && !isStatic(x.dims))) return typed(x.dataType);
    const dims = x.dims.filter((dim, k) => (axes.length === 0 ? dim !== 1 : !axes.includes(k)));
    return withElements({ ...typed(x.dataType), dims }, knownElements(x));
  },

  /** Two dims: those before the axis, and the rest. */
  Flatten({ node, inputs: [x] }) {
    if (x?.dims === undefined || !isStatic(x.dims)) return withDims(x?.dataType, ["", ""]);
    const given = int(node, "axis") ?? 1;
    const axis = given < 0 ? given + x.dims.length : given;
    if (axis < 0 || axis > x.dims.length) return withDims(x.dataType, ["", ""]);
    const dims = [x.dims.slice(0, axis), x.dims.slice(axis)].map(elementCount);
    return withElements(withDims(x.dataType, dims), knownElements(x));
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
    const parts = inputs.map(knownElements);
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
    const [elements, places] = [knownElements(data), knownElements(indices)];
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
    const fits = perm.length === dims.length && perm.every((k) => k >= 0 && k < dims.length);
    return fits ? transposed(x, perm) : typed(x.dataType);
  },

  /** 0 keeps the input's extent unless `allowzero`; -1 takes what is left. */
  Reshape({ node, inputs: [x, shape] }) {
    const wanted = knownElements(shape);
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
    return withElements(withDims(x?.dataType, dims), knownElements(x));
  },

  Expand({ inputs: [x, shape] }) {
    const wanted = knownElements(shape)?.map((extent) => (extent === undefined ? "" : Number(extent)));
    return withDims(x?.dataType, broadcast([x?.dims, wanted]));
  },

  MatMul({ inputs: [a, b] }) {
    const [x, y] = [a?.dims, b?.dims];
    if (x === undefined || y === undefined || x.length < 2 || y.length < 2) return typed(a?.dataType);
    const batch = broadcast([x.slice(0, -2), y.slice(0, -2)]) ?? [];
    return withDims(a?.dataType, [...batch, x.at(-2) ?? "", y.at(-1) ?? ""]);
  },

  Size({ inputs: [x] }) {
    const dims = x?.dims;
    const value = withDims(dataType.i64, []);
    return dims === undefined || !isStatic(dims) ? value : withElements(value, [BigInt(elementCount(dims))]);
  },

  /** Of a shape that is given as elements; 0 as f32 where no `value` is. */
  ConstantOfShape({ node, inputs: [shape] }) {
    const attribute = node.attributes.get("value");
    const type = attribute?.kind === "tensor" ? attribute.tensor.dataType : dataType.f32;
    const [rank] = shape?.dims?.length === 1 ? shape.dims : [];
    const open =
      typeof rank === "number" && rank <= maxFollowed ? Array.from({ length: rank }, () => "") : undefined;
    const dims = knownElements(shape)?.map((extent) => (extent === undefined ? "" : Number(extent))) ?? open;
    const value = withDims(type, dims);
    if (dims === undefined || attribute?.kind !== "tensor") return value;
    const { tensor } = attribute;
    const [fill] =
      knownElements({ ...typed(type), dims: [1], constant: () => readTensor(tensor, "value") }) ?? [];
    return withElements(
      value,
      elementsAt(dims, () => fill),
    );
  },

  Range({ inputs }) {
    const [start, limit, delta] = inputs.map((input) => knownElements(input)?.[0]);
    const type = inputs[0]?.dataType;
    if (start === undefined || limit === undefined || delta === undefined || delta === 0n)
      return withDims(type, [""]);
    const count = Math.max(0, Math.ceil(Number(limit - start) / Number(delta)));
    return withElements(
      withDims(type, [count]),
      elementsAt([count], ([k = 0]) => start + BigInt(k) * delta),
    );
  },

  Gemm({ node, inputs: [a, b] }) {
    const rows = a?.dims?.[int(node, "transA") === 1 ? 1 : 0] ?? "";
    const columns = b?.dims?.[int(node, "transB") === 1 ? 0 : 1] ?? "";
    return withDims(a?.dataType, [rows, columns]);
  },

  ArgMax: position,
  ArgMin: position,

  DequantizeLinear: ({ node, inputs: [x, scale] }) =>
    withDims(int(node, "output_dtype") ?? scale?.dataType, x?.dims),

  /** The elements that are packed in a byte lie along the last dim. */
  "com.microsoft.GatherBlockQuantized"({ node, inputs: [data, indices, scales] }) {
    const type = scales?.dataType;
    if (data?.dims === undefined || indices?.dims === undefined) return typed(type);
    const given = int(node, "gather_axis") ?? 0;
    const axis = given < 0 ? given + data.dims.length : given;
    const each = data.dataType === dataType.u8 ? 8 / (int(node, "bits") ?? 4) : 1;
    const dims = data.dims.map((dim, k, all) =>
      k === all.length - 1 ? (typeof dim === "number" ? dim * each : "") : dim,
    );
    return withDims(type, [...dims.slice(0, axis), ...indices.dims, ...dims.slice(axis + 1)]);
  },
};

const groups: readonly (readonly [ShapeRule, string])[] = [
  [
    sameShape,
    "Abs BatchNormalization Ceil Clip CumSum Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish InstanceNormalization LayerNormalization LeakyRelu Log LogSoftmax Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Softmax Softplus Sqrt Tanh",
  ],
  [sameRank, "ConvTranspose"],
  [elementwise(), "Mod Pow PRelu"],
  [reduction(13), "ReduceSum"],
  [
    reduction(18),
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare",
  ],
];

const table: ReadonlyMap<string, ShapeRule> = new Map([
  ...[rules, elementRules, windowRules, recurrentRules].flatMap((group) => Object.entries(group)),
  ...groups.flatMap(([rule, names]) => names.split(" ").map((name) => [name, rule] as const)),
]);

/** What is known of the outputs of one of ONNX's own operators, or of one that tilec knows of another domain. */
export function inferOutputs(input: RuleInput): readonly TrackedValue[] {
  // Within a function, an attribute may be what the caller gives: nothing follows from it.
  for (const { kind } of input.node.attributes.values()) if (kind === "reference") return [];
  const { op, domain } = input.node;
  const rule = table.get(domain === "" ? op : `${domain}.${op}`);
  return [rule?.(input) ?? unknown].flat().map(sane);
}

/** Models are untrusted: a chain of gathers doubles the rank at each step, and a shape's elements may be negative. */
function sane(value: TrackedValue): TrackedValue {
  const { dims, ...rest } = value;
  if (dims === undefined) return value;
  if (dims.length > maxFollowed) return typed(value.dataType);
  const legal = (dim: Dim): boolean => typeof dim === "string" || (Number.isSafeInteger(dim) && dim >= 0);
  return dims.every(legal) ? value : { ...rest, dims: dims.map((dim) => (legal(dim) ? dim : "")) };
}
