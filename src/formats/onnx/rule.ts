/** What a shape rule is given and gives, and what rules are written with. */
import { elementCount } from "../../../ir/index.js";
import type { Dim, OnnxNode } from "./model.js";
import { knownElements, isStatic, maxFollowed, type TrackedValue } from "./value.js";

export interface RuleInput {
  readonly node: OnnxNode;
  readonly inputs: readonly (TrackedValue | undefined)[];
  readonly opset: number;
}

/** What is known of the outputs; one value is the first output's. */
export type ShapeRule = (input: RuleInput) => TrackedValue | readonly TrackedValue[];

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
export function knownInts({ node, inputs }: RuleInput, k: number): readonly number[] | undefined {
  if ((node.inputs[k] ?? "") === "") return [];
  const elements = knownElements(inputs[k]);
  return elements?.every((element) => element !== undefined) === true ? elements.map(Number) : undefined;
}

/** Axes as given: an attribute up to the opset before `since`, input 1 from it on. `undefined`: not known; `[]`: none. */
export const givenAxes = (input: RuleInput, since: number): readonly number[] | undefined =>
  input.opset < since ? (ints(input.node, "axes") ?? []) : knownInts(input, 1);

/** Axes from 0 up to `rank`, or undefined when one is outside. */
export function normalized(given: readonly number[], rank: number): readonly number[] | undefined {
  const axes = given.map((axis) => (axis < 0 ? axis + rank : axis));
  return axes.every((axis) => axis >= 0 && axis < rank) ? axes : undefined;
}

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
