/**
 * Rules of operators that read by index, or whose outputs are positions. Source: onnx/onnx docs/Operators.md.
 */
import { dataType } from "./data-type.js";
import type { Dim } from "./model.js";
import { coordinateBytes, coordinateRows, maxBytes, positionsIn } from "./positions.js";
import {
  axisOf,
  flatOf,
  int,
  positionsOver,
  shifted,
  stringAttribute,
  unknownDims,
  quotient,
  times,
  typed,
  withDims,
  withElements,
  type DimsRule,
  type RuleInput,
  type ShapeRule,
} from "./rule.js";
import { isStatic, constantElements, constantNumbers } from "./value.js";

/**
 * Infers the type and shape of the output of ONNX Gather, and the elements if the data is small and the
 * inputs are constant.
 */
export const gather: ShapeRule = ({ node, inputs: [data, indices] }) => {
  const axis = axisOf(node, 0, data?.dims?.length ?? 0);
  if (data?.dims === undefined || indices?.dims === undefined || axis === undefined)
    return typed(data?.dataType);
  const [dims, indexDims] = [data.dims, indices.dims];
  const after = axis + indexDims.length;
  const result = [...dims.slice(0, axis), ...indexDims, ...dims.slice(axis + 1)];
  const positions = constantElements(indices);
  if (positions === undefined) return withDims(data.dataType, result);
  const extent = Number(dims[axis]);
  return shifted(data, result, (position) => {
    const given = Number(positions[flatOf(indexDims, position.slice(axis, after))]);
    const place = given < 0 ? given + extent : given;
    // An index out of range makes no element.
    const element = place >= 0 && place < extent ? place : Number.NaN;
    return [...position.slice(0, axis), element, ...position.slice(after)];
  });
};

/**
 * Returns the rule of a scatter, whose output has the type and the shape of its data. The elements are
 * tracked if the data is small and known and the positions are known. `placeOf` gives the data position of an
 * element of the updates.
 */
const scatter =
  (
    placeOf: (input: RuleInput, positions: PositionAt, at: readonly number[]) => readonly number[],
  ): ShapeRule =>
  (input) => {
    const [data, indices, updates] = input.inputs;
    const value = withDims(data?.dataType, data?.dims);
    const [elements, positions] = [data, indices].map(constantElements);
    const [dims, indexDims, from] = [data?.dims, indices?.dims, updates?.dims];
    if (elements === undefined || positions?.includes(undefined) !== false) return value;
    if (dims === undefined || indexDims === undefined || from === undefined) return value;
    if ((stringAttribute(input.node, "reduction") ?? "none") !== "none") return value;
    const written = constantElements(updates);
    const result = [...elements];
    const position: PositionAt = (at) => Number(positions[flatOf(indexDims, at)]);
    const targets = positionsOver(from)?.map((at) =>
      placeOf(input, position, at).map((place, k) => (place < 0 ? place + Number(dims[k]) : place)),
    );
    const isInside = (place: readonly number[]): boolean =>
      place.length === dims.length && place.every((coord, k) => coord >= 0 && coord < Number(dims[k]));
    if (targets?.every(isInside) !== true) return value;
    for (const [k, place] of targets.entries()) result[flatOf(dims, place)] = written?.[k];
    return withElements(value, result);
  };

/** Value of an index tensor at a position. */
type PositionAt = (position: readonly number[]) => number;

/**
 * Infers the type, shape and known elements of the output of ONNX ScatterElements and Scatter (the older
 * name). Type and shape are the type and shape of the data.
 */
export const scatterElements = scatter(({ node, inputs: [data] }, position, at) => {
  const axis = axisOf(node, 0, data?.dims?.length ?? 0);
  return at.map((coord, k) => (k === axis ? position(at) : coord));
});

/**
 * Infers the type, shape and known elements of the output of ONNX ScatterND. Type and shape are the type and
 * shape of the data.
 */
export const scatterNd = scatter(({ inputs: [, indices] }, position, at) => {
  const outer = (indices?.dims?.length ?? 1) - 1;
  const tuple = Array.from({ length: Number(indices?.dims?.at(-1)) }, (_, k) => k);
  const place = at.slice(0, outer);
  return [...tuple.map((k) => position([...place, k])), ...at.slice(outer)];
});

/**
 * Returns the output shape of GatherND: the dims of the indices except the last, then the data dims that an
 * index tuple does not address. Undefined if the shapes or the tuple length are unknown.
 */
export const gatherNdDims: DimsRule = ({ node, inputs: [data, indices] }) => {
  const tuple = indices?.dims?.at(-1);
  if (data?.dims === undefined || indices?.dims === undefined || typeof tuple !== "number") return undefined;
  return [...indices.dims.slice(0, -1), ...data.dims.slice((int(node, "batch_dims") ?? 0) + tuple)];
};

/**
 * Infers the type and shape of the output of GatherBlockQuantized of com.microsoft. The element type is the
 * type of the scales. A byte of u8 data has 8 / `bits` elements along the last dim.
 */
export const gatherBlockQuantized: ShapeRule = ({ node, inputs: [data, indices, scales] }) => {
  const type = scales?.dataType;
  if (data?.dims === undefined || indices?.dims === undefined) return typed(type);
  const given = int(node, "gather_axis") ?? 0;
  const axis = given < 0 ? given + data.dims.length : given;
  const each = data.dataType === dataType.u8 ? 8 / (int(node, "bits") ?? 4) : 1;
  const dims = data.dims.map((dim, k, all) => (k === all.length - 1 ? times(dim, each) : dim));
  return withDims(type, [...dims.slice(0, axis), ...indices.dims, ...dims.slice(axis + 1)]);
};

/**
 * Infers the type and shape of the output of ONNX OneHot: the indices' shape with a dim of extent `depth`
 * inserted at the axis. The element type is the type of input 2.
 */
export const oneHot: ShapeRule = ({ node, inputs: [indices, depth, values] }) => {
  const dims = indices?.dims;
  const axis = axisOf(node, -1, (dims?.length ?? 0) + 1);
  if (dims === undefined || axis === undefined) return typed(values?.dataType);
  const [extent = ""] = constantNumbers(depth) ?? [];
  return withDims(values?.dataType, [...dims.slice(0, axis), extent, ...dims.slice(axis)]);
};

/**
 * Infers the type, shape and known elements of the output of ONNX NonZero, an i64 tensor. The output has one
 * row for each dim and one column for each non-zero element. Elements are inferred only for a constant input.
 */
export const nonZero: ShapeRule = ({ inputs: [x] }) => {
  const dims = x?.dims;
  // Frameworks differ on a scalar.
  if (dims === undefined || dims.length === 0) return withDims(dataType.i64, ["", ""]);
  const positions = positionsIn(x);
  if (positions === undefined || !isStatic(dims)) return withDims(dataType.i64, [dims.length, ""]);
  const value = withDims(dataType.i64, [dims.length, positions.length]);
  if (coordinateBytes(positions, dims) > maxBytes) return value;
  const tensor = coordinateRows(positions, dims);
  const tracked = { ...value, positions: { tensor, copies: 0 } };
  return withElements(tracked, constantElements(tracked));
};

/**
 * Infers the type and shape of the output of ONNX Compress, which selects the positions along an axis where
 * the condition is true. The extent along the axis is "" if the condition is not constant.
 */
export const compress: ShapeRule = ({ node, inputs: [x, condition] }) => {
  const flattened = int(node, "axis") === undefined;
  const dims = flattened ? [quotient(x?.dims ?? [""])] : x?.dims;
  const axis = flattened ? 0 : axisOf(node, 0, dims?.length ?? 0);
  if (dims === undefined || axis === undefined) return typed(x?.dataType);
  const positions = positionsIn(condition);
  const extent = dims[axis];
  const kept =
    positions === undefined || typeof extent !== "number" ? "" : positions.filter((at) => at < extent).length;
  return withDims(
    x?.dataType,
    dims.map((dim, k): Dim => (k === axis ? kept : dim)),
  );
};

/**
 * Infers the types and shapes of the four outputs of ONNX Unique. The number of distinct values is always
 * unknown.
 */
export const unique: ShapeRule = ({ node, inputs: [x] }) => {
  const dims = x?.dims;
  const flattened = int(node, "axis") === undefined;
  const axis = axisOf(node, 0, dims?.length ?? 0);
  const values = flattened
    ? [""]
    : axis === undefined
      ? undefined
      : dims?.map((dim, k) => (k === axis ? "" : dim));
  const length = flattened ? quotient(dims ?? [""]) : axis === undefined ? "" : (dims?.[axis] ?? "");
  const counts = withDims(dataType.i64, [""]);
  return [withDims(x?.dataType, values), counts, withDims(dataType.i64, [length]), counts];
};

/**
 * Returns a shape of unknown extents ("") with as many dims as the first input; undefined if the rank of the
 * first input is unknown.
 */
export const dynamicLikeFirst: DimsRule = ({ inputs: [x] }) =>
  x?.dims === undefined ? undefined : unknownDims(x.dims);
