/** Rules of operators that make one element of many along axes. Source: onnx/onnx docs/Operators.md. */
import { elementCount } from "../../../ir/index.js";
import { dataType } from "./data-type.js";
import type { Dim, OnnxNode } from "./model.js";
import {
  axisOf,
  flatOf,
  givenAxes,
  int,
  constantInts,
  normalized,
  unknownDims,
  typed,
  withDims,
  withElements,
  type RuleInput,
  type ShapeRule,
} from "./rule.js";
import { constantElements, isStatic, type TrackedValue } from "./value.js";

const keepsDims = (node: OnnxNode): boolean => (int(node, "keepdims") ?? 1) === 1;

const reducedDims = (dims: readonly Dim[], axes: readonly number[], node: OnnxNode): readonly Dim[] =>
  keepsDims(node)
    ? dims.map((dim, k) => (axes.includes(k) ? 1 : dim))
    : dims.filter((_, k) => !axes.includes(k));

type Combine = (a: bigint, b: bigint) => bigint;

/**
 * Returns the output elements of a reduction of a constant tensor over `axes`. An output element is undefined
 * if one of its terms is unknown, or if it has no terms. Returns undefined if the elements or dims of the
 * tensor are unknown.
 */
function reducedElements(
  x: TrackedValue,
  axes: readonly number[],
  combine: Combine,
): TrackedValue["elements"] {
  const elements = constantElements(x);
  const { dims } = x;
  if (elements === undefined || dims === undefined || !isStatic(dims)) return undefined;
  const kept = dims.filter((_, k) => !axes.includes(k));
  const lists: (bigint | undefined)[][] = Array.from({ length: elementCount(kept) }, () => []);
  for (const [flat, element] of elements.entries()) {
    let rest = flat;
    const place = dims
      .map((dim, k) => {
        const inner = elementCount(dims.slice(k + 1));
        const at = Math.floor(rest / inner);
        rest -= at * inner;
        return axes.includes(k) ? -1 : Math.min(at, dim - 1);
      })
      .filter((at) => at >= 0);
    lists[flatOf(kept, place)]?.push(element);
  }
  return lists.map((list) => {
    if (list.length === 0 || list.includes(undefined)) return undefined;
    return list.flatMap((elements) => elements ?? []).reduce(combine);
  });
}

/**
 * Returns the shape rule of a reduction operator. The axes are an input from opset `since` on, and an
 * attribute before. `combine` reduces two known elements to one; without `combine`, output elements are
 * unknown.
 */
export const reduction =
  (since: number, combine?: Combine): ShapeRule =>
  (input) => {
    const { node, inputs } = input;
    const [x] = inputs;
    const given = givenAxes(input, since);
    if (x?.dims === undefined) return typed(x?.dataType);
    if (given === undefined)
      return keepsDims(node) ? withDims(x.dataType, unknownDims(x.dims)) : typed(x.dataType);
    if (given.length === 0 && int(node, "noop_with_empty_axes") === 1) return withDims(x.dataType, x.dims);
    const axes = given.length === 0 ? x.dims.map((_, k) => k) : normalized(given, x.dims.length);
    if (axes === undefined) return typed(x.dataType);
    const value = withDims(x.dataType, reducedDims(x.dims, axes, node));
    return combine === undefined ? value : withElements(value, reducedElements(x, axes, combine));
  };

/**
 * Infers the type and shape of the output of ONNX ArgMax and ArgMin. The output has the position (i64) of the
 * largest or smallest element along one axis.
 */
export const argument: ShapeRule = ({ node, inputs: [x] }) => {
  const axis = axisOf(node, 0, x?.dims?.length ?? 0);
  if (x?.dims === undefined || axis === undefined) return typed(dataType.i64);
  return withDims(dataType.i64, reducedDims(x.dims, [axis], node));
};

/** Returns how many elements TopK keeps: an attribute before opset 10, an input since. */
const countOf = (input: RuleInput): Dim =>
  (input.opset < 10 ? int(input.node, "k") : constantInts(input, 1)?.[0]) ?? "";

/**
 * Infers the types and shapes of the two outputs of ONNX TopK: the largest or smallest values along an axis,
 * and the i64 positions.
 */
export const topK: ShapeRule = (input) => {
  const { node, inputs } = input;
  const [x] = inputs;
  const axis = axisOf(node, -1, x?.dims?.length ?? 0);
  if (x?.dims === undefined || axis === undefined) return [typed(x?.dataType), typed(dataType.i64)];
  const dims = x.dims.map((dim, k) => (k === axis ? countOf(input) : dim));
  return [withDims(x.dataType, dims), withDims(dataType.i64, dims)];
};
