/**
 * Rules of operators that make a tensor of shapes, counts and attributes. Source: onnx/onnx
 * docs/Operators.md.
 */
import { elementCount, type DType } from "../../../ir/index.js";
import { dataType, dtypeOf } from "./data-type.js";
import type { Dim } from "./model.js";
import { readTensor } from "./read-tensor.js";
import {
  dimsFrom,
  elementsAt,
  int,
  constantInts,
  dynamicRank,
  typed,
  withDims,
  withElements,
  type RuleInput,
  type ShapeRule,
} from "./rule.js";
import { constantElements, isStatic, constantNumbers } from "./value.js";

/**
 * Infers the type, shape and known elements of the output of ONNX Shape: an i64 list of the input's extents.
 * An unknown extent becomes an unknown element.
 */
export const shapeOf: ShapeRule = ({ node, inputs: [x] }) => {
  if (x?.dims === undefined) return typed(dataType.i64);
  const dims = x.dims.slice(int(node, "start") ?? 0, int(node, "end") ?? x.dims.length);
  return withElements(
    withDims(dataType.i64, [dims.length]),
    dims.map((dim) => (typeof dim === "number" ? BigInt(dim) : undefined)),
  );
};

/**
 * Infers the type, shape and value of the output of ONNX Size: an i64 scalar, the number of elements of the
 * input. The value is unknown if an extent is unknown.
 */
export const sizeOf: ShapeRule = ({ inputs: [x] }) => {
  const dims = x?.dims;
  const value = withDims(dataType.i64, []);
  return dims === undefined || !isStatic(dims) ? value : withElements(value, [BigInt(elementCount(dims))]);
};

/**
 * Infers the type, shape and known elements of the output of ONNX ConstantOfShape, a tensor filled with one
 * value. The elements of the input are the extents of the output.
 */
export const constantOfShape: ShapeRule = ({ node, inputs: [shape] }) => {
  const attribute = node.attributes.get("value");
  const type = attribute?.kind === "tensor" ? attribute.tensor.dataType : dataType.f32;
  const [rank] = shape?.dims?.length === 1 ? shape.dims : [];
  const wanted = constantElements(shape);
  const dims =
    wanted === undefined ? (typeof rank === "number" ? dynamicRank(rank) : undefined) : dimsFrom(wanted);
  const value = withDims(type, dims);
  if (dims === undefined || attribute?.kind !== "tensor") return value;
  const { tensor } = attribute;
  const [fill] =
    constantElements({ ...typed(type), dims: [1], constant: () => readTensor(tensor, "value") }) ?? [];
  return withElements(
    value,
    elementsAt(dims, () => fill),
  );
};

/** Types of Range whose numbers are read. Floats are subtracted and divided as f64, as ONNX Runtime does. */
const rangeTypes: readonly (DType | undefined)[] = ["i16", "i32", "i64", "f32", "f64"];

/**
 * Infers the type, shape and known elements of the output of ONNX Range: the numbers from `start` to `limit`
 * in steps of `delta`. The length is inferred if all three inputs are constant.
 */
export const range: ShapeRule = ({ inputs }) => {
  const type = inputs[0]?.dataType;
  const dtype = dtypeOf(type ?? 0);
  const [first, last, by] = inputs.map((input) => constantNumbers(input)?.[0]);
  if (first === undefined || last === undefined || by === undefined || !rangeTypes.includes(dtype))
    return withDims(type, [""]);
  const [start, limit, delta] = inputs.map((input) => constantElements(input)?.[0]);
  const distance = limit !== undefined && start !== undefined ? Number(limit - start) : last - first;
  const count = Math.ceil(distance / by);
  if (!Number.isSafeInteger(count)) return withDims(type, [""]);
  const dims = [Math.max(0, count)];
  if (start === undefined || delta === undefined) return withDims(type, dims);
  return withElements(
    withDims(type, dims),
    elementsAt(dims, ([k = 0]) => start + BigInt(k) * delta),
  );
};

/** Returns the first number of input `k` as an extent. */
const countAt = ({ inputs }: RuleInput, k: number): Dim => constantNumbers(inputs[k])?.[0] ?? "";

/**
 * Returns the output shape of a window function, for example BlackmanWindow: one dim with the size in input
 * 0. An unknown size is "".
 */
export const windowDims = (input: RuleInput): readonly Dim[] => [countAt(input, 0)];

/**
 * Returns the output shape of MelWeightMatrix: the number of bins of a one-sided spectrum, then the number of
 * mel bins. An unknown extent is "".
 */
export const melDims = (input: RuleInput): readonly Dim[] => {
  const length = countAt(input, 1);
  return [typeof length === "number" ? Math.floor(length / 2) + 1 : "", countAt(input, 0)];
};

/**
 * Returns the output shape of DFT: the shape of the signal with the number of bins along the transformed
 * axis, and 2 as last extent. Returns undefined if the signal's dims are unknown. An unknown extent is "".
 */
export const dftDims = (input: RuleInput): readonly Dim[] | undefined => {
  const { node, inputs, opset } = input;
  const [x] = inputs;
  const given = opset < 20 ? [int(node, "axis") ?? 1] : constantInts(input, 2);
  const lengths = constantInts(input, 1);
  if (x?.dims === undefined || given === undefined) return x?.dims?.map(() => "");
  const [axis = -2] = given;
  const place = axis < 0 ? axis + x.dims.length : axis;
  const length = lengths === undefined ? "" : (lengths[0] ?? x.dims[place] ?? "");
  const isHalf = int(node, "onesided") === 1;
  // Runtimes differ on a one-sided spectrum turned back.
  if (isHalf && int(node, "inverse") === 1) return x.dims.map(() => "");
  const bins: Dim = isHalf ? (typeof length === "number" ? Math.floor(length / 2) + 1 : "") : length;
  return x.dims.map((dim, k, all) => (k === place ? bins : k === all.length - 1 ? 2 : dim));
};

/**
 * Returns the output shape of STFT: batch, frames, bins, and 2 (complex numbers). An unknown extent is "".
 */
export const stftDims = (input: RuleInput): readonly Dim[] | undefined => {
  const { node, inputs } = input;
  const [signal, , window] = inputs;
  const [batch = "", length = ""] = signal?.dims ?? [];
  const given = constantInts(input, 3);
  const [size = window?.dims?.[0] ?? ""] = given ?? [];
  const [step] = constantInts(input, 1) ?? [];
  if (given === undefined || typeof size !== "number") return [batch, "", "", 2];
  const isExact = typeof length === "number" && step !== undefined && step > 0 && length >= size;
  const frames = isExact ? Math.floor((length - size) / step) + 1 : "";
  return [batch, frames, int(node, "onesided") === 0 ? size : Math.floor(size / 2) + 1, 2];
};
