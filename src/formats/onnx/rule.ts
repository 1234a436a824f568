/** Inputs and results of shape rules, and functions for writing rules. */
import { elementCount, type DType } from "../../../ir/index.js";
import { dataTypeCode } from "./data-type.js";
import type { Dim, OnnxNode } from "./model.js";
import { constantElements, isStatic, maxFollowed, type TrackedValue } from "./value.js";

/**
 * Input of a shape rule: an ONNX node, the tracked values (inferred type, dims and elements) of the inputs,
 * and the opset.
 */
export interface RuleInput {
  readonly node: OnnxNode;
  readonly inputs: readonly (TrackedValue | undefined)[];
  readonly opset: number;
}

/**
 * Function that infers the tracked values (data type, shape, known elements) of a node's outputs. A function
 * for one output may return a single value.
 */
export type ShapeRule = (input: RuleInput) => TrackedValue | readonly TrackedValue[];

/**
 * Function that infers the element type of an output, as an ONNX code (TensorProto.DataType); undefined if
 * the type is unknown.
 */
export type TypeRule = (input: RuleInput) => number | undefined;

/** Function that infers the shape of an output; undefined if the rank is unknown. An unknown extent is "". */
export type DimsRule = (input: RuleInput) => readonly Dim[] | undefined;

/** Combines a rule for the element type and a rule for the shape of an output into a shape rule. */
export const tensor =
  (type: TypeRule, dims: DimsRule): ShapeRule =>
  (input) =>
    withDims(type(input), dims(input));

/** Combines shape rules, one for each output, into the shape rule of an operator with several outputs. */
export const outputs =
  (...rules: readonly ShapeRule[]): ShapeRule =>
  (input) =>
    rules.flatMap((rule) => rule(input));

/**
 * Returns the shape rule of an output that has the shape of input `k`. `type` gives the element type, by
 * default the type of input `k`.
 */
export const like = (k = 0, type: TypeRule = typeOf(k)): ShapeRule => tensor(type, dimsOf(k));

/** Returns a type rule that gives an output the element type of input `k`. */
export const typeOf =
  (k: number): TypeRule =>
  ({ inputs }) =>
    inputs[k]?.dataType;

/** Returns a rule that gives an output the shape of input `k`. */
export const dimsOf =
  (k: number): DimsRule =>
  ({ inputs }) =>
    inputs[k]?.dims;

/** Returns a type rule that gives an output the element type `dtype`, whatever the inputs are. */
export const always =
  (dtype: DType): TypeRule =>
  () =>
    dataTypeCode(dtype);

/**
 * Returns a type rule that reads the element type (an ONNX type code) from the integer attribute `name`. If
 * the attribute is absent or 0, the rule `otherwise` gives the type.
 */
export const typeNamed =
  (name: string, otherwise: TypeRule = () => undefined): TypeRule =>
  (input) => {
    const code = int(input.node, name) ?? 0;
    return code === 0 ? otherwise(input) : code;
  };

/** Tracked value about which nothing is known: no data type, dims or elements. */
export const unknown: TrackedValue = {};

/**
 * Returns a tracked value (inferred facts about a tensor) with only a data type. Returns a value without
 * facts if the type is undefined.
 */
export const typed = (type: number | undefined): TrackedValue =>
  type === undefined ? unknown : { dataType: type };

/**
 * Returns a tracked value (inferred facts about a tensor) with a data type and dims. An undefined argument
 * means an unknown type or unknown dims.
 */
export const withDims = (type: number | undefined, dims: readonly Dim[] | undefined): TrackedValue =>
  dims === undefined ? typed(type) : { ...typed(type), dims };

/**
 * Returns a tracked value (inferred facts about a tensor) with known elements added. The elements are left
 * out if the number of elements exceeds `maxFollowed` or does not fit the dims.
 */
export function withElements(value: TrackedValue, elements: TrackedValue["elements"]): TrackedValue {
  if (elements === undefined || elements.length > maxFollowed) return value;
  if (value.dims === undefined || !isStatic(value.dims)) return value;
  return elementCount(value.dims) === elements.length ? { ...value, elements } : value;
}

/** Returns an integer attribute of a node; undefined if the attribute is absent or of another kind. */
export function int(node: OnnxNode, name: string): number | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "int" ? Number(attribute.value) : undefined;
}

/**
 * Returns a list-of-integers attribute of a node; undefined if the attribute is absent or of another kind.
 */
export function ints(node: OnnxNode, name: string): readonly number[] | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "ints" ? attribute.values.map(Number) : undefined;
}

/** Returns a string attribute of a node; undefined if the attribute is absent or of another kind. */
export function stringAttribute(node: OnnxNode, name: string): string | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "string" ? attribute.values[0] : undefined;
}

/**
 * Returns the elements of input `k` of a node as numbers. Returns an empty list if the input is omitted, and
 * undefined if an element is unknown.
 */
export function constantInts({ node, inputs }: RuleInput, k: number): readonly number[] | undefined {
  if ((node.inputs[k] ?? "") === "") return [];
  const elements = constantElements(inputs[k]);
  return elements?.every((element) => element !== undefined) === true ? elements.map(Number) : undefined;
}

/**
 * Returns the axes of a node as given in the model: from an attribute before opset `since`, and from input 1
 * in later opsets. Returns an empty list if no axes are given; undefined if the axes are not constant.
 */
export const givenAxes = (input: RuleInput, since: number): readonly number[] | undefined =>
  input.opset < since ? (ints(input.node, "axes") ?? []) : constantInts(input, 1);

/**
 * Converts axes to numbers from 0 to `rank - 1`; a negative axis counts from the end. Returns undefined if an
 * axis is out of range.
 */
export function normalized(given: readonly number[], rank: number): readonly number[] | undefined {
  const axes = given.map((axis) => (axis < 0 ? axis + rank : axis));
  return axes.every((axis) => axis >= 0 && axis < rank) ? axes : undefined;
}

/**
 * Returns the `axis` attribute of a node as a number from 0 to `rank - 1`. `otherwise`: axis if the attribute
 * is absent. Returns undefined if the axis is out of range.
 */
export const axisOf = (node: OnnxNode, otherwise: number, rank: number): number | undefined =>
  normalized([int(node, "axis") ?? otherwise], rank)?.[0];

/** Returns a shape of unknown extents ("") with as many dims as `dims`. */
export const unknownDims = (dims: readonly unknown[]): readonly Dim[] => dims.map(() => "");

/**
 * Returns a shape of `count` unknown extents (""). Returns undefined if `count` is not an integer from 0 to
 * `maxFollowed`.
 */
export const dynamicRank = (count: number): readonly Dim[] | undefined =>
  Number.isSafeInteger(count) && count >= 0 && count <= maxFollowed
    ? Array.from({ length: count }, () => "")
    : undefined;

/** Converts the elements of a shape tensor to dims; an unknown element becomes an unknown extent (""). */
export const dimsFrom = (extents: readonly (bigint | undefined)[]): readonly Dim[] =>
  extents.map((extent) => (extent === undefined ? "" : Number(extent)));

/**
 * Returns the product of `dims` divided by `by`. The result is a number, or the name of a symbolic dim if the
 * numbers cancel out. Returns "" if the quotient is unknown or not an integer.
 */
export function quotient(dims: readonly Dim[], by = 1): Dim {
  const symbols = dims.filter((dim) => typeof dim === "string");
  const count = elementCount(dims.filter((dim) => typeof dim === "number"));
  const [symbol] = symbols;
  if (symbol === undefined || (count === 0 && by !== 0))
    return Number.isSafeInteger(count / by) ? count / by : "";
  return symbols.length === 1 && count === by ? symbol : "";
}

/**
 * Returns an extent multiplied by a number. The product of a symbolic extent is unknown ("") if the number is
 * neither 0 nor 1.
 */
export const times = (dim: Dim, by: number): Dim =>
  typeof dim === "number" ? dim * by : by === 1 ? dim : by === 0 ? 0 : "";

/** Returns the sum of extents; "" (unknown) if an extent is not a number. */
export const sum = (dims: readonly Dim[]): Dim =>
  isStatic(dims) ? dims.reduce((total, dim) => total + dim, 0) : "";

/**
 * Returns the shape to which ONNX broadcasts the given shapes (multidirectional broadcasting). Returns
 * undefined if a shape is unknown.
 */
export function broadcast(shapes: readonly (readonly Dim[] | undefined)[]): readonly Dim[] | undefined {
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

/**
 * Returns the extent of two dims that are broadcast. Two symbols have the same extent only if they share a
 * name. A number other than 1 is the extent, or else the model is wrong.
 */
function broadcastDim(a: Dim, b: Dim): Dim {
  if (a === b || b === 1) return a;
  if (a === 1) return b;
  if (typeof a === "number") return a;
  return typeof b === "number" ? b : "";
}

/**
 * Returns the coordinates of each element of a tensor with the given dims, in row-major order. Returns
 * undefined if an extent is unknown or the tensor has more than `maxFollowed` elements.
 */
export function positionsOver(dims: readonly Dim[]): readonly (readonly number[])[] | undefined {
  if (!isStatic(dims)) return undefined;
  const count = elementCount(dims);
  if (count > maxFollowed) return undefined;
  return Array.from({ length: count }, (_, flat) => {
    let rest = flat;
    const position = dims.map(() => 0);
    for (let k = dims.length - 1; k >= 0; k--) {
      const extent = dims[k] ?? 1;
      position[k] = rest % extent;
      rest = Math.floor(rest / extent);
    }
    return position;
  });
}

/**
 * Returns the elements of a tensor in row-major order; `at` computes an element from the coordinates. Returns
 * undefined if an extent is unknown or the tensor has more than `maxFollowed` elements.
 */
export const elementsAt = (
  dims: readonly Dim[],
  at: (position: readonly number[]) => bigint | undefined,
): TrackedValue["elements"] => positionsOver(dims)?.map(at);

/**
 * Returns the row-major index (0-based) of the element at the given coordinates of a tensor with the given
 * dims.
 */
export const flatOf = (dims: readonly Dim[], position: readonly number[]): number =>
  dims.reduce<number>((flat, dim, k) => flat * Number(dim) + (position[k] ?? 0), 0);

/**
 * Returns the tracked value (inferred facts) of the output of an operator that rearranges the elements of
 * `x`. The output has the dims `dims`. `from` maps output coordinates to coordinates in `x`.
 */
export function shifted(
  x: TrackedValue | undefined,
  dims: readonly Dim[],
  from: (position: readonly number[]) => readonly number[],
): TrackedValue {
  const value = withDims(x?.dataType, dims);
  const elements = constantElements(x);
  const inputDims = x?.dims;
  if (elements === undefined || inputDims === undefined) return value;
  return withElements(
    value,
    elementsAt(dims, (position) => elements[flatOf(inputDims, from(position))]),
  );
}
