/**
 * Rules of operators that move whole tensors about: reshapes, slices, concatenations, pads. Source: onnx/onnx
 * docs/Operators.md.
 */
import { elementCount } from "../../../ir/index.js";
import type { Dim } from "./model.js";
import { permuted } from "./positions.js";
import {
  axisOf,
  broadcast,
  dimsFrom,
  givenAxes,
  int,
  ints,
  constantInts,
  shifted,
  normalized,
  unknownDims,
  quotient,
  sum,
  times,
  typed,
  withDims,
  withElements,
  type RuleInput,
  type ShapeRule,
} from "./rule.js";
import { constantElements, isStatic, maxFollowed, type TrackedValue } from "./value.js";

/** Copies of positions that are made, one after the other. */
const maxCopies = 4;

/**
 * Returns a tracked value (inferred type, dims and elements) with the dims `dims` and the elements of `x` in
 * row-major order. The elements are left out if `dims` does not have the same number of elements.
 */
function reshaped(x: TrackedValue | undefined, dims: readonly Dim[] | undefined): TrackedValue {
  const value = withElements(withDims(x?.dataType, dims), constantElements(x));
  const { positions } = x ?? {};
  if (positions === undefined || dims === undefined || !isStatic(dims)) return value;
  const { type, bytes } = positions.tensor;
  if (elementCount(dims) !== elementCount(type.shape)) return value;
  return { ...value, positions: { ...positions, tensor: { type: { ...type, shape: dims }, bytes } } };
}

/**
 * Infers the type, shape and known elements of the output of ONNX Unsqueeze, which inserts dims of extent 1.
 */
export const unsqueeze: ShapeRule = (input) => {
  const [x] = input.inputs;
  const given = givenAxes(input, 13);
  if (x?.dims === undefined || given === undefined) return typed(x?.dataType);
  const rank = x.dims.length + given.length;
  const axes = rank > maxFollowed ? undefined : normalized(given, rank);
  if (axes === undefined) return typed(x.dataType);
  const rest = [...x.dims];
  return reshaped(
    x,
    Array.from({ length: rank }, (_, k) => (axes.includes(k) ? 1 : (rest.shift() ?? 1))),
  );
};

/**
 * Infers the type, shape and known elements of the output of ONNX Squeeze, which removes dims of extent 1.
 * Without axes, every dim of extent 1 is removed.
 */
export const squeeze: ShapeRule = (input) => {
  const [x] = input.inputs;
  const given = givenAxes(input, 13);
  if (x?.dims === undefined || given === undefined) return typed(x?.dataType);
  const axes = normalized(given, x.dims.length);
  if (axes === undefined || (axes.length === 0 && !isStatic(x.dims))) return typed(x.dataType);
  return reshaped(
    x,
    x.dims.filter((dim, k) => (axes.length === 0 ? dim !== 1 : !axes.includes(k))),
  );
};

/**
 * Infers the type, shape and known elements of the output of ONNX Flatten. The output has two dims: the
 * product of the extents before the axis, and the product of the remaining extents.
 */
export const flatten: ShapeRule = ({ node, inputs: [x] }) => {
  if (x?.dims === undefined) return withDims(x?.dataType, ["", ""]);
  const given = int(node, "axis") ?? 1;
  const axis = given < 0 ? given + x.dims.length : given;
  if (axis < 0 || axis > x.dims.length) return withDims(x.dataType, ["", ""]);
  return reshaped(x, [quotient(x.dims.slice(0, axis)), quotient(x.dims.slice(axis))]);
};

/**
 * Infers the type, shape and known elements of the output of ONNX Reshape. In the requested shape, an extent
 * of 0 or -1 has the meaning that ONNX defines.
 */
export const reshape: ShapeRule = ({ node, inputs: [x, shape], opset }) => {
  const wanted = opset < 5 ? ints(node, "shape")?.map(BigInt) : constantElements(shape);
  if (wanted === undefined) return typed(x?.dataType);
  const keepsZero = int(node, "allowzero") === 1;
  const copied = wanted.map((extent) => extent === 0n && !keepsZero);
  const dims = wanted.map((extent, k): Dim => {
    if (extent === undefined || extent < 0n) return "";
    return copied[k] === true ? (x?.dims?.[k] ?? "") : Number(extent);
  });
  const rest = wanted.indexOf(-1n);
  if (rest !== -1 && x?.dims !== undefined && !wanted.includes(undefined)) {
    const others = dims.filter((_, k) => k !== rest && copied[k] !== true);
    if (isStatic(others))
      dims[rest] = quotient(
        x.dims.filter((_, k) => copied[k] !== true),
        elementCount(others),
      );
  }
  return reshaped(x, dims);
};

/** Infers the type and shape of the output of ONNX Concat, which joins the inputs along an axis. */
export const concat: ShapeRule = ({ node, inputs }) => {
  const [first] = inputs;
  const shapes = inputs.map((input) => input?.dims);
  const rank = first?.dims?.length ?? 0;
  const axis = axisOf(node, 1, rank);
  if (axis === undefined || shapes.some((shape) => shape?.length !== rank)) return typed(first?.dataType);
  const dims = Array.from({ length: rank }, (_, k): Dim => {
    const along: readonly Dim[] = shapes.map((shape) => shape?.[k] ?? "");
    return k === axis ? sum(along) : (along.find((dim) => typeof dim === "number") ?? along[0] ?? "");
  });
  const value = withDims(first?.dataType, dims);
  const pieces = inputs.map(constantElements);
  if (rank !== 1 || pieces.includes(undefined)) return value;
  return withElements(
    value,
    pieces.flatMap((piece) => piece ?? []),
  );
};

/** Returns the extents of the outputs of a Split node along the split axis. An unknown extent is "". */
function piecesOf(input: RuleInput, extent: Dim): readonly Dim[] {
  const { node, opset } = input;
  const count = node.outputs.length;
  const given =
    opset < 13 ? (ints(node, "split") ?? (opset < 2 ? constantInts(input, 1) : [])) : constantInts(input, 1);
  if (given === undefined || given.length > 0) return node.outputs.map((_, k) => given?.[k] ?? "");
  const outputs = int(node, "num_outputs") ?? count;
  if (typeof extent !== "number") return node.outputs.map(() => (outputs === 1 ? extent : ""));
  const size = Math.ceil(extent / outputs);
  const last = extent - size * (outputs - 1);
  // Parts of one size alone are defined before opset 18; later runtimes differ where nothing is left for the
  // last.
  const isDefined = last === size || (opset >= 18 && last > 0);
  return node.outputs.map((_, k) => (isDefined ? (k === outputs - 1 ? last : size) : ""));
}

/**
 * Infers the type, shape and known elements of each output of ONNX Split, which divides the input along an
 * axis.
 */
export const split: ShapeRule = (input) => {
  const { node, inputs } = input;
  const [x] = inputs;
  const axis = axisOf(node, 0, x?.dims?.length ?? 0);
  if (x?.dims === undefined || axis === undefined) return node.outputs.map(() => typed(x?.dataType));
  const { dims } = x;
  const pieces = piecesOf(input, dims[axis] ?? "");
  return pieces.map((piece, number) => {
    const before = sum(pieces.slice(0, number));
    const shape = dims.map((dim, k) => (k === axis ? piece : dim));
    if (typeof before !== "number") return withDims(x.dataType, shape);
    return shifted(x, shape, (position) => position.map((at, k) => (k === axis ? at + before : at)));
  });
};

/**
 * Infers the type, shape and known elements of the output of ONNX Tile, which repeats the input along each
 * dim. Before opset 6, the output's extents are unknown.
 */
export const tile: ShapeRule = (input) => {
  const [x] = input.inputs;
  if (x?.dims === undefined) return typed(x?.dataType);
  const { dims } = x;
  const counts = input.opset < 6 ? undefined : constantInts(input, 1);
  if (counts?.length !== dims.length) return withDims(x.dataType, unknownDims(dims));
  const shape = dims.map((dim, k) => times(dim, counts[k] ?? 1));
  return shifted(x, shape, (position) => position.map((at, k) => at % Number(dims[k])));
};

/**
 * Infers the type, shape and known elements of the output of ONNX Expand. The output's shape is the broadcast
 * of the input's shape and the requested shape.
 */
export const expand: ShapeRule = ({ inputs: [x, shape] }) => {
  const wanted = constantElements(shape);
  const dims = broadcast([x?.dims, wanted === undefined ? undefined : dimsFrom(wanted)]);
  if (x?.dims === undefined || dims === undefined) return typed(x?.dataType);
  const inputDims = x.dims;
  return shifted(x, dims, (position) =>
    position.slice(position.length - inputDims.length).map((at, k) => (inputDims[k] === 1 ? 0 : at)),
  );
};

/**
 * Infers the type, shape and known elements of the output of ONNX Transpose, which permutes the dims. Without
 * the attribute `perm`, the order of the dims is reversed.
 */
export const transpose: ShapeRule = ({ node, inputs: [x] }) => {
  if (x?.dims === undefined) return typed(x?.dataType);
  const { dims } = x;
  const perm = ints(node, "perm") ?? dims.map((_, k) => dims.length - 1 - k);
  const isPermutation = perm.length === dims.length && dims.every((_, k) => perm.includes(k));
  if (!isPermutation) return typed(x.dataType);
  const value = shifted(
    x,
    perm.map((k) => dims[k] ?? ""),
    (position) => dims.map((_, k) => position[perm.indexOf(k)] ?? 0),
  );
  const { tensor, copies = 0 } = x.positions ?? {};
  if (tensor === undefined || copies >= maxCopies) return value;
  return { ...value, positions: { tensor: permuted(tensor, perm), copies: copies + 1 } };
};

interface Cut {
  readonly start: number;
  readonly step: number;
  readonly length: number;
}

/**
 * Returns the starts, ends, axes and steps of a Slice node. Returns undefined if one of the lists is not
 * constant, or if an axis is out of range.
 */
function sliceOf(input: RuleInput, rank: number) {
  const { node, opset } = input;
  const starts = opset < 10 ? ints(node, "starts") : constantInts(input, 1);
  const ends = opset < 10 ? ints(node, "ends") : constantInts(input, 2);
  const given = opset < 10 ? (ints(node, "axes") ?? []) : constantInts(input, 3);
  const steps = opset < 10 ? [] : constantInts(input, 4);
  if (starts === undefined || ends === undefined || given === undefined || steps === undefined)
    return undefined;
  const axes = normalized(given.length === 0 ? starts.map((_, k) => k) : given, rank);
  return axes === undefined ? undefined : { starts, ends, axes, steps };
}

/**
 * Values for the end of the dim, in either direction of the step: the page says INT_MAX, and onnxruntime
 * accepts both values.
 */
const toTheEnd: readonly number[] = [2 ** 31 - 1, Number(2n ** 63n - 1n)];

/**
 * Returns the start, step and length, in elements, of a slice along one dim of `extent` elements. Negative
 * bounds count from the end, and bounds outside the dim are clamped. Returns undefined if the step is 0.
 */
function cutOf(extent: number, start: number, end: number, step: number): Cut | undefined {
  if (step === 0) return undefined;
  const bound = (at: number, least: number, max: number): number =>
    Math.min(Math.max(at < 0 ? at + extent : at, least), max);
  const [from, to] =
    step > 0
      ? [bound(start, 0, extent), bound(end, 0, extent)]
      : [bound(start, 0, extent - 1), toTheEnd.includes(end) ? -1 : bound(end, -1, extent - 1)];
  return { start: from, step, length: Math.max(0, Math.ceil((to - from) / step)) };
}

/**
 * Returns the range (start, step and length in elements) that a Slice node selects along each dim of the
 * input. The range of a dynamic dim is undefined. Returns undefined if starts, ends, axes or steps are not
 * constant.
 */
export function cutsOf(input: RuleInput, dims: readonly Dim[]): readonly (Cut | undefined)[] | undefined {
  const slice = sliceOf(input, dims.length);
  if (slice === undefined) return undefined;
  const { starts, ends, axes, steps } = slice;
  return dims.map((dim, k): Cut | undefined => {
    const at = axes.lastIndexOf(k);
    if (typeof dim !== "number") return undefined;
    if (at === -1) return { start: 0, step: 1, length: dim };
    const [start, end] = [starts[at], ends[at]];
    return start === undefined || end === undefined ? undefined : cutOf(dim, start, end, steps[at] ?? 1);
  });
}

/**
 * Infers the type, shape and known elements of the output of ONNX Slice, which selects a strided range of
 * each dim.
 */
export const slice: ShapeRule = (input) => {
  const [x] = input.inputs;
  if (x?.dims === undefined) return typed(x?.dataType);
  const { dims } = x;
  const slice = sliceOf(input, dims.length);
  const cuts = cutsOf(input, dims);
  if (slice === undefined || cuts === undefined) return withDims(x.dataType, unknownDims(dims));
  const keepsAll = (at: number): boolean =>
    slice.starts[at] === 0 && (slice.steps[at] ?? 1) === 1 && toTheEnd.includes(slice.ends[at] ?? 0);
  const shape = dims.map((dim, k): Dim => {
    const at = slice.axes.lastIndexOf(k);
    return at === -1 || keepsAll(at) ? dim : (cuts[k]?.length ?? "");
  });
  return shifted(x, shape, (position) =>
    position.map((at, k) => (cuts[k]?.start ?? 0) + at * (cuts[k]?.step ?? 1)),
  );
};

/** Infers the type and shape of the output of ONNX Pad, which adds elements before and after each dim. */
export const pad: ShapeRule = (input) => {
  const { node, inputs, opset } = input;
  const [x] = inputs;
  if (x?.dims === undefined) return typed(x?.dataType);
  const unknown = withDims(x.dataType, unknownDims(x.dims));
  const pads = opset < 11 ? (ints(node, "pads") ?? ints(node, "paddings")) : constantInts(input, 1);
  const given = opset < 18 ? [] : constantInts(input, 3);
  if (pads === undefined || given === undefined) return unknown;
  const axes = normalized(given.length === 0 ? x.dims.map((_, k) => k) : given, x.dims.length);
  if (axes === undefined || pads.length !== 2 * axes.length) return unknown;
  return withDims(
    x.dataType,
    x.dims.map((dim, k) => {
      const at = axes.indexOf(k);
      if (at === -1) return dim;
      const amount = (pads[at] ?? 0) + (pads[at + axes.length] ?? 0);
      return amount === 0 ? dim : sum([dim, amount]);
    }),
  );
};

/**
 * Infers the type and shape of the output of ONNX CenterCropPad, which crops or pads the input to the extents
 * in input 1. The extents apply to the axes in attribute `axes`, by default to all axes.
 */
export const centerCropPad: ShapeRule = (input) => {
  const [x] = input.inputs;
  if (x?.dims === undefined) return typed(x?.dataType);
  const axes = normalized(ints(input.node, "axes") ?? x.dims.map((_, k) => k), x.dims.length);
  const wanted = constantInts(input, 1);
  if (axes === undefined || wanted?.length !== axes.length) return withDims(x.dataType, unknownDims(x.dims));
  return withDims(
    x.dataType,
    x.dims.map((dim, k) => (axes.includes(k) ? (wanted[axes.indexOf(k)] ?? "") : dim)),
  );
};

/**
 * Infers the type and shape of the output of ONNX DepthToSpace, which moves blocks of channels to the spatial
 * dims. Channels are divided by the square of `blocksize`; height and width are multiplied by `blocksize`.
 */
export const depthToSpace: ShapeRule = ({ node, inputs: [x] }) => {
  const size = int(node, "blocksize") ?? 1;
  if (x?.dims?.length !== 4) return typed(x?.dataType);
  const [batch = "", channels = "", ...spatial] = x.dims;
  return withDims(x.dataType, [
    batch,
    quotient([channels], size ** 2),
    ...spatial.map((dim) => times(dim, size)),
  ]);
};

/**
 * Infers the type and shape of the output of ONNX SpaceToDepth, which moves blocks of the spatial dims to the
 * channels. Channels are multiplied by the square of `blocksize`; height and width are divided by
 * `blocksize`.
 */
export const spaceToDepth: ShapeRule = ({ node, inputs: [x] }) => {
  const size = int(node, "blocksize") ?? 1;
  if (x?.dims?.length !== 4) return typed(x?.dataType);
  const [batch = "", channels = "", ...spatial] = x.dims;
  return withDims(x.dataType, [
    batch,
    times(channels, size ** 2),
    ...spatial.map((dim) => quotient([dim], size)),
  ]);
};
