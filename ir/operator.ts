/**
 * The three gather operators with every dialect rule already applied: effective shapes (DirectML's leading ones
 * removed), a non-negative axis. One access map per operator; everything later derives from the map.
 */
import type { AccessMap, DimAccess, IndexCoord, NegativeIndex } from "./access.js";
import { assertNever, at, type Shape } from "./types.js";

export type Operator =
  | { readonly op: "gather"; readonly axis: number; readonly data: Shape; readonly indices: Shape }
  | { readonly op: "gather_elements"; readonly axis: number; readonly data: Shape; readonly indices: Shape }
  | { readonly op: "gather_nd"; readonly batchDims: number; readonly data: Shape; readonly indices: Shape };

/** gather: data[:a] + indices + data[a+1:]; gather_elements: indices; gather_nd: indices[:-1] + data[b+K:]. */
export function outputShape(operator: Operator): Shape {
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

/** Where each data coordinate comes from: design table "three levels, one idea". */
export function accessMap(operator: Operator, negative: NegativeIndex): AccessMap {
  const outRank = outputShape(operator).length;
  const indexRank = operator.indices.length;
  const direct = (dim: number): DimAccess => ({ kind: "direct", dim });
  const indirect = (coords: readonly IndexCoord[]): DimAccess => ({ kind: "indirect", at: coords, negative });
  const dims = (first: number, count: number): IndexCoord[] =>
    Array.from({ length: count }, (_, k) => ({ kind: "dim", dim: first + k }) as const);

  const result = (k: number): DimAccess => {
    switch (operator.op) {
      case "gather": {
        const { axis } = operator;
        if (k < axis) return direct(k);
        return k === axis ? indirect(dims(axis, indexRank)) : direct(k + indexRank - 1);
      }
      case "gather_elements":
        return k === operator.axis ? indirect(dims(0, indexRank)) : direct(k);
      case "gather_nd": {
        const batch = operator.batchDims;
        const tuple = at(operator.indices, indexRank - 1);
        if (k < batch) return direct(k);
        if (k >= batch + tuple) return direct(indexRank - 1 + k - batch - tuple);
        return indirect([...dims(0, indexRank - 1), { kind: "component", value: k - batch }]);
      }
      default:
        return assertNever(operator);
    }
  };
  return { outRank, results: operator.data.map((_, k) => result(k)) };
}
