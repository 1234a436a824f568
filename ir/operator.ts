/**
 * The gather operators with every dialect rule already applied: effective shapes (DirectML's leading ones
 * removed), a non-negative axis. One access map per operator; everything later derives from the map.
 */
import {
  gatherOver,
  readData,
  type AccessMap,
  type NegativeIndex,
  type OutOfBounds,
  type IndexOperand,
} from "./access.js";
import { coordsAlong, dimsFrom, indexOperand } from "./index-operand.js";
import { constant, dim, index, type Linear } from "./linear.js";
import { assertNever, at, type DType, type Shape, type TensorType } from "./types.js";

/**
 * Operator of a gather or scatter, independent of the framework, with the input shapes. `mapped`: an operator
 * of any other kind, given by its access map.
 */
export type Operator =
  | { readonly op: "gather"; readonly axis: number; readonly data: Shape; readonly indices: Shape }
  | { readonly op: "gather_elements"; readonly axis: number; readonly data: Shape; readonly indices: Shape }
  | { readonly op: "gather_nd"; readonly batchDims: number; readonly data: Shape; readonly indices: Shape }
  /**
   * Any other operator, given by its access map: with windows, several index inputs, or views. `inputs`:
   * shapes of the data, then of the other inputs.
   */
  | {
      readonly op: "mapped";
      readonly map: AccessMap;
      readonly inputs: readonly Shape[];
      /**
       * Dims of the output of a scatter that an index names, and that the domain has too: profiles pin the
       * tile along them.
       */
      readonly sharedDims?: readonly number[];
      /** Shape of the output of a scatter. Absent of a gather, whose output is its domain. */
      readonly output?: Shape;
      /**
       * Element types of the inputs, where they are not those of the tensors: bytes that hold packed
       * elements, bool that counts as 0 and 1.
       */
      readonly types?: readonly DType[];
      /**
       * Rows of a page, where it gathers rows through one table of pages: of the data, by tokens, by the
       * table.
       */
      readonly rowsOfPage?: number;
    };

/**
 * Returns the effective shapes of the inputs, data first. Leading dims that a dialect ignores are omitted.
 */
export const inputShapes = (operator: Operator): readonly Shape[] =>
  operator.op === "mapped" ? operator.inputs : [operator.data, operator.indices];

/**
 * Returns the shape and element type with which an operator accesses a tensor. The shape omits leading dims
 * that the dialect ignores; the element type may differ from the tensor's. `k`: position of the tensor among
 * inputs and output, from 0.
 */
export const effectiveType = (operator: Operator, { dtype }: TensorType, k: number): TensorType => ({
  dtype: (operator.op === "mapped" ? operator.types?.[k] : undefined) ?? dtype,
  shape: at([...inputShapes(operator), outputShape(operator)], k),
});

/**
 * Returns the output shape of an operator. `gather` with axis a: data[:a] + indices + data[a+1:].
 * `gather_elements`: indices. `gather_nd` with b batch dims and K coordinates per index: indices[:-1] +
 * data[b+K:]. `mapped`: the field `output`, by default the map's domain.
 */
export function outputShape(operator: Operator): Shape {
  if (operator.op === "mapped") return operator.output ?? operator.map.domain;
  const { data, indices } = operator;
  switch (operator.op) {
    case "gather":
      return [...data.slice(0, operator.axis), ...indices, ...data.slice(operator.axis + 1)];
    case "gather_elements":
      return indices;
    case "gather_nd":
      return [...indices.slice(0, -1), ...data.slice(operator.batchDims + at(indices, indices.length - 1))];
    default:
      return assertNever(operator);
  }
}

/**
 * Returns a `mapped` operator that reads the same elements as `operator`. `negative`, `outOfRange`: policies
 * for index values; an operator that is already `mapped` keeps its own policies. `types`: element types with
 * which the inputs are read, instead of the tensors' types.
 */
export const readAs = (
  operator: Operator,
  negative: NegativeIndex,
  outOfRange: OutOfBounds,
  types: readonly DType[],
): Operator => ({
  op: "mapped",
  map: accessMap(operator, negative, outOfRange),
  inputs: inputShapes(operator),
  types,
});

/**
 * Returns the shared dims of an operator: gather dims of the data that, under the same number, are also
 * output dims. An example is the axis of `gather_elements`.
 */
export function sharedDimsOf(operator: Operator): readonly number[] {
  switch (operator.op) {
    case "gather":
    case "gather_nd":
      return [];
    case "mapped":
      return operator.sharedDims ?? [];
    case "gather_elements":
      return [operator.axis];
    default:
      return assertNever(operator);
  }
}

/**
 * Returns the access map of an operator, in which input 0 is the data and input 1 the indices. `negative`,
 * `outOfRange`: policies of the index operands; a `mapped` operator ignores them.
 */
export function accessMap(operator: Operator, negative: NegativeIndex, outOfRange: OutOfBounds): AccessMap {
  if (operator.op === "mapped") return operator.map;
  const { data } = operator;
  const rank = operator.indices.length;
  const picked = (extent: number, coords: readonly Linear[]): IndexOperand =>
    indexOperand({ negative, oob: outOfRange }, 1, coords, extent);
  const mapped = (indices: readonly IndexOperand[], coords: readonly Linear[]): AccessMap =>
    gatherOver(outputShape(operator), 2, { indices, ...readData(coords) });
  switch (operator.op) {
    case "gather": {
      const { axis } = operator;
      return mapped([picked(at(data, axis), dimsFrom(axis, rank))], coordsAlong(data, axis, rank));
    }
    case "gather_elements": {
      const { axis } = operator;
      const coords = data.map((_, k) => (k === axis ? index(0) : dim(k)));
      return mapped([picked(at(data, axis), dimsFrom(0, rank))], coords);
    }
    case "gather_nd": {
      const batch = operator.batchDims;
      const tuple = data.slice(batch, batch + at(operator.indices, rank - 1));
      const slice = data.slice(batch + tuple.length);
      return mapped(
        tuple.map((extent, k) => picked(extent, [...dimsFrom(0, rank - 1), constant(k)])),
        [...dimsFrom(0, batch), ...tuple.map((_, k) => index(k)), ...dimsFrom(rank - 1, slice.length)],
      );
    }
    default:
      return assertNever(operator);
  }
}
