/** Inputs and results of shape rules, and functions for writing rules. */
import { elementCount, type DType } from "../../../ir/index.js";
import { dataTypeCode } from "./data-type.js";
import type { Dim, OnnxNode } from "./model.js";
import { constantElements, isStatic, maxFollowed, type TrackedValue } from "./value.js";

/** Input of a shape rule: a node, the tracked values of its inputs, and the opset. */
export interface RuleInput {
  readonly node: OnnxNode;
  readonly inputs: readonly (TrackedValue | undefined)[];
  readonly opset: number;
}

/** Rule that gives what is known of the outputs. A single value is that of the first output. */
export type ShapeRule = (input: RuleInput) => TrackedValue | readonly TrackedValue[];

/** Rule for the element type of an output, as TensorProto.DataType; undefined if it is not known. */
export type TypeRule = (input: RuleInput) => number | undefined;

/** Rule for the extents of an output; undefined if its rank is not known. */
export type DimsRule = (input: RuleInput) => readonly Dim[] | undefined;

/** Returns the shape rule of an output from a type rule and an extents rule. */
export const tensor =
  (type: TypeRule, dims: DimsRule): ShapeRule =>
  (input) =>
    withDims(type(input), dims(input));

/** Returns the shape rule of an operator with several outputs, from one rule for each output. */
export const outputs =
  (...rules: readonly ShapeRule[]): ShapeRule =>
  (input) =>
    rules.flatMap((rule) => rule(input));

/**
 * Returns the shape rule of an output with the shape of input `k`, and the type of input `k` unless a type
 * rule is given.
 */
export const like = (k = 0, type: TypeRule = typeOf(k)): ShapeRule => tensor(type, dimsOf(k));

/** Returns the rule for the type of input `k`. */
export const typeOf =
  (k: number): TypeRule =>
  ({ inputs }) =>
    inputs[k]?.dataType;

/** Returns the rule for the extents of input `k`. */
export const dimsOf =
  (k: number): DimsRule =>
  ({ inputs }) =>
    inputs[k]?.dims;

/** Returns the rule of a fixed element type. */
export const always =
  (dtype: DType): TypeRule =>
  () =>
    dataTypeCode(dtype);

/**
 * Returns a rule for the type that an integer attribute names. If the attribute is absent or 0, which names
 * no type, `otherwise` gives the type.
 */
export const typeNamed =
  (name: string, otherwise: TypeRule = () => undefined): TypeRule =>
  (input) => {
    const code = int(input.node, name) ?? 0;
    return code === 0 ? otherwise(input) : code;
  };

/** Tracked value with no known facts. */
export const unknown: TrackedValue = {};

/**
 * Returns a tracked value with a data type and no known shape; with no known facts if the type is undefined.
 */
export const typed = (type: number | undefined): TrackedValue =>
  type === undefined ? unknown : { dataType: type };

/** Returns a tracked value with a data type and extents, each of which may be undefined. */
export const withDims = (type: number | undefined, dims: readonly Dim[] | undefined): TrackedValue =>
  dims === undefined ? typed(type) : { ...typed(type), dims };

/**
 * Returns a value with its elements. The elements are dropped if they are too many to track, or do not fill
 * the shape because the model is wrong.
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
 * Returns the integers of input `k`; an empty list if the input is left out, undefined unless all its
 * elements are known.
 */
export function constantInts({ node, inputs }: RuleInput, k: number): readonly number[] | undefined {
  if ((node.inputs[k] ?? "") === "") return [];
  const elements = constantElements(inputs[k]);
  return elements?.every((element) => element !== undefined) === true ? elements.map(Number) : undefined;
}

/**
 * Returns the axes of a node: an attribute before opset `since`, input 1 from then on. An empty list if there
 * are none, undefined if they are not known.
 */
export const givenAxes = (input: RuleInput, since: number): readonly number[] | undefined =>
  input.opset < since ? (ints(input.node, "axes") ?? []) : constantInts(input, 1);

/**
 * Returns axes counted from 0; a negative axis counts from the end of `rank` dims. Undefined if an axis is
 * out of range.
 */
export function normalized(given: readonly number[], rank: number): readonly number[] | undefined {
  const axes = given.map((axis) => (axis < 0 ? axis + rank : axis));
  return axes.every((axis) => axis >= 0 && axis < rank) ? axes : undefined;
}

/**
 * Returns the `axis` attribute of a node counted from 0 among `rank` dims, or `otherwise` if it is absent.
 * Undefined if the axis is out of range.
 */
export const axisOf = (node: OnnxNode, otherwise: number, rank: number): number | undefined =>
  normalized([int(node, "axis") ?? otherwise], rank)?.[0];

/** Returns unknown extents, as many as `dims` has. */
export const unknownDims = (dims: readonly unknown[]): readonly Dim[] => dims.map(() => "");

/**
 * Returns `count` unknown extents; undefined for a count that is not a non-negative integer or exceeds
 * `maxFollowed`.
 */
export const dynamicRank = (count: number): readonly Dim[] | undefined =>
  Number.isSafeInteger(count) && count >= 0 && count <= maxFollowed
    ? Array.from({ length: count }, () => "")
    : undefined;

/** Returns elements of a shape as dims: a known one as its number, an unknown one as "". */
export const dimsFrom = (extents: readonly (bigint | undefined)[]): readonly Dim[] =>
  extents.map((extent) => (extent === undefined ? "" : Number(extent)));

/**
 * Returns the product of extents divided by `by`, as a number, or as the one symbol if the numbers cancel
 * out. "" if it is not known or not an integer.
 */
export function quotient(dims: readonly Dim[], by = 1): Dim {
  const symbols = dims.filter((dim) => typeof dim === "string");
  const count = elementCount(dims.filter((dim) => typeof dim === "number"));
  const [symbol] = symbols;
  if (symbol === undefined || (count === 0 && by !== 0))
    return Number.isSafeInteger(count / by) ? count / by : "";
  return symbols.length === 1 && count === by ? symbol : "";
}

/** Returns an extent multiplied by a number. A symbol is unchanged by 1, and gives 0 by 0; otherwise "". */
export const times = (dim: Dim, by: number): Dim =>
  typeof dim === "number" ? dim * by : by === 1 ? dim : by === 0 ? 0 : "";

/** Returns the sum of extents; "" if one is not known. */
export const sum = (dims: readonly Dim[]): Dim =>
  isStatic(dims) ? dims.reduce((total, dim) => total + dim, 0) : "";

/** Returns the shape of a multidirectional broadcast; undefined if one of the shapes is unknown. */
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
 * Returns the positions of a tensor in row-major order. Undefined if an extent is not known or the tensor has
 * more than `maxFollowed` elements.
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
 * Returns the elements of a tensor of static shape, each computed from its position. Undefined if an extent
 * is not known or the tensor has more than `maxFollowed` elements.
 */
export const elementsAt = (
  dims: readonly Dim[],
  at: (position: readonly number[]) => bigint | undefined,
): TrackedValue["elements"] => positionsOver(dims)?.map(at);

/** Returns the row-major number of a position. */
export const flatOf = (dims: readonly Dim[], position: readonly number[]): number =>
  dims.reduce<number>((flat, dim, k) => flat * Number(dim) + (position[k] ?? 0), 0);

/**
 * Returns the tracked value of an operator that moves elements of `x`. `from` maps an output position to a
 * position in `x`. The elements are known if those of `x` are.
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
