/** What a shape rule is given and gives, and what rules are written with. */
import { elementCount, type DType } from "../../../ir/index.js";
import { dataTypeCode } from "./data-type.js";
import type { Dim, OnnxNode } from "./model.js";
import { constantElements, isStatic, maxFollowed, type TrackedValue } from "./value.js";

export interface RuleInput {
  readonly node: OnnxNode;
  readonly inputs: readonly (TrackedValue | undefined)[];
  readonly opset: number;
}

/** What is known of the outputs; one value is the first output's. */
export type ShapeRule = (input: RuleInput) => TrackedValue | readonly TrackedValue[];

/** The element type of an output, as TensorProto.DataType. */
export type TypeRule = (input: RuleInput) => number | undefined;

/** The extents of an output; undefined where not even its rank is known. */
export type DimsRule = (input: RuleInput) => readonly Dim[] | undefined;

/** Returns the rule of an output with a type and extents of its own. */
export const tensor =
  (type: TypeRule, dims: DimsRule): ShapeRule =>
  (input) =>
    withDims(type(input), dims(input));

/** Returns the rule of an operator with several outputs, each by its own rule. */
export const outputs =
  (...rules: readonly ShapeRule[]): ShapeRule =>
  (input) =>
    rules.flatMap((rule) => rule(input));

/** Returns the rule of an output with the shape of input `k`, and its type unless another is given. */
export const like = (k = 0, type: TypeRule = typeOf(k)): ShapeRule => tensor(type, dimsOf(k));

/** Returns the type of input `k`. */
export const typeOf =
  (k: number): TypeRule =>
  ({ inputs }) =>
    inputs[k]?.dataType;

/** Returns the extents of input `k`. */
export const dimsOf =
  (k: number): DimsRule =>
  ({ inputs }) =>
    inputs[k]?.dims;

/** Returns a type that is always the same. */
export const always =
  (dtype: DType): TypeRule =>
  () =>
    dataTypeCode(dtype);

/** Returns the type that an attribute names; 0, which names none, counts as absent. */
export const typeNamed =
  (name: string, otherwise: TypeRule = () => undefined): TypeRule =>
  (input) => {
    const code = int(input.node, name) ?? 0;
    return code === 0 ? otherwise(input) : code;
  };

/** A value of which nothing is known. */
export const unknown: TrackedValue = {};

export const typed = (type: number | undefined): TrackedValue =>
  type === undefined ? unknown : { dataType: type };

export const withDims = (type: number | undefined, dims: readonly Dim[] | undefined): TrackedValue =>
  dims === undefined ? typed(type) : { ...typed(type), dims };

/** Elements that are too many to follow, or do not fill the shape (the model is wrong), are let go. */
export function withElements(value: TrackedValue, elements: TrackedValue["elements"]): TrackedValue {
  if (elements === undefined || elements.length > maxFollowed) return value;
  if (value.dims === undefined || !isStatic(value.dims)) return value;
  return elementCount(value.dims) === elements.length ? { ...value, elements } : value;
}

export function int(node: OnnxNode, name: string): number | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "int" ? Number(attribute.value) : undefined;
}

export function ints(node: OnnxNode, name: string): readonly number[] | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "ints" ? attribute.values.map(Number) : undefined;
}

export function stringAttribute(node: OnnxNode, name: string): string | undefined {
  const attribute = node.attributes.get(name);
  return attribute?.kind === "string" ? attribute.values[0] : undefined;
}

/** The elements of input `k` when all of them are known; `[]` for an input that is left out. */
export function constantInts({ node, inputs }: RuleInput, k: number): readonly number[] | undefined {
  if ((node.inputs[k] ?? "") === "") return [];
  const elements = constantElements(inputs[k]);
  return elements?.every((element) => element !== undefined) === true ? elements.map(Number) : undefined;
}

/** Axes as given: an attribute up to the opset before `since`, input 1 from it on. `undefined`: not known; `[]`: none. */
export const givenAxes = (input: RuleInput, since: number): readonly number[] | undefined =>
  input.opset < since ? (ints(input.node, "axes") ?? []) : constantInts(input, 1);

/** Axes from 0 up to `rank`, or undefined when one is outside. */
export function normalized(given: readonly number[], rank: number): readonly number[] | undefined {
  const axes = given.map((axis) => (axis < 0 ? axis + rank : axis));
  return axes.every((axis) => axis >= 0 && axis < rank) ? axes : undefined;
}

/** Returns the axis that an attribute names among `rank` dims, from 0; undefined where it is outside. */
export const axisOf = (node: OnnxNode, otherwise: number, rank: number): number | undefined =>
  normalized([int(node, "axis") ?? otherwise], rank)?.[0];

/** Returns extents of which nothing is known, as many as `dims` has. */
export const unknownDims = (dims: readonly unknown[]): readonly Dim[] => dims.map(() => "");

/** Returns `count` extents of which nothing is known; undefined for more than are followed. */
export const dynamicRank = (count: number): readonly Dim[] | undefined =>
  Number.isSafeInteger(count) && count >= 0 && count <= maxFollowed
    ? Array.from({ length: count }, () => "")
    : undefined;

/** Returns known extents as dims. */
export const dimsFrom = (extents: readonly (bigint | undefined)[]): readonly Dim[] =>
  extents.map((extent) => (extent === undefined ? "" : Number(extent)));

/** Returns the product of extents divided by a number: a symbol where all others cancel out, "" where it is not known. */
export function quotient(dims: readonly Dim[], by = 1): Dim {
  const symbols = dims.filter((dim) => typeof dim === "string");
  const count = elementCount(dims.filter((dim) => typeof dim === "number"));
  const [symbol] = symbols;
  if (symbol === undefined || (count === 0 && by !== 0))
    return Number.isSafeInteger(count / by) ? count / by : "";
  return symbols.length === 1 && count === by ? symbol : "";
}

/** Returns an extent times a number. */
export const times = (dim: Dim, by: number): Dim =>
  typeof dim === "number" ? dim * by : by === 1 ? dim : by === 0 ? 0 : "";

/** Returns the sum of extents. */
export const sum = (dims: readonly Dim[]): Dim =>
  isStatic(dims) ? dims.reduce((total, dim) => total + dim, 0) : "";

/** Multidirectional broadcasting. */
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

/** Two symbols are the same extent only if they share a name; a number other than 1 is the extent, or the model is wrong. */
function broadcastDim(a: Dim, b: Dim): Dim {
  if (a === b || b === 1) return a;
  if (a === 1) return b;
  if (typeof a === "number") return a;
  return typeof b === "number" ? b : "";
}

/** The elements of a small shape, each from its position; undefined for what is too large to follow. */
export function elementsAt(
  dims: readonly Dim[],
  at: (position: readonly number[]) => bigint | undefined,
): TrackedValue["elements"] {
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
    return at(position);
  });
}

/** Row-major. */
export const flatOf = (dims: readonly Dim[], position: readonly number[]): number =>
  dims.reduce<number>((flat, dim, k) => flat * Number(dim) + (position[k] ?? 0), 0);

/** Returns the value of a movement of elements: those of a small `x` that is known are followed. `from`: where an element stands in `x`. */
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
